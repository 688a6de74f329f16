// Record makes the recordings that ship with the project: it builds the labs'
// services, runs them under a known load on loopback ports chosen by the kernel,
// records what the causes and formats read, and writes truth.json beside each
// recording, with what is known from outside.
//
//	go run ./dev/recorder list
//	go run ./dev/recorder one go.lock-contention/sick go.lock-contention/healthy
//	go run ./dev/recorder all
//
// A name that ends in a slash selects all below it. A recording that a busy
// neighbour disturbed, or that does not show its cause, is made again.
// All started programs end with the recorder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/process"
)

const usage = `usage: go run ./dev/recorder [flags] list | one NAME... | all

Makes the recordings that the tests and the demo read. Run it from the root of
the repository. A NAME that ends in / stands for all recordings below it.

`

func main() {
	if len(os.Args) > 1 && os.Args[1] == experiment.GuardCommand { // the guard puts settings of the host back if the recorder is killed
		if err := experiment.Guard(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
			os.Exit(1)
		}
		return
	}
	tries := flag.Int("tries", 4, "how often to make a recording that turns out implausible")
	quiet := flag.Float64("quiet", .12, "the most CPUs that others may use meanwhile")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	chosen, err := chooseRecordings(allRecordings(), flag.Args())
	if err == nil && chosen != nil {
		err = recordAll(ctx, chosen, *tries, *quiet)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// chooseRecordings returns the recordings that the arguments ask for; none after list, which
// prints them.
func chooseRecordings(all []recording, args []string) (chosen []recording, err error) {
	if len(args) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	switch args[0] {
	case "list":
		for _, r := range all {
			fmt.Printf("%-46s %s\n", r.id, r.about)
		}
		return nil, nil
	case "all":
		return all, nil
	case "one":
		for _, name := range args[1:] {
			before := len(chosen)
			for _, r := range all {
				if r.id == name || strings.HasSuffix(name, "/") && strings.HasPrefix(r.id, name) {
					chosen = append(chosen, r)
				}
			}
			if len(chosen) == before {
				return nil, fmt.Errorf("%s: no such recording; see: go run ./dev/recorder list", name)
			}
		}
		if chosen == nil {
			return nil, fmt.Errorf("one: no name given; see: go run ./dev/recorder list")
		}
		return chosen, nil
	}
	return nil, fmt.Errorf("%s: not a command; use list, one or all", args[0])
}

func recordAll(ctx context.Context, chosen []recording, tries int, quiet float64) error {
	if _, err := os.Stat("lab/go1.21.mod"); err != nil {
		return fmt.Errorf("not in the root of the repository: %w", err)
	}
	bins, err := os.MkdirTemp("", "record-bin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bins)
	b := &builder{dir: bins, done: map[string]string{}}
	for i, r := range chosen {
		prefix := fmt.Sprintf("[%d/%d] %s", i+1, len(chosen), r.id)
		switch err := recordOne(ctx, b, r, tries, quiet, prefix); {
		case errors.Is(err, process.ErrNoQuota), errors.Is(err, process.ErrNoLimit), errors.Is(err, errNoSwap):
			fmt.Fprintf(os.Stderr, "%s: left out: %v\n", prefix, err)
		case err != nil:
			return fmt.Errorf("%s: %w", r.id, err)
		}
	}
	return nil
}

// limit is the longest time of a recording.
const limit = 3 * time.Minute

// awaitQuiet waits until the host has been quiet for a second, at most half a
// minute: the recording itself shows whether that sufficed.
func awaitQuiet(ctx context.Context, quiet float64) {
	for range 30 {
		before, stolenBefore := lab.HostBusySeconds()
		if sleepContext(ctx, time.Second) != nil {
			return
		}
		if after, stolen := lab.HostBusySeconds(); after-before+stolen-stolenBefore < quiet {
			return
		}
	}
}

func recordOne(ctx context.Context, b *builder, r recording, tries int, quiet float64, prefix string) error {
	for try := 1; ; try++ {
		tmp, err := os.MkdirTemp("", "record-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		bounded, cancel := context.WithTimeout(ctx, limit)
		if r.program != "" && r.capture == 0 {
			err = b.buildAll(bounded, r)
		}
		if err != nil {
			cancel()
			return err
		}
		awaitQuiet(bounded, quiet)
		begin := time.Now()
		say := func(what string) {
			fmt.Fprintf(os.Stderr, "%s: %s (%.0f s)\n", prefix, what, time.Since(begin).Seconds())
		}
		var t *truth
		switch {
		case r.jvm != nil:
			t, err = recordJVM(bounded, b, r, tmp, say)
		case r.native != nil:
			t, err = recordNative(bounded, r, tmp, say)
		case r.redis != nil:
			t, err = recordRedis(bounded, r, tmp, say)
		case r.capture > 0:
			t, err = recordCapture(bounded, b, r, tmp, say)
		default:
			t, err = recordService(bounded, b, r, tmp, say)
		}
		cancel()
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", prefix, t.formatSummary())
		err = checkPlausible(r, t, quiet)
		if err == nil {
			return keepRecording(r, t, tmp)
		}
		if try == tries {
			return fmt.Errorf("%w (%d times; nothing kept)", err, tries)
		}
		fmt.Fprintf(os.Stderr, "%s: %v; once more\n", prefix, err)
	}
}
