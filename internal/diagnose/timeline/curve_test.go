package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A curve of many points keeps its highest value in every window, its mean, and
// its gaps.
func TestDecimateKeepsTheHighest(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var c Curve
		at := int64(1e18)
		for range 1000 + rng.IntN(60_000) {
			c.T, c.V = append(c.T, at), append(c.V, rng.ExpFloat64())
			at += 1 + rng.Int64N(1e5)
			switch rng.IntN(2000) {
			case 0:
				c.T, c.V = append(c.T, at), append(c.V, math.NaN())
				at += rng.Int64N(1e9)
			case 1:
				at += rng.Int64N(1e9)
			}
		}
		got := new(layout).decimateCurve(c)
		if len(c.T) <= MaxCurve {
			if len(got.T) != len(c.T) {
				t.Errorf("%d points became %d", len(c.T), len(got.T))
			}
			continue
		}
		if len(got.T) > MaxCurve || len(got.V) != len(got.T) || len(got.Max) != len(got.T) {
			t.Fatalf("%d points became %d", len(c.T), len(got.T))
		}
		whole, known := integral(c)
		sum, also := integral(got)
		if math.Abs(whole-sum) > .01*whole || math.Abs(known-also) > .01*known {
			t.Errorf("seed %d: %g over %g became %g over %g", seed, whole, known, sum, also)
		}
		k := 0
		for i := range got.T {
			if i > 0 && got.T[i] <= got.T[i-1] {
				t.Fatalf("point %d is out of order", i)
			}
			end := int64(math.MaxInt64)
			if i+1 < len(got.T) {
				end = got.T[i+1]
			}
			for ; k < len(c.T) && c.T[k] < end; k++ {
				if !math.IsNaN(c.V[k]) && !(got.Max[i] >= c.V[k]) {
					t.Fatalf("seed %d: at %d the curve is %g, the highest shown %g", seed, c.T[k], c.V[k], got.Max[i])
				}
			}
		}
	}
}

// integral is the sum over time, and how long there was a value.
func integral(c Curve) (sum, known float64) {
	for i := 0; i+1 < len(c.T); i++ {
		if d := float64(c.T[i+1] - c.T[i]); !math.IsNaN(c.V[i]) {
			sum += c.V[i] * d
			known += d
		}
	}
	return sum, known
}

// Pieces of one recording are one curve, with nothing between them.
func TestPiecesHaveGaps(t *testing.T) {
	b := evidence.NewBundle()
	const s = int64(1e9)
	for i := range int64(3) {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: []string{"trace-1", "trace-2", "trace-3"}[i], Series: "trace", Formats: []string{"gotrace"}}), "gotrace")
		id := p.Subject(evidence.Subject{Runtime: "go", PID: 7})
		from := 1e18 + i*8*s
		series := evidence.Series{Subject: id, Name: evidence.SeriesGoHeap, Unit: "bytes", Origin: p.Origin(0)}
		for k := range int64(100) {
			series.T, series.V = append(series.T, from+k*s/100), append(series.V, float64(k))
		}
		p.Series(series)
		p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverStates, From: from, Until: from + s})
		p.Close()
	}
	b.Unify()
	b.Align()
	x := Of(b, nil, 0)
	if len(x.Charts) != 1 || len(x.Charts[0].Curves) != 1 {
		t.Fatalf("charts: %+v", x.Charts)
	}
	c := x.Charts[0].Curves[0]
	if c.Source != "trace (3 pieces)" {
		t.Errorf("source %q", c.Source)
	}
	_, known := integral(c)
	if known != 3e9 {
		t.Errorf("known for %g s, want 3", known/1e9)
	}
	var gaps []int64
	for i, v := range c.V {
		if math.IsNaN(v) {
			gaps = append(gaps, c.T[i]-1e18)
		}
	}
	if len(gaps) != 2 || gaps[0] != s || gaps[1] != 9*s {
		t.Errorf("gaps begin at %v", gaps)
	}
}

// A curve of which nothing is known has no points, however many it was made of.
func TestUnknownCurve(t *testing.T) {
	c := Curve{ID: "promoted"}
	for i := range 3 * MaxCurve {
		c.appendPoint(int64(i), math.NaN())
	}
	if got := (&layout{}).decimateCurve(c); len(got.T) != 0 || len(got.V) != 0 {
		t.Errorf("%d points", len(got.T))
	}
}
