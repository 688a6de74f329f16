package timeline

import (
	"math"
	"testing"
)

// A short account keeps each long step with what it waited for, and gives the short ones around it to a neighbour.
func TestJoinStates(t *testing.T) {
	l := &Life{}
	add := func(dur int64, mechanism, what string) {
		l.States = append(l.States, State{At: l.Latency, Dur: dur, Mechanism: mechanism, What: what})
		l.Latency += dur
	}
	for range 30 {
		add(3000, "pool", "queue")
		add(10, "own", "")
	}
	add(30_000, "dependency", "db")
	add(20, "own", "")
	l.joinStates(5)
	if len(l.States) != 2 {
		t.Fatalf("%+v", l.States)
	}
	for i, want := range []State{{At: 0, Dur: 90_300, Mechanism: "pool", What: "queue", Number: 60}, {At: 90_300, Dur: 30_020, Mechanism: "dependency", What: "db", Number: 2}} {
		if x := l.States[i]; x.At != want.At || x.Dur != want.Dur || x.Mechanism != want.Mechanism || x.What != want.What || x.Number != want.Number {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
	l = &Life{}
	for i := range 20 {
		add(int64(1000+i), []string{"lock", "own"}[i%2], "")
	}
	total := l.Latency
	if l.joinStates(5); len(l.States) > 5 || l.States[len(l.States)-1].At+l.States[len(l.States)-1].Dur != total {
		t.Errorf("%+v", l.States)
	}
}

// The largest value of a chart is known where some values are not.
func TestHighest(t *testing.T) {
	c := &Chart{Curves: []Curve{{V: []float64{1, math.NaN(), 3}}, {V: []float64{2}, Max: []float64{7}}}}
	if got := highestValue(c); got != 7 {
		t.Errorf("%v, want 7", got)
	}
}
