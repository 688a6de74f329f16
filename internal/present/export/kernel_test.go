package export

import (
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// Stacks of running and waiting threads are profiles of their own, with the mechanism as a label.
func TestKernelStacks(t *testing.T) {
	for part, c := range map[string]struct {
		text, class string
		value       int64
	}{
		"on-cpu": {"# kernel stacks of pid 4711, running, one in 10000000 ns\nfrom 1763689985000000000\nf 1 k asm_exc_page_fault\nf 2 u app\tfill\ns 1 1 2\n" +
			"r 1763689985100000000 4712 1\nr 1763689985200000000 4712 1\nuntil 1763689986000000000\n", "page fault", 20e6},
		"off-cpu": {"# kernel stacks of pid 4711, waiting, from 1000000 ns on\nfrom 1763689985000000000\nf 1 k do_fsync\nf 2 u app\tfill\ns 1 1 2\n" +
			"w 1763689985100000000 2500000 4712 D -1 1\no 4712 1 3 500000\nuntil 1763689986000000000\n", "fsync", 3e6},
	} {
		b := incident.NewBundle()
		a := &format.Artifact{Name: part, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.text)), nil }}
		if err := format.Read(t.Context(), all.Formats, a, b); err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(exported(t, Of(b, Options{}), "pprof", part))
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, s := range p.Sample {
			sum += s.Value[0]
			if got := strings.Join(s.Label["class"], ","); got != c.class || len(s.Location) != 2 {
				t.Errorf("%s: class %q of %d frames", part, got, len(s.Location))
			}
		}
		if sum != c.value {
			t.Errorf("%s: %d ns, want %d", part, sum, c.value)
		}
	}
}
