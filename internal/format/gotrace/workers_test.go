package gotrace

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gotrace/wire/wiretest"
)

// TestSameByWorkers reads traces whole, cut short and damaged by one goroutine and by several: what comes of
// them is the same, state for state.
func TestSameByWorkers(t *testing.T) {
	files := []string{"testdata/http/go1.22.12-tcpdep-sat.trace.gz", "testdata/http/go1.26.8-httpdep-sat.trace.gz", "testdata/http/go1.21.13-plain-middle.trace.gz"}
	if !testing.Short() {
		files, _ = filepath.Glob("testdata/http/*.gz")
		more, _ := filepath.Glob(corpus + "/*.trace.gz")
		files = append(files, more...)
	}
	for i, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { sameByWorkers(t, decompressed(t, name), i < 4) })
	}
	for seed := range uint64(4) {
		var atLeast time.Duration
		if seed == 0 && !testing.Short() {
			atLeast = 2500 * time.Millisecond // several generations
		}
		data, err := wiretest.Record(seed, atLeast)
		if err != nil {
			t.Skip(err) // go test -trace
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { sameByWorkers(t, data, true) })
	}
}

func sameByWorkers(t *testing.T, data []byte, parts bool) {
	all := map[string][]byte{"whole": data}
	if parts {
		damaged := bytes.Clone(data)
		damaged[len(data)*2/3] ^= 0x55
		all["cut"], all["damaged"] = data[:len(data)*3/4], damaged
	}
	for what, data := range all {
		alone := readBy(1, data)
		for _, workers := range []int{2, 8} {
			if got := readBy(workers, data); got != alone {
				t.Errorf("%s, by %d: %s", what, workers, firstDifference(got, alone))
			}
		}
	}
}

// readBy is all that so many goroutines make of a trace.
func readBy(workers int, data []byte) string {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), Format.Name)
	err := parseBy(context.Background(), formattest.Artifact("trace.out", data), p, workers)
	p.Close()
	var s strings.Builder
	for i := range b.Requests.Len() {
		for x := range b.Requests.Path(i).All {
			fmt.Fprintln(&s, i, x)
		}
		fmt.Fprintln(&s, b.Handlings.Stacks(b.Requests.Handling.At(i)))
	}
	for i := range b.Processors {
		p := &b.Processors[i]
		for lane := range p.Lanes {
			for x := range p.Spans(lane) {
				fmt.Fprintln(&s, lane, x)
			}
		}
	}
	return formattest.Render(b, err) + s.String()
}

// firstDifference is the first line that differs.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, not %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(a), len(b))
}

// TestStopsReading cancels the reading of a trace: whoever decodes it beside has ended when that returns.
func TestStopsReading(t *testing.T) {
	data := decompressed(t, "testdata/http/go1.26.8-httpdep-sat.trace.gz")
	for _, workers := range []int{1, 2} {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), Format.Name)
		if err := parseBy(ctx, formattest.Artifact("trace.out", data), p, workers); err != context.Canceled {
			t.Errorf("by %d: %v", workers, err)
		}
	}
}
