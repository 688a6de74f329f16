package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

const day = 24 * 60

// ofMinutes is a day in which something happens in each minute, and more of it in some.
func ofMinutes(from, until int, much, else_ float64) *minutes {
	m := &minutes{of: make([]float64, day)}
	for i := range m.of {
		m.of[i] = else_
		if i >= from && i < until {
			m.of[i] = much
		}
	}
	return m
}

func TestWorstOfMinutes(t *testing.T) {
	for _, c := range []struct {
		name        string
		m           *minutes
		from, until int // minutes; until 0: none stands out
	}{
		{"alike all day", ofMinutes(0, 0, 0, 5), 0, 0},
		{"nothing", ofMinutes(0, 0, 0, 0), 0, 0},
		{"a bad minute", ofMinutes(700, 701, 100, 0), 700, 701},
		{"a bad hour", ofMinutes(700, 760, 10, .1), 700, 760},
		{"an hour that is a little worse", ofMinutes(700, 760, 10, 3), 0, 0},
		{"half of the day", ofMinutes(0, 720, 10, 0), 0, 0},
		{"the first quarter of an hour", ofMinutes(0, 15, 10, 0), 0, 15},
		{"the last minutes", ofMinutes(day-5, day, 10, 0), day - 5, day},
	} {
		w, ok := c.m.worstStretch()
		if ok != (c.until > 0) || ok && (w.From != int64(c.from)*minuteNs || w.Until != int64(c.until)*minuteNs) {
			t.Errorf("%s: from minute %d to %d, %v; want %d to %d", c.name, w.From/minuteNs, w.Until/minuteNs, ok, c.from, c.until)
		}
	}
}

// Of a log of requests the slow ones tell, of counters what waits, of a collector its pauses; gaps are gaps.
func TestStretches(t *testing.T) {
	const began, minute = 1_795_423_700e9, int64(minuteNs)
	bundle := func(add func(p *evidence.Builder, s evidence.SubjectID)) *evidence.Bundle {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
		s := p.Subject(evidence.Subject{Name: "shop", PID: 7, Runtime: "go"})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 300*minute})
		add(p, s)
		p.Close()
		return b
	}
	for name, b := range map[string]*evidence.Bundle{
		"requests": bundle(func(p *evidence.Builder, s evidence.SubjectID) {
			for i := range int64(300 * 6) {
				took := int64(5e6)
				if m := i / 6; m >= 100 && m < 110 {
					took = 900e6
				}
				at := began + i*10e9
				p.Request(evidence.Request{Subject: s, Route: p.Name("GET /"), Start: at, End: at + took})
			}
		}),
		"pauses": bundle(func(p *evidence.Builder, s evidence.SubjectID) {
			for i := range int64(100) {
				p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: began + 100*minute + i*6e9, End: began + 100*minute + i*6e9 + 3e9})
			}
		}),
	} {
		got := Stretches(b)
		if len(got) != 1 || got[0].From != began+100*minute || got[0].Until != began+110*minute {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := Stretches(bundle(func(*evidence.Builder, evidence.SubjectID) {})); got != nil {
		t.Errorf("nothing happened: %v", got)
	}
}
