package golang

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

const mib = 1 << 20

// log makes a case out of a gctrace-like recording: a cycle each period.
type log struct {
	n       int
	period  int64 // ns
	mark    int64 // ns each
	live    func(i int) float64
	goal    func(i int, previousLive float64) float64
	version string
	limit   float64           // container.memory, 0 none
	workers float64           // share of the mark time on processors, 1 is one of two
	number  func(i int) int   // of a cycle; nil: not told
	start   func(i int) int64 // ns; nil: a cycle each period
	marks   func(i int) int64 // ns; nil: mark
	forced  float64
}

func (l log) build() *check.Case {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "gctrace")
	s := p.Subject(evidence.Subject{Runtime: "go", CPUs: 2, Version: l.version})
	previous, end := l.live(0), int64(0)
	for i := range l.n {
		start, mark := 1e9+int64(i)*l.period, l.mark
		if l.start != nil {
			start = l.start(i)
		}
		if l.marks != nil {
			mark = l.marks(i)
		}
		end = start + max(mark, l.period)
		extra := []evidence.Extra{{Key: evidence.Forced, Value: l.forced}}
		if l.number != nil {
			extra = append(extra, evidence.Extra{Key: evidence.CycleNumber, Value: float64(l.number(i))})
		}
		live, goal := l.live(i), l.goal(i, previous)
		previous = live
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: start, End: start + mark, Origin: p.Origin(int64(i + 1)), Extra: append(extra, []evidence.Extra{
			{Key: evidence.HeapLive, Value: live}, {Key: evidence.HeapGoal, Value: goal}, {Key: evidence.HeapAfter, Value: goal}, {Key: evidence.HeapBefore, Value: live + .8*(goal-live)},
			{Key: evidence.MarkTime, Value: float64(mark)}, {Key: evidence.BackgroundTime, Value: l.workers * float64(mark)}, {Key: evidence.Processors, Value: 2}}...)})
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCMark, Start: start, End: start + mark, Origin: p.Origin(int64(i + 1))})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: 1e9, Until: end})
	if l.limit > 0 {
		p.Fact(evidence.Fact{Subject: s, Key: evidence.FactContainerLimit, Number: l.limit})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s}
}

// wobble is a live heap that moves by a quarter.
func wobble(i int) float64 { return mib * (40 + 10*float64(i%5)/4) }

func follows(_ int, previous float64) float64 { return 2 * previous }

func TestLimited(t *testing.T) {
	steady := func(int) float64 { return 41 * mib }
	for _, c := range []struct {
		name        string
		live        func(int) float64
		goal        func(int, float64) float64
		limited, ok bool
	}{
		{"GOGC=100, live heap moves", wobble, follows, false, true},
		{"GOGC=50, live heap moves", wobble, func(_ int, l float64) float64 { return 1.5 * l }, false, true},
		{"GOGC=50, steady", steady, func(_ int, l float64) float64 { return 1.5 * l }, false, true},
		{"limit, live heap moves", wobble, func(i int, _ float64) float64 { return mib * (60 - float64(i%3)) }, true, true},
		{"limit, steady, ratio not of GOGC", steady, func(int, float64) float64 { return 55 * mib }, true, true},
		{"limit below what is live", wobble, func(_ int, l float64) float64 { return .95 * l }, true, true},
		{"no goal known", wobble, func(int, float64) float64 { return 0 }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := collectorOf(log{n: 40, period: 100e6, mark: 20e6, live: c.live, goal: c.goal}.build())
			if limited, ok := g.Limited(); limited != c.limited || ok != c.ok {
				t.Errorf("limited %v, known %v; want %v, %v", limited, ok, c.limited, c.ok)
			}
		})
	}
}

// TestAdvice checks that what is advised exists in the process's Go and fits
// into its container.
func TestAdvice(t *testing.T) {
	sick := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: follows, workers: 1}
	for _, c := range []struct {
		name, version string
		limit         float64
		want, not     string
	}{
		{"new Go", "go1.26.8", 0, "GOMEMLIMIT=", "ballast"},
		{"1.19", "go1.19", 0, "GOMEMLIMIT=", "ballast"},
		{"old Go", "go1.17.2", 0, "ballast", "GOMEMLIMIT="},
		{"unknown Go", "", 0, "ballast", ""},
		{"small container", "go1.26", 300 * mib, "as much as the container allows", ""},
		{"no room at all", "go1.26", 100 * mib, "no room", "GOMEMLIMIT="},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := sick
			l.version, l.limit = c.version, c.limit
			v := GCRate.Judge(l.build())
			if v.State != check.Supported {
				t.Fatalf("%s: %s", v.State, v.Summary)
			}
			var all strings.Builder
			for _, f := range v.Fix {
				all.WriteString(f.Text + " " + f.Setting + " " + f.Code + "\n")
			}
			if !strings.Contains(all.String(), c.want) || c.not != "" && strings.Contains(all.String(), c.not) {
				t.Errorf("advice is %q, want %q and not %q", all.String(), c.want, c.not)
			}
		})
	}
}

func TestAdviceNeverExceedsTheContainer(t *testing.T) {
	for _, limit := range []float64{150, 200, 256, 300, 512, 1024} {
		l := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: follows, workers: 1, version: "go1.26", limit: limit * mib}
		for _, f := range GCRate.Judge(l.build()).Fix {
			_, value, ok := strings.Cut(f.Setting, "GOMEMLIMIT=")
			if !ok {
				continue
			}
			asked, err := goheap.ParseLimit(value)
			if err != nil {
				t.Fatal(err)
			}
			if asked > .95*limit*mib {
				t.Errorf("a container of %.0f MiB is advised GOMEMLIMIT=%s", limit, value)
			}
		}
	}
}

func TestGCRateWithoutRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		log  log
		want string
	}{
		{"often and at length", log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: follows, workers: 1}, check.Supported},
		{"often, little work", log{n: 60, period: 110e6, mark: 10e6, live: wobble, goal: follows, workers: .5}, check.Inconclusive},
		{"rarely", log{n: 20, period: 3e9, mark: 40e6, live: wobble, goal: follows, workers: 1}, check.RuledOut},
		{"by a limit", log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: func(i int, _ float64) float64 { return mib * 60 }, workers: 1}, check.RuledOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := GCRate.Judge(c.log.build()); v.State != c.want {
				t.Errorf("%s (%s), want %s", v.State, v.Summary, c.want)
			}
		})
	}
}

// TestStarvedHostIsNotTheCollector: where a trace shows that the host withheld
// processors, the collector's time on them proves nothing, requests or not.
func TestStarvedHostIsNotTheCollector(t *testing.T) {
	for _, k := range []check.Check{GCRate, MemoryLimitThrash} {
		for _, share := range []float64{0, .3} {
			l := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: follows, workers: 1}
			if k.ID == MemoryLimitThrash.ID {
				l.goal = func(int, float64) float64 { return 60 * mib }
			}
			c := l.build()
			c.Bundle.Facts = append(c.Bundle.Facts,
				evidence.Fact{Subject: c.Subject, Key: evidence.FactRunTime, Number: 1e9},
				evidence.Fact{Subject: c.Subject, Key: evidence.FactLongRuns, Number: share * 1e9})
			want := check.Supported
			if share > 0 {
				want = check.Inconclusive
			}
			if v := k.Judge(c); v.State != want {
				t.Errorf("%s with %.0f %% long runs: %s (%s), want %s", k.ID, 100*share, v.State, v.Summary, want)
			}
		}
	}
}
