package jvm

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Of a log alone, pauses are found by their share of the time, the worst minute or a single length. Just below a share they are left open, and
// below three fifths of it they are ruled out.
func TestPauseEdges(t *testing.T) {
	one := func(took int64) []stop {
		x := full(took, 300)
		x.at = 20_000 * ms
		return []stop{x}
	}
	for _, x := range []struct {
		about  string
		cause  check.Check
		pauses []stop
		want   string
	}{
		{"full collections of 2.1 % of the time", FullGC, every(10_000*ms, full(260*ms, 850)), check.Supported},
		{"full collections of 1.9 %", FullGC, every(10_000*ms, full(200*ms, 850)), check.Inconclusive},
		{"full collections of 1 %", FullGC, every(10_000*ms, full(100*ms, 850)), check.RuledOut},
		{"one full collection of 1.1 s", FullGC, one(1100 * ms), check.Supported},
		{"one full collection of 0.5 s", FullGC, one(500 * ms), check.RuledOut},
		{"young collections of 6 %", YoungGCRate, every(1000*ms, parnew(62*ms)), check.Supported},
		{"young collections of 4 %", YoungGCRate, every(1000*ms, parnew(40*ms)), check.Inconclusive},
		{"young collections of 2 %", YoungGCRate, every(1000*ms, parnew(20*ms)), check.RuledOut},
		{"young collections of 7 %, nine a minute", YoungGCRate, every(6600*ms, parnew(480*ms)), check.RuledOut},
		{"young collections of 7 %, twelve a minute", YoungGCRate, every(5000*ms, parnew(370*ms)), check.Supported},
	} {
		c := service{collector: "ParNew+CMS", cores: 2, pauses: x.pauses, alone: true}.build()
		v := judged(t, c, x.cause)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s", x.about, v.State, x.want, v.Summary)
		}
	}
}

// Where requests show what pauses cost, it is their part of slow time that decides: however long the pauses are, requests that are not slow clear them.
func TestPausesByWhatTheyCost(t *testing.T) {
	for _, x := range []struct {
		about string
		took  int64
		rate  float64
		want  string
	}{
		{"near the knee", 60 * ms, 60, check.Supported},
		{"at a third of the load", 20 * ms, 20, check.RuledOut},
	} {
		c := service{collector: "ParNew+CMS", cores: 2, rate: x.rate, demand: 26 * ms, pauses: every(int64(27_000/x.rate)*ms, parnew(x.took))}.build()
		v := judged(t, c, YoungGCRate)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s", x.about, v.State, x.want, v.Summary)
		}
		c.Forget()
		again := YoungGCRate.Judge(c) // [judged] forgets what it compared
		for _, q := range c.Decision(&again).Steps {
			for _, y := range q.Compared {
				if v.Supported() && y.Name == stoppedYoung.Name {
					t.Errorf("%s: requests decided, and a share of the time is kept: %s", x.about, y.Name)
				}
			}
		}
	}
}

// One pause that costs most of slow time may be chance; a collection that frees much class metadata comes again, as classes are made all the time.
func TestOnePauseForMetadata(t *testing.T) {
	for _, x := range []struct {
		about string
		after float64
		want  string
	}{
		{"classes are made and dropped all the time", 47, check.Supported},
		{"classes of a start", 62, check.Inconclusive},
	} {
		pause := full(500*ms, 300)
		pause.at, pause.trigger, pause.metaBefore, pause.metaAfter = 20_000*ms, "Metadata GC Threshold", 62.8, x.after
		c := service{collector: "ParNew+CMS", cores: 2, rate: 60, demand: 4 * ms, pauses: []stop{pause}}.build()
		c.Ledger = ledger.Build(c.Bundle, ledger.Options{})[0] // without an objective
		v := judged(t, c, MetaspaceGC)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s", x.about, v.State, x.want, v.Summary)
		}
	}
}
