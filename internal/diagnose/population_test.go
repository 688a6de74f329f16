package diagnose_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/sightings/sightingstest"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// arrivals are times at which requests are sent, so many a second.
func arrivals(rate float64, over time.Duration, each func(sent int64) sightingstest.Served) (all []sightingstest.Served) {
	r := rand.New(rand.NewPCG(7, 11))
	for at := sightingstest.Epoch; at < sightingstest.Epoch+int64(over); at += int64(1e9 * r.ExpFloat64() / rate) {
		all = append(all, each(at))
	}
	return all
}

// second is a time after the epoch, ns.
func second(s float64) int64 { return sightingstest.Epoch + int64(s*1e9) }

func artifactWindows(at ...float64) (all [][2]int64) {
	for k := 0; k < len(at); k += 2 {
		all = append(all, [2]int64{second(at[k]), second(at[k+1])})
	}
	return all
}

// path makes states one after the other.
func path(s ...evidence.Segment) (p evidence.Path) {
	for _, x := range s {
		p = p.Append(x)
	}
	return p
}

func ran(ns int64) evidence.Segment { return evidence.Segment{Kind: evidence.Running, Dur: ns} }

// handle is a request that the service takes up .2 ms after it was sent.
func handle(sent int64, route string, p evidence.Path) sightingstest.Served {
	q := sightingstest.Served{Sent: sent, Began: sent + 200e3, Route: route, Path: p}
	q.Ended = q.Began
	for s := range p.All {
		q.Ended += s.Dur
	}
	return q
}

// TestPopulation diagnoses services of which traces tell of a few seconds and clients of all of them.
func TestPopulation(t *testing.T) {
	for _, x := range []struct {
		name  string
		world func() sightingstest.World
		opt   diagnose.Options
		first string  // supported first, "": none
		state string  // of the headline
		least float64 // of the slow time that the first accounts for
	}{
		{name: "a job of the process takes all CPUs for 2 s of each 7 s, and one of three windows meets it", first: "service.over-capacity", state: "cause found", least: .5,
			world: func() sightingstest.World {
				return sightingstest.World{Windows: artifactWindows(2, 3, 7.2, 8.2, 17, 18), Requests: arrivals(170, 25*time.Second, func(sent int64) sightingstest.Served {
					if into := (sent - sightingstest.Epoch) % 7e9; into < 2e9 {
						wait := 40e6 + into/50
						return handle(sent, "GET /quote", path(evidence.Segment{Kind: evidence.Runnable, Dur: wait, Held: evidence.Shares{evidence.HeldByBackground: wait}}, ran(1e6)))
					}
					return handle(sent, "GET /quote", path(ran(1e6)))
				})}
			}},
		{name: "four connections behind a channel, and each of three windows counts", first: "service.pool-exhausted", state: "cause found", least: .7, world: pooled},
		{name: "one hot lock, with a queue of seconds, and requests that waited since before the window", first: "go.lock-contention", state: "cause found", least: .7,
			world: func() sightingstest.World {
				free := int64(0)
				return sightingstest.World{Windows: artifactWindows(16, 19), Requests: arrivals(100, 25*time.Second, func(sent int64) sightingstest.Served {
					wait := max(0, free-sent-200e3)
					q := handle(sent, "POST /seat", path(evidence.Segment{Kind: evidence.LockWait, Dur: wait, HolderKind: evidence.Running, Cause: hotLock}, ran(15e6)))
					free = q.Ended
					return q
				})}
			}},
		{name: "one route that computes 40 ms, five requests a second, an objective of 30 ms", first: "service.own-work", state: "cause found", least: .9, opt: diagnose.Options{SLO: 30 * time.Millisecond},
			world: func() sightingstest.World {
				return sightingstest.World{Windows: artifactWindows(2, 3, 9, 10, 15, 16), Requests: arrivals(5, 25*time.Second, func(sent int64) sightingstest.Served { return handle(sent, "GET /match", path(ran(40e6))) })}
			}},
		{name: "others' long polls beside a load that meets its objective", state: "nothing wrong", opt: diagnose.Options{SLO: 50 * time.Millisecond},
			world: func() sightingstest.World {
				w := sightingstest.World{Windows: artifactWindows(1, 24), Requests: arrivals(60, 25*time.Second, func(sent int64) sightingstest.Served { return handle(sent, "GET /stock", path(ran(3e6))) })}
				for k := range int64(300) {
					q := handle(second(1.1)+k*60e6, "GET /wait", path(evidence.Segment{Kind: evidence.SyncWait, Dur: 3e9}))
					q.Outside = true
					w.Requests = append(w.Requests, q)
				}
				return w
			}},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := x.world()
			w.Names = names
			d, err := diagnose.Run(t.Context(), w.Bundle(), x.opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range d.Contradictions() {
				t.Error(wrong)
			}
			if d.Requests == nil || d.Requests.LedgerSource != d.Requests.Source || d.Requests.Source != "rows" {
				t.Errorf("the population is not what clients saw: %+v", d.Requests)
			}
			if ids := supported(d); x.first == "" && len(ids) > 0 || x.first != "" && (len(ids) == 0 || ids[0] != x.first) {
				t.Errorf("supported are %v, want %q first; %+v", ids, x.first, d.Ledger)
			}
			if got := sentence.State(d); got != x.state {
				t.Errorf("the headline is %q, want %q", got, x.state)
			}
			if x.first != "" {
				if v := d.Verdicts[0]; v.Saves == nil || v.Saves.Value < x.least*d.Requests.SlowTotalMs {
					t.Errorf("it accounts for %+v of %g ms", v.Saves, d.Requests.SlowTotalMs)
				}
			}
		})
	}
}

// What requests wait for, as the paths of a world name it.
const (
	hotLock evidence.NameID = iota + 1
	bank
	connections
)

// names are the texts of these.
var names = []string{"mutex in main.(*Hall).reserve", "bank.example:443", "semaphore in main.(*Hall).connection"}

func pooled() sightingstest.World {
	const places = 4
	var free [places]int64
	return sightingstest.World{Windows: artifactWindows(2, 3, 9, 10, 17, 18), Requests: arrivals(205, 25*time.Second, func(sent int64) sightingstest.Served {
		k := 0
		for i := range free {
			if free[i] < free[k] {
				k = i
			}
		}
		wait := max(0, free[k]-sent-200e3)
		q := handle(sent, "GET /seat", path(evidence.Segment{Kind: evidence.PoolWait, Dur: wait, Cause: connections, HolderKind: evidence.NetWait, HolderCause: bank}, ran(2e5), evidence.Segment{Kind: evidence.NetWait, Dur: 20.8e6, Cause: bank}))
		free[k] = q.Ended
		return q
	})}
}

func TestHeadlineOfFew(t *testing.T) {
	w := sightingstest.World{Windows: artifactWindows(0, 1), Requests: arrivals(5, time.Second, func(sent int64) sightingstest.Served { return handle(sent, "GET /", path(ran(1e6))) })}
	d, err := diagnose.Run(t.Context(), w.Bundle(), diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != diagnose.NotJudged || !strings.Contains(sentence.Nothing(d, nil, d.Verdicts), "too few") {
		t.Errorf("%d requests: %s, %s", d.Requests.Count, d.Outcome, sentence.Nothing(d, nil, d.Verdicts))
	}
}
