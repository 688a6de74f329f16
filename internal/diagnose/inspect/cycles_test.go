package inspect_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/format"
)

// TestAllocationBesideCycles tells the allocation of a collector beside the program by what was allocated between its cycles, and by the time between
// them alone: what was allocated while one ran is unknown, so its time does not count either.
func TestAllocationBesideCycles(t *testing.T) {
	const every, took, cycles = 2., .5, 12
	log := func(cycle func(n int, at, end float64) string) string {
		var b strings.Builder
		b.WriteString("[0.101s][info][gc] Using The Z Garbage Collector\n")
		for n := range cycles {
			at := 10 + every*float64(n)
			b.WriteString(cycle(n, at, at+took))
		}
		return b.String()
	}
	const mib = 1 << 20
	for name, c := range map[string]struct {
		log  string
		want float64
	}{
		"JDK 17, pauses and marks": {log(func(n int, at, end float64) string {
			return fmt.Sprintf("[%.3fs][info][gc,start] GC(%d) Garbage Collection (Allocation Rate)\n", at, n) +
				fmt.Sprintf("[%.3fs][info][gc,phases] GC(%d) Pause Mark Start 0.010ms\n[%.3fs][info][gc,phases] GC(%d) Concurrent Mark 400.000ms\n", at+.001, n, at+.401, n) +
				fmt.Sprintf("[%.3fs][info][gc] GC(%d) Garbage Collection (Allocation Rate) 700M(70%%)->300M(30%%)\n", end, n)
		}), 400 * mib / (every - took)},
		"generations of JDK 21 and later": {log(func(n int, at, end float64) string {
			return fmt.Sprintf("[%.3fs][info][gc] GC(%d) Minor Collection (Allocation Rate)\n[%.3fs][info][gc,phases] GC(%d) y: Young Generation\n", at, n, at, n) +
				fmt.Sprintf("[%.3fs][info][gc,phases] GC(%d) y: Pause Mark Start 0.010ms\n", at+.001, n) +
				fmt.Sprintf("[%.3fs][info][gc,phases] GC(%d) y: Young Generation 700M(70%%)->300M(30%%) 0.500s\n[%.3fs][info][gc] GC(%d) Minor Collection (Allocation Rate) 700M(70%%)->300M(30%%) 0.500s\n", end, n, end, n)
		}), 400 * mib / (every - took)},
		"their ends alone, which do not say how long one took": {log(func(n int, at, end float64) string {
			return fmt.Sprintf("[%.3fs][info][gc] GC(%d) Garbage Collection (Proactive) 700M(70%%)->300M(30%%)\n", end, n)
		}), 400 * mib / every},
	} {
		b := incident.NewBundle()
		data := []byte(c.log)
		a := &format.Artifact{Name: "gc.log", Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
		if err := incident.Read(t.Context(), a, b); err != nil {
			t.Fatal(err)
		}
		r := inspect.Of(b)
		if r.GC == nil || r.Rates.Alloc == nil || *r.Rates.Alloc < .99*c.want || *r.Rates.Alloc > 1.01*c.want {
			t.Errorf("%s: %+v, want %g bytes/s", name, r.GC, c.want)
		}
	}
}
