//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gotrace"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// measureScaling compares reading a trace by one processor and by all, and computes from the time of each generation
// what more processors could gain.
func measureScaling(name string, data []byte, rounds int) error {
	printHeading(fmt.Sprintf("Scaling: %s: %.1f MB", name, float64(len(data))/1e6))
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	whole := func(processors int) (cost, error) {
		runtime.GOMAXPROCS(processors)
		defer runtime.GOMAXPROCS(all)
		return measureCost(func() error { return readArtifact(newArtifact("trace", data), gotrace.Format) })
	}
	var alone, together, faster, dearer, ahead, apart, longest figures
	for range rounds {
		a, err := whole(1)
		if err != nil {
			return err
		}
		b, err := whole(all)
		if err != nil {
			return err
		}
		alone, together = append(alone, a.wall*1000), append(together, b.wall*1000)
		faster, dearer = append(faster, a.wall/b.wall), append(dearer, b.cpu/a.cpu)

		runtime.GOMAXPROCS(1)
		decoding, whole, err := timeGenerations(data)
		runtime.GOMAXPROCS(all)
		if err != nil {
			return err
		}
		ahead = append(ahead, sumSeconds(whole)/(sumSeconds(whole)-sumSeconds(decoding)))
		apart = append(apart, sumSeconds(whole)/computeMakespan(whole, 8))
		longest = append(longest, slices.Max(whole).Seconds()/sumSeconds(whole))
		if len(longest) == 1 {
			printRow("generations", fmt.Sprint(len(whole)), "", true)
		}
	}
	printRow("by one processor", alone.formatMedian("%.0f")+" ms", "", true)
	printRow(fmt.Sprintf("by %d", all), together.formatMedian("%.0f")+" ms", "", true)
	printRow("  times as fast", faster.formatMedian("%.2f"), "", true)
	printRow("  its CPU time by that of one", dearer.formatMedian("%.2f"), "", true)
	printRow("computed: all but interpreting beside", ahead.formatMedian("%.2f")+" ×", "", true)
	printRow("computed: 8, each generation alone", apart.formatMedian("%.2f")+" ×", "", true)
	printRow("  longest generation of all", longest.formatMedian("%.2f"), "", true)
	return nil
}

// timeGenerations returns how long one processor decodes each generation of a trace, and how long it takes for it in all.
func timeGenerations(data []byte) (decoding, whole []time.Duration, err error) {
	d := &pauses{r: bytes.NewReader(data)}
	if decoding, err = d.collectPauses(func() error { return decodeAll(d) }); err != nil {
		return nil, nil, err
	}
	w := new(pauses)
	a := &format.Artifact{Name: "trace", Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		*w = pauses{r: bytes.NewReader(data)} // its first bytes show what it is
		return io.NopCloser(w), nil
	}}
	if whole, err = w.collectPauses(func() error { return readArtifact(a, gotrace.Format) }); err != nil {
		return nil, nil, err
	}
	return decoding, whole, nil
}

// pauses is a stream that records the pauses between reads. One processor reads a generation to its end before it
// decodes it: the pauses are the decoding times of generations.
type pauses struct {
	r     io.Reader
	left  time.Time
	spent []time.Duration
}

// leastPause is shorter than the decoding of any generation, and longer than pauses between two reads of one.
const leastPause = 2 * time.Millisecond

func (p *pauses) Read(to []byte) (int, error) {
	p.notePause()
	n, err := p.r.Read(to)
	p.left = time.Now()
	return n, err
}

func (p *pauses) notePause() {
	if d := time.Since(p.left); !p.left.IsZero() && d >= leastPause {
		p.spent = append(p.spent, d)
	}
}

func (p *pauses) collectPauses(f func() error) ([]time.Duration, error) {
	err := f()
	p.notePause()
	return p.spent, err
}

func decodeAll(in io.Reader) error {
	r, err := wire.NewReader(in)
	b := wire.NewBatch(wire.Few)
	for err == nil {
		err = r.Read(b)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// computeMakespan returns how long that many processors take if each takes the next task in turn, in s.
func computeMakespan(tasks []time.Duration, processors int) float64 {
	busy := make([]time.Duration, processors)
	for _, d := range tasks {
		slices.Sort(busy)
		busy[0] += d
	}
	return slices.Max(busy).Seconds()
}

func sumSeconds(all []time.Duration) (s float64) {
	for _, d := range all {
		s += d.Seconds()
	}
	return s
}
