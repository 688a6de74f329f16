package gctrace

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

// pure is a log of n cycles and nothing else.
func pure(n int) []byte {
	var w bytes.Buffer
	for i := range n {
		ms := 7 + 118*i
		fmt.Fprintf(&w, "gc %d @%d.%03ds 18%%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, 78->82->41 MB, 80 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, ms/1000, ms%1000)
	}
	return w.Bytes()
}

// mixed is a service's log with one gc line in every hundred.
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
		a := artifact(c.name, c.log)
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
		// What the frame costs alone.
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

// Scanning must not allocate by the line: a log of 100,000 other lines costs
// what an empty one does.
func TestNoAllocationPerLine(t *testing.T) {
	var p parser
	lines := bytes.Split(mixed(10), []byte("\n"))
	p.line(format.Line{Text: lines[0], Number: 1})
	n := testing.AllocsPerRun(10, func() {
		for i, l := range lines[1:100] {
			p.line(format.Line{Text: l, Number: int64(i + 2)})
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for 99 lines", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(modern))
	f.Add([]byte("gc76(1): 2+1+1390+1 us, 1 -> 3 MB, 16397 (1015746-999349) objects\n"))
	f.Add([]byte("svc-1  | " + modern + "2026-11-20 22:49:44,123 " + modern + "20/Nov/2026:22:49:44 +0100 \"ts\":1795215384.5 " + modern))
	f.Add([]byte("2026-11-20T22:49:44.1Z stderr F " + modern))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := evidence.NewBundle()
		id := p.AddArtifact(evidence.Artifact{Name: "log"})
		b := p.Builder(id, "gctrace")
		err := Format.Parse(context.Background(), artifact("log", data), b)
		b.Close()
		v := &p.Intervals
		if Format.Match(data) == format.Sure && err != nil && len(data) < format.HeadSize && !wrapped(data) {
			t.Fatalf("recognised, then %v", err)
		}
		if err != nil && v.Len() > 0 {
			t.Fatalf("rows and an error: %v", err)
		}
		for i := range v.Len() {
			if v.End[i] < v.Start[i] {
				t.Fatalf("row %d ends at %d before it starts at %d", i, v.End[i], v.Start[i])
			}
			if int(v.Subject[i]) >= len(p.Subjects) {
				t.Fatalf("row %d is about subject %d of %d", i, v.Subject[i], len(p.Subjects))
			}
		}
		p.Align()
	})
}

// wrapped says that the frame takes something off, so that Match would have
// seen other bytes.
func wrapped(data []byte) bool {
	a := artifact("log", data)
	_ = a.Lines(func(format.Line) bool { return false })
	return len(a.Envelopes()) > 0
}
