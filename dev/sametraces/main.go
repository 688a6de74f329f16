// Sametraces compares the decoder of execution traces with golang.org/x/exp/trace, event by
// event, over many small programs that it records in this process, or over recorded traces.
//
//	go run ./dev/sametraces -n 10000       seeds 0 to 9999 (some minutes)
//	go run ./dev/sametraces -from 41 -n 1 -keep /tmp   one of them, kept as a file
//	go run ./dev/sametraces FILE...        traces of Go 1.22 to 1.27, unpacked
//
// It exits with 1 at the first difference. A program depends on its seed, and its trace also
// depends on the scheduler: a seed that differed once may not differ again.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unstall/unstall/internal/format/gotrace/wire/wiretest"
)

func main() {
	n := flag.Int("n", 1000, "programs to record")
	from := flag.Uint64("from", 0, "seed of the first")
	keep := flag.String("keep", "", "folder to keep their traces in; one that differs is kept always")
	long := flag.Int("long", 500, "of so many, one goes on for 2.5 s and several generations; 0: none")
	flag.Parse()
	if err := compareTraces(*n, *from, *keep, *long, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sametraces:", err)
		os.Exit(1)
	}
}

func compareTraces(n int, from uint64, keep string, long int, files []string) error {
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		events, err := wiretest.Same(data, false)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%s: %d events, all the same\n", name, events)
	}
	if len(files) > 0 {
		return nil
	}
	var events, bytes int
	began := time.Now()
	for i := range n {
		seed := from + uint64(i)
		var atLeast time.Duration
		if long > 0 && i%long == long-1 {
			atLeast = 2500 * time.Millisecond
		}
		data, err := wiretest.Record(seed, atLeast)
		if err != nil {
			return err
		}
		more, err := wiretest.Same(data, false)
		if err != nil || keep != "" {
			if kept := keepFile(keep, seed, data); err != nil {
				return fmt.Errorf("seed %d, kept as %s: %w", seed, kept, err)
			}
		}
		events += more
		bytes += len(data)
		if (i+1)%500 == 0 || i+1 == n {
			fmt.Printf("%d traces, %d events, %.1f MB: all the same (%.0f s)\n", i+1, events, float64(bytes)/1e6, time.Since(began).Seconds())
		}
	}
	return nil
}

// keepFile writes a trace and says where.
func keepFile(folder string, seed uint64, data []byte) string {
	if folder == "" {
		folder = os.TempDir()
	}
	name := filepath.Join(folder, fmt.Sprintf("seed-%d.trace", seed))
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return err.Error()
	}
	return name
}
