package syscalls

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "syscalls.txt", Render: render,
	Match: map[string]format.Confidence{
		"# system calls of pid 4711 on amd64\n@ 1763689985000000000\n":  format.Sure,
		"-- 1763689985000000000 /proc/4711/stat --\n4711 (gateway) S 1": format.No,
		"@ 1763689985000000000\n":                                       format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		for i := range b.Samples.Len() {
			if b.Samples.Stack[i] == 0 || b.Samples.Lane[i] <= 0 || b.Samples.Time[i] <= 0 {
				t.Errorf("look %d: %v at %d of lane %d", i, b.Samples.Stack[i], b.Samples.Time[i], b.Samples.Lane[i])
			}
		}
		if err == nil && len(b.Coverage) != 1 {
			t.Errorf("covered %v", b.Coverage)
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

// render writes every look, with times since the first.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject pid %d\n", s.PID)
	}
	x := &b.Samples
	for i := range x.Len() {
		fmt.Fprintf(&w, "%v %d @%d:", time.Duration(x.Time[i]-x.Time[0]), x.Lane[i], x.Origin[i].Position())
		for _, f := range b.Stacks.Frames(x.Stack[i]) {
			fmt.Fprintf(&w, " %s;", b.Names.Text(f.Func))
		}
		fmt.Fprintf(&w, " {%s}", b.Stacks.Info(x.Stack[i]))
		w.WriteString("\n")
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s for %v, a look in %v\n", c.Kind, time.Duration(c.Until-c.From), time.Duration(c.Sampled))
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

// large is a recording of 200 threads of which a tenth does something else at each look.
func large() []byte {
	var w bytes.Buffer
	w.WriteString("# system calls of pid 1000 on amd64\nfd 7 /var/lib/journal\n")
	at := int64(1763689985000000000)
	for look := range 400 {
		fmt.Fprintf(&w, "@ %d\n", at)
		at += 100e6
		for tid := 1000; tid < 1200; tid++ {
			switch {
			case look == 0:
				fmt.Fprintf(&w, "name %d worker-%d\n", tid, tid-1000)
				fallthrough
			case (tid+look)%10 == 0:
				fmt.Fprintf(&w, "%d futex_wait_queue 202 0x55d0 0x80 0x2 0x0 0x0 0x0 0x7f00%d 0x7f10\n", tid, tid)
			case (tid+look)%10 == 1:
				fmt.Fprintf(&w, "%d folio_wait_bit_common 74 0x7 0x0 0x0 0x0 0x0 0x0 0x7f00%d 0x7f10\n", tid, tid)
			}
		}
	}
	return w.Bytes()
}
