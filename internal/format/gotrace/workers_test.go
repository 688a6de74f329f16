package gotrace

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gotrace/wire/wiretest"
)

// TestSameByWorkers reads every trace that is kept, and some of them cut short and damaged, by one goroutine and
// by several: what comes of them is the same, field for field.
func TestSameByWorkers(t *testing.T) {
	if testing.Short() {
		for _, name := range []string{"go1.22.12-tcpdep-sat", "go1.26.8-httpdep-sat", "go1.21.13-plain-middle"} {
			t.Run(name, func(t *testing.T) { sameByWorkers(t, decompressed(t, "testdata/http/"+name+".trace.gz"), true) })
		}
	} else {
		for i, name := range recordedTraces(t) {
			t.Run(strings.ReplaceAll(strings.TrimPrefix(name, "../../"), "/", " "), func(t *testing.T) {
				t.Parallel()
				sameByWorkers(t, content(t, name), i%8 == 0)
			})
		}
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

// content is a trace without what it is compressed or wrapped by.
func content(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		data = decompressed(t, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func sameByWorkers(t *testing.T, data []byte, parts bool) {
	all := map[string][]byte{"whole": data}
	if parts {
		damaged := bytes.Clone(data)
		damaged[len(data)*2/3] ^= 0x55
		all["cut"], all["damaged"] = data[:len(data)*3/4], damaged
	}
	for what, data := range all {
		alone, err := readBy(1, data)
		for _, workers := range []int{2, 8} {
			got, err2 := readBy(workers, data)
			if fmt.Sprint(err) != fmt.Sprint(err2) || !reflect.DeepEqual(got, alone) {
				t.Errorf("%s, by %d: %s", what, workers, firstDifference(told(got, err2), told(alone, err)))
			}
		}
	}
}

// readBy is all that so many goroutines make of a trace.
func readBy(workers int, data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), Format.Name)
	err := parseBy(context.Background(), formattest.Artifact("trace.out", data), p, workers)
	p.Close()
	for i := range b.Facts {
		if f := &b.Facts[i]; math.IsNaN(f.Number) {
			f.Number = math.Inf(1) // which equals itself
		}
	}
	return b, err
}

// told is a bundle in lines.
func told(b *evidence.Bundle, err error) string {
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
