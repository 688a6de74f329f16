package gctrace

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// pure returns a log of n cycles alone.
func pure(n int) []byte {
	var w bytes.Buffer
	for i := range n {
		ms := 7 + 118*i
		fmt.Fprintf(&w, "gc %d @%d.%03ds 18%%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, 78->82->41 MB, 80 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, ms/1000, ms%1000)
	}
	return w.Bytes()
}

// mixed returns a service's log with one gc line in every hundred.
func mixed(n int) []byte {
	var w bytes.Buffer
	for i, gc := range bytes.SplitAfter(pure(n), []byte("\n")) {
		w.Write(gc)
		for k := range 99 {
			fmt.Fprintf(&w, "2026/11/20 22:%02d:%02d GET /api/v1/items/%d 200 from 10.0.0.%d in 1.%03dms\n", i/600%60, i/10%60, 1000*i+k, k, 7*k)
		}
	}
	return w.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		log  []byte
	}{{"pure", pure(100_000)}, {"mixed", mixed(1000)}} {
		a := formattest.Artifact(c.name, c.log)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			b.ReportAllocs()
			for b.Loop() {
				bundle := evidence.NewBundle()
				if err := format.Read(context.Background(), []format.Format{Format}, a, bundle); err != nil {
					b.Fatal(err)
				}
			}
		})
		// The frame alone.
		b.Run(c.name+"/lines", func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			for b.Loop() {
				if err := a.Lines(func(format.Line) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Scanning must not allocate per line: a log of 100,000 other lines costs
// as much as an empty one.
func TestNoAllocationPerLine(t *testing.T) {
	var p parser
	lines := bytes.Split(mixed(10), []byte("\n"))
	var s seen
	read := func(l []byte, number int) {
		s.findCycle(l, 0)
		p.readLine(format.Line{Text: l, Number: int64(number)}, &s)
	}
	read(lines[0], 1)
	n := testing.AllocsPerRun(10, func() {
		for i, l := range lines[1:100] {
			read(l, i+2)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for 99 lines", n)
	}
}
