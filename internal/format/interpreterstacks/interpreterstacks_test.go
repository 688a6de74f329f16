package interpreterstacks

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "interpreter.txt",
	Match: map[string]format.Confidence{
		"# interpreter stacks of pid 4711, python 3.11.2 in python3.11\nfrom 1763689985000000000\n": format.Sure,
		"# kernel stacks of pid 4711, waiting, from 1000000 ns on\n":                                format.No,
		"f 1 31 /srv/views.py\tmonth_sums\n":                                                        format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		x := &b.Samples
		for i := range x.Len() {
			if x.Lane[i] <= 0 || x.Time[i] <= 0 || x.Value[i] < 0 {
				t.Errorf("sample %d: %d ns at %d of lane %d", i, x.Value[i], x.Time[i], x.Lane[i])
			}
		}
		if err == nil && len(b.Coverage) == 0 {
			t.Errorf("covered %v", b.Coverage)
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, large()) }

// large is a recording of 2,000 stacks of 30 functions.
func large() []byte {
	var w bytes.Buffer
	w.WriteString("# interpreter stacks of pid 1000, python 3.11.2 in python3.11\nfrom 1763689985000000000\n")
	for f := 1; f <= 500; f++ {
		fmt.Fprintf(&w, "f %d %d /srv/shop/views.py\tfunction%d\n", f, f, f)
	}
	at := int64(1763689985000000000)
	for s := 1; s <= 2000; s++ {
		fmt.Fprintf(&w, "s %d", s)
		for f := range 30 {
			fmt.Fprintf(&w, " %d", 1+(s*7+f*13)%500)
		}
		w.WriteString("\n")
		for range 10 {
			at += 5e6
			fmt.Fprintf(&w, "l %d %d 2 %d r %d\n", at, at+1e6, 1000+s%20, s)
		}
	}
	fmt.Fprintf(&w, "until %d\n", at+1e9)
	return w.Bytes()
}
