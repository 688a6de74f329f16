// Package sightingstest makes evidence of services of which everything is known, as tests want it.
package sightingstest

import (
	"github.com/unstall/unstall/internal/base/evidence"
)

// Epoch is when worlds begin, ns.
const Epoch = int64(1_700_000_000e9)

// Served is a request as it truly was.
type Served struct {
	Sent, Began, Ended int64 // ns
	Back               int64 // ns from its end until its client has the answer
	Route              string
	Path               evidence.Path // of the service, from Began on
	Outside            bool          // only the service records it

	Row, Traced int // its rows, −1 none; of several traces the last
}

// World is a Go service that was traced in windows while clients, or its own log, tell of its requests.
type World struct {
	Requests []Served
	Windows  [][2]int64
	Behind   int64    // ns that the rows' clock is behind
	Log      bool     // rows are the service's own log, from Began to Ended
	Grain    int64    // ns of the rows' clock
	Names    []string // what paths name as 1, 2, …
}

// Bundle is what was recorded of it: the rows, then a trace for each window.
func (w *World) Bundle() *evidence.Bundle {
	b := evidence.NewBundle()
	for _, name := range w.Names {
		b.Names.ID(name)
	}
	who := evidence.Subject{Kind: evidence.Process, Runtime: "go", Name: "shop", PID: 4711, CPUs: 2}
	w.addRows(b, who)
	for k, window := range w.Windows {
		trace := b.Builder(b.AddArtifact(evidence.Artifact{Name: string(rune('a'+k)) + ".trace"}), "gotrace")
		*trace.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
		s := trace.Subject(who)
		for i := range w.Requests {
			if q := &w.Requests[i]; q.Ended > window[0] && q.Began < window[1] {
				r := q.requestWithin(window)
				r.Subject, r.Lane, r.Route, r.Origin = s, evidence.LaneID(i+1), trace.Name(q.Route), trace.Origin(int64(i+1))
				q.Traced = int(trace.Request(r)) - 1
			}
		}
		for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
			trace.Cover(evidence.Coverage{Subject: s, Kind: kind, From: window[0], Until: window[1]})
		}
		trace.Close()
	}
	return b
}

func (w *World) addRows(b *evidence.Bundle, who evidence.Subject) {
	rows := b.Builder(b.AddArtifact(evidence.Artifact{Name: "rows"}), "rows")
	*rows.Clock() = evidence.Clock{Name: "unix", Error: max(1e5, 2*w.Behind), Resolution: w.Grain}
	s, grain := rows.Subject(who), max(1, w.Grain)
	first, last := int64(0), int64(0)
	for i := range w.Requests {
		q := &w.Requests[i]
		q.Row, q.Traced = -1, -1
		if q.Outside {
			continue
		}
		r := evidence.Request{Subject: s, Route: rows.Name(q.Route), Origin: rows.Origin(int64(i + 1)), End: (q.Ended + q.Back - w.Behind) / grain * grain}
		if w.Log {
			r.Start = r.End - (q.Ended - q.Began)
		} else {
			r.Intended = q.Sent - w.Behind
		}
		q.Row = int(rows.Request(r)) - 1
		if first == 0 {
			first = q.Sent
		}
		last = max(last, q.Ended)
	}
	rows.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: first, Until: last})
	rows.Close()
}

// requestWithin returns what a trace of a window tells of a request.
func (q *Served) requestWithin(window [2]int64) evidence.Request {
	r := evidence.Request{Start: max(q.Began, window[0]), End: min(q.Ended, window[1])}
	if r.Start != q.Began || r.End != q.Ended {
		r.Outcome = evidence.Unfinished
	}
	at := q.Began
	for x := range q.Path.All {
		from, to := max(at, r.Start), min(at+x.Dur, r.End)
		at += x.Dur
		if to > from {
			x.Resize(to - from)
			r.Path = r.Path.Append(x)
		}
	}
	return r
}
