package sightings_test

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/sightings/sightingstest"
	"github.com/unstall/unstall/internal/base/evidence"
)

func aligned(w *sightingstest.World) *evidence.Bundle {
	b := w.Bundle()
	b.Unify()
	b.Align()
	return b
}

func magnitude(v int64) int64 { return max(v, -v) }

func states(b *evidence.Bundle, row int) (of [64]int64) {
	for s := range b.Requests.Path(row).All {
		of[s.Kind] += s.Dur
	}
	return of
}

// queued is a service that serves so many at a time; who comes waits for a connection before it is seen.
func queued(rate, servers float64, each int64, n int) (all []sightingstest.Served) {
	r := rand.New(rand.NewPCG(3, 4))
	free := make([]int64, int(servers))
	at := sightingstest.Epoch
	for range n {
		at += int64(1e9 * r.ExpFloat64() / rate)
		k := 0
		for i := range free {
			if free[i] < free[k] {
				k = i
			}
		}
		took := each/2 + int64(float64(each)*r.Float64())
		q := sightingstest.Served{Sent: at, Began: max(at+200e3, free[k])}
		q.Ended = q.Began + took
		q.Path = q.Path.Append(evidence.Segment{Kind: evidence.Running, Dur: took})
		free[k] = q.Ended
		all = append(all, q)
	}
	return all
}

// TestJoin has clients that wait for seconds before a service sees them, three traces of a second each, and clocks that differ.
func TestJoin(t *testing.T) {
	for name, behind := range map[string]int64{"one clock": 0, "clients' clock behind": 2e6} {
		t.Run(name, func(t *testing.T) {
			w := sightingstest.World{Requests: queued(220, 6, 30e6, 4000), Behind: behind,
				Windows: [][2]int64{{sightingstest.Epoch + 3e9, sightingstest.Epoch + 4e9}, {sightingstest.Epoch + 9e9, sightingstest.Epoch + 10e9}, {sightingstest.Epoch + 15e9, sightingstest.Epoch + 16e9}}}
			b := aligned(&w)
			all := sightings.Join(b)
			if len(all) != 1 || len(all[0].Traces) != 3 || !all[0].Clients {
				t.Fatalf("joined %+v, want the clients' rows with three traces", all)
			}
			if j := all[0]; float64(j.Matched) < .95*float64(j.Traced) {
				t.Errorf("%d of %d traced requests have a row", j.Matched, j.Traced)
			}
			right, whole := 0, 0
			for _, q := range w.Requests {
				if q.Traced < 0 || b.Requests.Outcome.At(q.Traced) == evidence.Unfinished {
					continue
				}
				whole++
				of := states(b, q.Row)
				var sum int64
				for _, v := range of {
					sum += v
				}
				if b.Requests.Path(q.Row) == nil {
					continue
				}
				if sum != b.Requests.Latency(q.Row) {
					t.Fatalf("states of %d ns, and a latency of %d", sum, b.Requests.Latency(q.Row))
				}
				before := of[evidence.BeforeService]
				if d := magnitude(before - (q.Began - q.Sent)); d <= 20e6 && of[evidence.Running] > 0 {
					right++
				}
			}
			if whole < 400 || float64(right) < .95*float64(whole) {
				t.Errorf("of %d whole traced requests %d have their time before the service", whole, right)
			}
		})
	}
}

// TestCarriesBack has one lock that everybody waits for, for longer than a window: who waits for it when the window opens has since it came.
func TestCarriesBack(t *testing.T) {
	var all []sightingstest.Served
	free := sightingstest.Epoch
	for i := range int64(1500) {
		q := sightingstest.Served{Sent: sightingstest.Epoch + i*10e6}
		q.Began = q.Sent + 100e3
		from := max(q.Began, free)
		free = from + 14e6
		q.Ended = free
		q.Path = q.Path.Append(evidence.Segment{Kind: evidence.LockWait, Dur: from - q.Began, Cause: 1}).Append(evidence.Segment{Kind: evidence.Running, Dur: 14e6})
		all = append(all, q)
	}
	w := sightingstest.World{Requests: all, Windows: [][2]int64{{sightingstest.Epoch + 14e9, sightingstest.Epoch + 15e9}}}
	b := aligned(&w)
	if got := sightings.Join(b); len(got) != 1 {
		t.Fatalf("joined %+v", got)
	}
	seen, unobserved, total := 0, int64(0), int64(0)
	for _, q := range all {
		if q.Traced < 0 || q.Ended >= w.Windows[0][1] {
			continue
		}
		seen++
		of := states(b, q.Row)
		unobserved, total = unobserved+of[evidence.Unobserved], total+b.Requests.Latency(q.Row)
	}
	if seen < 50 || unobserved*20 > total {
		t.Errorf("of %d requests that waited since before the trace, %d of %d ns are unobserved", seen, unobserved, total)
	}
}

// TestOwnLog has a service's own log, whose clock starts when a handler does: its rows last as long as the trace saw them.
func TestOwnLog(t *testing.T) {
	for name, grain := range map[string]int64{"µs": 1e3, "whole seconds": 1e9} {
		t.Run(name, func(t *testing.T) {
			w := sightingstest.World{Requests: queued(300, 40, 8e6, 3000), Log: true, Grain: grain, Windows: [][2]int64{{sightingstest.Epoch + 2e9, sightingstest.Epoch + 7e9}}}
			b := aligned(&w)
			all := sightings.Join(b)
			if len(all) != 1 {
				t.Fatalf("joined %+v", all)
			}
			if j := all[0]; float64(j.Matched) < .9*float64(j.Traced) {
				t.Errorf("%d of %d traced requests have a row", j.Matched, j.Traced)
			}
			n, off := 0, int64(0)
			for _, q := range w.Requests {
				if of := states(b, q.Row); of[evidence.Running] > 0 {
					n++
					off += magnitude(of[evidence.Running] - (q.Ended - q.Began))
				}
			}
			if n < 1000 || off/int64(n) > 2e6 {
				t.Errorf("%d rows are off by %d ns each", n, off/int64(max(1, n)))
			}
		})
	}
}

// TestOthers has long polls that are nobody's row, and a log of another service: neither takes the states of others.
func TestOthers(t *testing.T) {
	w := sightingstest.World{Requests: queued(200, 40, 5e6, 2000), Windows: [][2]int64{{sightingstest.Epoch + 1e9, sightingstest.Epoch + 9e9}}}
	b := aligned(&w)
	polls := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a.trace"}), "gotrace")
	*polls.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	for i := range int64(60) {
		at := sightingstest.Epoch + 1e9 + i*50e6
		polls.Request(evidence.Request{Subject: 0, Lane: evidence.LaneID(10_000 + i), Start: at, End: at + 4e9 + i*1e6, Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.SyncWait, Dur: 4e9 + i*1e6})})
	}
	polls.Cover(evidence.Coverage{Subject: 0, Kind: evidence.CoverStates, From: sightingstest.Epoch + 1e9, Until: sightingstest.Epoch + 9e9})
	polls.Close()
	sightings.Join(b)
	waited := 0
	for _, q := range w.Requests {
		if of := states(b, q.Row); of[evidence.SyncWait] > 0 {
			waited++
		}
	}
	if waited > 0 {
		t.Errorf("%d rows took the states of a long poll", waited)
	}

	w = sightingstest.World{Requests: queued(200, 40, 5e6, 400), Windows: [][2]int64{{sightingstest.Epoch + 1e9, sightingstest.Epoch + 2e9}}}
	for i := range w.Requests {
		w.Requests[i].Sent -= 3600e9
	}
	b = aligned(&w)
	for _, q := range w.Requests {
		b.Requests.End.Set(q.Row, b.Requests.End.At(q.Row)-3600e9)
	}
	if got := sightings.Join(b); len(got) > 0 {
		t.Errorf("rows of an hour earlier are joined: %+v", got)
	}
}

// TestReadBeforeSent has a kernel that stamps an answer when the call to send it returns, which is after its client has read it: most of them
// some µs after, some that were taken off their CPU ms after. Two routes, one of them much longer, run all the time.
func TestReadBeforeSent(t *testing.T) {
	w := sightingstest.World{}
	r := rand.New(rand.NewPCG(5, 6))
	at := sightingstest.Epoch
	for i := range 1500 {
		at += int64(5e6 * r.ExpFloat64())
		q := sightingstest.Served{Sent: at, Began: at + 15e3, Route: "GET /orders/{n}"}
		took := 200e3 + int64(300e3*r.Float64())
		if i%2 == 0 {
			q.Route, took = "GET /quotes/{n}", 40e6+int64(1e6*r.Float64())
		}
		q.Ended = q.Began + took
		w.Requests = append(w.Requests, q)
	}
	b := w.Bundle()
	kernel := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt", Vantage: evidence.FromKernel}), "exchanges")
	*kernel.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	of := make([]int, len(w.Requests))
	for i, q := range w.Requests {
		late := int64(10e3 * r.Float64())
		if i%10 == 0 {
			late = int64(3e6 * r.Float64())
		}
		route := kernel.Name(map[bool]string{true: "GET /quotes/{id}", false: "GET /orders/{id}"}[i%2 == 0])
		of[i] = int(kernel.Request(evidence.Request{Subject: 0, Route: route, Start: q.Began, End: q.Ended + late, Origin: kernel.Origin(int64(i + 1))})) - 1
	}
	kernel.Close()
	b.Unify()
	b.Align()
	traced := make([]int, 0, len(of))
	rows, row := make([]int, 0, len(of)), make(map[int]int)
	for i, q := range w.Requests {
		traced, rows, row[of[i]] = append(traced, of[i]), append(rows, q.Row), q.Row
	}
	right := 0
	for _, p := range sightings.Pairs(b, traced, rows).Pairs {
		if row[p.Traced] == p.Row {
			right++
		}
	}
	if float64(right) < .98*float64(len(of)) {
		t.Errorf("%d of %d requests are the row that they are", right, len(of))
	}
}

// TestLateAnswers has clients on keep-alive connections that have half of the answers 40 ms after they were sent, and, as a look-alike, a service that takes up
// half of the requests 40 ms after they were sent. Several requests are under way at any time.
func TestLateAnswers(t *testing.T) {
	for name, before := range map[string]bool{"answers wait": false, "requests wait": true} {
		t.Run(name, func(t *testing.T) {
			var w sightingstest.World
			r := rand.New(rand.NewPCG(7, 8))
			at := sightingstest.Epoch
			for range 1500 {
				at += int64(12e6 * r.ExpFloat64())
				q := sightingstest.Served{Sent: at, Began: at + 20e3 + int64(40e3*r.Float64()), Route: "GET /tally/{n}"}
				wait := int64(0)
				if r.IntN(2) == 0 {
					wait = 40e6 + int64(4e6*r.Float64())
				}
				if before {
					q.Began += wait
				}
				q.Ended = q.Began + 800e3 + int64(400e3*r.Float64())
				if !before {
					q.Back = wait
				}
				w.Requests = append(w.Requests, q)
			}
			b := w.Bundle()
			kernel := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt", Vantage: evidence.FromKernel}), "exchanges")
			*kernel.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
			var traced, rows []int
			row := make(map[int]int)
			for i, q := range w.Requests {
				x := int(kernel.Request(evidence.Request{Subject: 0, Route: kernel.Name("GET /tally/{id}"), Start: q.Began, End: q.Ended, Origin: kernel.Origin(int64(i + 1))})) - 1
				traced, rows = append(traced, x), append(rows, q.Row)
				row[x] = q.Row
			}
			kernel.Close()
			b.Unify()
			b.Align()
			right := 0
			for _, p := range sightings.Pairs(b, traced, rows).Pairs {
				if row[p.Traced] == p.Row {
					right++
				}
			}
			if float64(right) < .98*float64(len(traced)) {
				t.Errorf("%d of %d requests are the row that they are", right, len(traced))
			}
		})
	}
}
