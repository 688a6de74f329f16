// Work reads an input of a size and one of twice that size, for every format, and writes down how often each statement of the readers
// ran. Its test builds it with coverage counters and compares both: a reader is linear if no statement runs much more than twice as
// often for twice the input. Counters do not depend on the machine, or on what else runs there.
//
//	go build -cover -covermode=atomic -coverpkg=github.com/unstall/unstall/internal/format/...,github.com/unstall/unstall/internal/base/...,github.com/unstall/unstall/dev/work -o work ./dev/work
//	work FOLDER        two folders of counters in FOLDER for each input, and a line of JSON for each on standard output
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/coverage"

	"github.com/unstall/unstall/dev/bench/inputs"
	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "use: work FOLDER")
		os.Exit(2)
	}
	if err := readAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dev/work:", err)
		os.Exit(1)
	}
}

// twice is what reading an input and one of twice the size took.
type twice struct {
	Name      string    `json:"name"`
	Bytes     [2]int    `json:"bytes"`
	Allocated [2]int64  `json:"allocated"` // bytes
	Counters  [2]string `json:"counters"`  // folders
}

// size is how many bytes the smaller input has at least. It is large against what a reader does once.
const size = 512 << 10

// fewest is how many times the shortest input the smaller one has at least: what comes once in each file, such as the names of methods at
// the end of a stream, does not double.
const fewest = 4

func readAll(folder string) error {
	runtime.GOMAXPROCS(1) // so that no statement runs because another worker had to wait
	list, err := inputs.All(".")
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for n, in := range list {
		x := twice{Name: in.Name}
		least := max(size, fewest*len(in.Bytes(1)))
		for i := range 2 {
			data := in.Bytes((i + 1) * least)
			x.Bytes[i], x.Counters[i] = len(data), filepath.Join(folder, fmt.Sprintf("%d-%d", n, i+1))
			if x.Allocated[i], err = countReading(data, in.Name, x.Counters[i]); err != nil {
				return err
			}
		}
		if err := out.Encode(x); err != nil {
			return err
		}
	}
	return nil
}

// countReading reads data as a user's file and writes the counters of all statements into a folder. It returns how many bytes were
// allocated.
func countReading(data []byte, name, folder string) (allocated int64, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, err
	}
	a := &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
	b := incident.NewBundle()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := coverage.ClearCounters(); err != nil {
		return 0, err
	}
	_ = format.Read(context.Background(), all.Formats, a, b) // of a repeated document the rest may be refused
	runtime.ReadMemStats(&after)
	if err := coverage.WriteCountersDir(folder); err != nil {
		return 0, err
	}
	return int64(after.TotalAlloc - before.TotalAlloc), coverage.WriteMetaDir(folder)
}
