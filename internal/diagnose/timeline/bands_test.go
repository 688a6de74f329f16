package timeline

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// pauses makes a bundle with that many stopped worlds, told of by two artifacts.
func pauses(seed uint64, n int) *evidence.Bundle {
	b := evidence.NewBundle()
	rng := rand.New(rand.NewPCG(seed, 2))
	type pause struct{ from, to int64 }
	var all []pause
	at := int64(1e18)
	for range n {
		at += 1 + rng.Int64N(3e6)
		d := 1 + rng.Int64N(1e5)
		if rng.IntN(1000) == 0 {
			d *= 500
		}
		all = append(all, pause{at, at + d})
		at += d
	}
	for k, name := range []string{"trace.out", "gc.log"} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), name)
		p.Clock().Error = int64(k+1) * 1e3
		s := p.Subject(evidence.Subject{Runtime: "go", PID: 7})
		cause := p.Name("GC mark termination")
		list := all
		if k == 0 {
			list = all[:(n+1)/2] // the trace saw half of it
		}
		for i, x := range list {
			p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: x.from, End: x.to, Cause: cause, Origin: p.Origin(int64(i + 1))})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: list[0].from, Until: list[len(list)-1].to})
		p.Close()
	}
	b.Unify()
	b.Align()
	return b
}

// However many there are, a band keeps the longest, says how many there were, and
// what two artifacts tell is there once.
func TestBandsKeepTheLongest(t *testing.T) {
	for _, n := range []int{1, 2, MaxBand, MaxBand + 1, 100_000} {
		b := pauses(uint64(n), n)
		x := Of(b, ledger.Build(b, ledger.Options{}), 0)
		if len(x.Bands) != 1 {
			t.Fatalf("%d bands", len(x.Bands))
		}
		v := x.Bands[0]
		if len(v.From) > MaxBand || (v.Number != nil) != (n > MaxBand) {
			t.Errorf("%d pauses are %d, joined %v", n, len(v.From), v.Number != nil)
		}
		number, longest, busy, told := 0, int64(0), int64(0), 0
		for i := range v.From {
			if i > 0 && v.From[i] <= v.To[i-1] {
				t.Fatalf("%d meets the one before", i)
			}
			if v.Number == nil {
				number++
				longest = max(longest, v.To[i]-v.From[i])
				continue
			}
			number += int(v.Number[i])
			longest = max(longest, v.Longest[i])
			busy += v.Busy[i]
			if v.Longest[i] > v.Busy[i] || v.Busy[i] > v.To[i]-v.From[i] {
				t.Fatalf("%d: the longest %d of %d in %d", i, v.Longest[i], v.Busy[i], v.To[i]-v.From[i])
			}
			if v.Text[i] == "GC mark termination" {
				told++
			} else if v.Text[i] != "" {
				t.Fatalf("%d: %q", i, v.Text[i])
			}
		}
		if v.Number != nil && told != min(len(v.From), maxText) {
			t.Errorf("%d of %d are told of in words", told, len(v.From))
		}
		var want, all int64
		var stopped spans
		for i := range b.Intervals.Len() {
			want = max(want, b.Intervals.End[i]-b.Intervals.Start[i])
			stopped = append(stopped, span{b.Intervals.Start[i], b.Intervals.End[i]})
		}
		stopped.add(stopped[0]) // merges those that overlap
		for _, x := range stopped {
			all += x.to - x.from
		}
		if v.Number != nil && busy != all {
			t.Errorf("%d pauses last %d, drawn together %d", n, all, busy)
		}
		if number != n || longest != want {
			t.Errorf("%d pauses became %d, the longest %d of %d", n, number, longest, want)
		}
	}
}

func BenchmarkBands(b *testing.B) {
	bundle := pauses(1, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		Of(bundle, nil, 0)
	}
}
