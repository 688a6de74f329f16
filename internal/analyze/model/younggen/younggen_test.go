package younggen

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
)

// collected makes young collections of a program that is known: eden, allocation rate, and
// a pause of a + b · copied.
func collected(n int, eden, alloc, survived, promoted float64) (p []Pause) {
	r := rand.New(rand.NewPCG(1, 3))
	at := 0.
	for range n {
		s := survived * (.6 + .8*r.Float64())
		at += eden / alloc
		took := .004 + 2e-9*(s+promoted)
		if r.IntN(20) == 0 {
			took *= 5 // the host was busy
		}
		p = append(p, Pause{At: at, Took: took, Allocated: eden, Survived: s, Promoted: promoted, Capacity: 1.1 * eden})
		at += took
	}
	return p
}

func TestYoungGenFitsAKnownProgram(t *testing.T) {
	const mib = 1 << 20
	y, err := Fit(collected(200, 500*mib, 1000*mib, 20*mib, 1*mib))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(y.PerByte-2e-9) > .2e-9 || math.Abs(y.Eden-500*mib) > mib || y.Gamma != nil {
		t.Errorf("%+v", y)
	}
	o := y.Predict(2, 1)
	if math.Abs(o.Rate.Value-60/(2*y.Eden/y.Alloc)) > 1e-6 || !(o.Pause.Low <= o.Pause.Value && o.Pause.Value <= o.Pause.High) {
		t.Errorf("twice the eden: %+v", o)
	}
	// What survives does not double, and does not stay.
	if now := y.Predict(1, 1); o.Pause.Low < now.Pause.Value-1e-9 || o.Stopped.Value >= now.Stopped.Value || o.Promotion.Value >= now.Promotion.Value {
		t.Errorf("%+v, now %+v", o, now)
	}
	if less := y.Predict(1, .3); math.Abs(less.Interval.Value-y.Eden/y.Alloc/.3) > 1e-9 {
		t.Errorf("three tenths of the allocation: %+v", less)
	}
}

func TestYoungGenSeesHowSurvivorsGrow(t *testing.T) {
	var p []Pause
	for i := range 100 {
		eden := 100e6 * (1 + float64(i%8))
		p = append(p, Pause{At: float64(i), Took: .01, Allocated: eden, Survived: 1e3 * math.Sqrt(eden)})
	}
	y, err := Fit(p)
	if err != nil {
		t.Fatal(err)
	}
	if y.Gamma == nil || math.Abs(*y.Gamma-.5) > .02 {
		t.Errorf("%+v", y.Gamma)
	}
}

func TestYoungGenNeedsCollections(t *testing.T) {
	if _, err := Fit(collected(5, 1e8, 1e8, 1e6, 0)); !errors.Is(err, ErrFew) {
		t.Error(err)
	}
	if _, err := Fit(nil); !errors.Is(err, ErrFew) {
		t.Error(err)
	}
}

// Two processors, 25 ms of work, and 2.5 ms of stopped world for each request.
func TestKnee(t *testing.T) {
	k := Knee{Processors: 2, Work: .025, Stopped: .0025, Spread: math.NaN(), SpreadFree: .1}
	if r := k.Rate().Value; math.Abs(r-2/.03) > 1e-9 {
		t.Error(r)
	}
	// There the processors are full: stopped for part of the time, at work for the rest.
	if r := k.Rate().Value; math.Abs(r*k.Work-k.Processors*(1-r*k.Stopped)) > 1e-9 {
		t.Error("the processors are not full")
	}
	if f := k.Free(); f.Value != 80 || f.Low != 72 || math.Abs(f.High-88) > 1e-9 {
		t.Error(f)
	}
	if k.With(0).Value != 80 || k.With(2).Value >= k.Rate().Value {
		t.Error(k.With(0), k.With(2))
	}
}

func TestAskOfAYoungGeneration(t *testing.T) {
	const mib = 1 << 20
	y, err := Fit(collected(200, 500*mib, 1000*mib, 20*mib, 1*mib))
	if err != nil {
		t.Fatal(err)
	}
	y.Size, y.Heap, y.OldLive = 600*mib, 1024*mib, 300*mib
	s := Situation{Generation: y}
	w, _ := model.ParseSets([]*model.Model{Model}, []string{"Xmn=2g", "Xmn=800m", "Xmn=1200m rate=80"})
	p, err := s.Ask("shop", w)
	if err == nil || !strings.Contains(err.Error(), "raise -Xmx") || len(p.Rows) != 1 || len(p.Rows[0].Facts) != 1 {
		t.Errorf("%v: %+v", err, p.Rows)
	}
	if s.Flags(2) != "-Xmn1200m -Xms1624m -Xmx1624m" {
		t.Error(s.Flags(2))
	}
	if p, err := s.Ask("shop", nil); err != nil || len(p.Rows) != 3 || p.Rows[0].Text != "Xmn=1200m Xmx=1624m" {
		t.Errorf("nothing asked: %v, %+v", err, p)
	}
}
