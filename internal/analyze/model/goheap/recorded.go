package goheap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// Latencies calibrates the model of latencies on the process's requests and cycles. Any
// of these will do: an execution trace alone; a trace and the rows of a load generator
// or a proxy, which then give the arrivals and what clients saw, unless the model does
// not hold for them; such rows and a log of cycles, whose stamps lie close enough
// together. A log that the process itself writes mostly tells how long the handler ran,
// not how long the request waited for it, and is refused. An error says in a clause what
// is missing, or why the model does not hold for this recording.
func (g *Process) Latencies() (*Latencies, error) {
	if g.Ledger == nil || len(g.Ledger.Rows) == 0 {
		return nil, errors.New("there are no requests")
	}
	r := Recorded{Processors: int(g.Processors.OrZero()), Cycles: g.Rate.Number, Marking: g.Marking.Number}
	if g.Rate.Number > 0 {
		r.MarkWork = 1e9 * (g.Assist.Number + g.Background.Number + g.Idle.Number) / g.Rate.Number
		r.Stop = 1e9 * g.Stopped.Number / g.Rate.Number / 2
		r.Runway = g.runwayShare()
		for _, x := range g.Cycles {
			if work := x.Assist + x.Background + x.Idle; work > 0 && !x.Forced {
				r.MarkWorks = append(r.MarkWorks, work)
			}
		}
	}
	l, err := g.calibrateOn(r, g.Ledger.Requests.Source)
	if traced := g.Ledger.Source; err != nil && g.Ledger.Traced && traced != g.Ledger.Requests.Source {
		if l, e := g.calibrateOn(r, traced); e == nil {
			return l, nil
		}
	}
	return l, err
}

// calibrateOn calibrates on the requests that one artifact saw.
func (g *Process) calibrateOn(r Recorded, source evidence.ArtifactID) (*Latencies, error) {
	if err := g.requestsFor(&r, source); err != nil {
		return nil, err
	}
	l, err := NewLatencies(r)
	if g.Ledger.Traced || !errors.Is(err, ErrTooSlow) {
		return l, err
	}
	return nil, fmt.Errorf("%w: the log does not show how long requests waited before their handler ran; record an execution trace, or add the log of a proxy or a load generator", err)
}

// Of mgcpacer.go: what marking takes of the processors besides assists
// (gcBackgroundUtilization), and how many times what is allocated while a cycle marks is to
// be free for it. From usedUp on too little is left to the program to say.
const (
	background = .25
	runways    = 3
	usedUp     = .95
)

// slackOf is the part of the time from one cycle to the next that clocks may be apart for
// requests to be placed between two of them.
const slackOf = 4

// runwayShare returns what the pacer means to leave for allocation while a cycle marks, as a part
// of what is allocated from one cycle to the next: three times what the program allocates for what
// it marks (revise and endCycle in https://go.dev/src/runtime/mgcpacer.go). 0: not known.
func (g *Process) runwayShare() float64 {
	var grown, n float64
	for _, x := range g.Cycles {
		if x.Before > 0 && x.After >= x.Before {
			grown += x.After - x.Before
			n++
		}
	}
	if n == 0 || !(g.Alloc.Number > 0) || g.Marking.Number <= 0 || !g.Processors.Known() {
		return 0
	}
	utilization := background + g.Assist.Number/g.Marking.Number/g.Processors.Number
	idle := g.Idle.Number / g.Marking.Number / g.Processors.Number
	if utilization >= usedUp {
		return 0
	}
	return runways * grown / n * (utilization + idle) / (1 - utilization) / (g.Alloc.Number / g.Rate.Number)
}

// requestsFor fills in arrivals and latencies of the requests one artifact saw, and what
// requests need that met no cycle.
func (g *Process) requestsFor(r *Recorded, source evidence.ArtifactID) error {
	l, q := g.Ledger, &g.Bundle.Requests
	rows := l.Rows
	if l.Source != source {
		rows = g.rowsOf(source)
	}
	began := func(i int) int64 { return q.End.At(i) - q.Latency(i) }
	all := len(rows)
	rows = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return q.Outcome.At(i) == evidence.Unfinished || q.Latency(i) < 0 })
	if len(rows) == 0 {
		return errors.New("there are no requests")
	}
	slices.SortFunc(rows, func(i, j int) int { return cmp.Or(cmp.Compare(began(i), began(j)), cmp.Compare(i, j)) })
	r.Arrive, r.Latency = make([]int64, len(rows)), make([]int64, len(rows))
	for n, i := range rows {
		r.Arrive[n], r.Latency[n] = began(i), q.Latency(i)
	}
	quiet := g.findQuiet()
	r.Seen = l.Traced && l.Source == source
	r.Clients = slices.ContainsFunc(rows, func(i int) bool { return q.Intended.At(i) != 0 })
	r.Gaps = quiet.gaps
	if !r.Seen {
		r.Unfinished = all - len(rows) // a trace ends while some run
	}
	if l.Traced {
		for _, i := range l.KnownRows() {
			if !quiet.containsSpan(began(i), q.End.At(i)) {
				continue
			}
			charges := l.Of(i)
			r.Work = append(r.Work, charges[ledger.Own]+charges[ledger.Kernel])
			if r.Seen {
				r.Free = append(r.Free, q.Latency(i))
			}
		}
	}
	if r.Free != nil {
		g.placeRequests(r, quiet, rows)
		return nil
	}
	// Another artifact's requests: its clock must place them between two cycles.
	slack := g.Bundle.Clocks[q.Clock.At(rows[0])].Slack()
	for _, clock := range quiet.clocks {
		slack = max(slack, g.Bundle.Clocks[clock].Slack())
	}
	if typical := quiet.medianLength(); slack > typical/slackOf {
		if l.Traced {
			// What clients saw beside it is then the same for each.
			for _, i := range l.KnownRows() {
				if quiet.containsSpan(began(i), q.End.At(i)) {
					r.Free = append(r.Free, q.Latency(i))
				}
			}
			return nil
		}
		if slack >= evidence.Unanchored {
			return errors.New("the GC log has no time of day: add timestamps to its lines, or record an execution trace")
		}
		return fmt.Errorf("the clocks of requests and GC cycles may differ by %v, which is too much for cycles every %v", time.Duration(slack), time.Duration(typical))
	}
	for _, i := range rows {
		if quiet.containsSpan(began(i)-slack, q.End.At(i)+slack) {
			r.Free = append(r.Free, q.Latency(i))
		}
	}
	g.placeRequests(r, quiet, rows)
	return nil
}

// placeRequests says of the requests, in order of arrival, where they lie beside the cycles.
// Before the first cycle that was watched it is not known what one before left waiting.
func (g *Process) placeRequests(r *Recorded, quiet quiet, rows []int) {
	if len(r.Free) == 0 {
		return
	}
	q := &g.Bundle.Requests
	reach := reachOf(r.Gaps, r.Free)
	watched, last := 0, -1
	r.Placed = make([]Placed, 0, len(rows))
	for _, i := range rows {
		at := q.End.At(i) - q.Latency(i)
		for watched < len(quiet.watched) && quiet.watched[watched].To <= at {
			watched++
		}
		if watched == len(quiet.watched) {
			return
		}
		w := quiet.watched[watched]
		var p phase
		p, last = reach.phaseOf(quiet.marks, at, last)
		if at < w.From || at < w.From+reach.after && (last < 0 || quiet.marks[last].From < w.From) {
			continue
		}
		cycle := last + 1 + watched // each stretch begins with one of its own
		r.Placed = append(r.Placed, Placed{Arrive: at, Latency: q.Latency(i), Cycle: cycle, phase: p})
	}
}

func (g *Process) rowsOf(a evidence.ArtifactID) (rows []int) {
	q := &g.Bundle.Requests
	for i := range q.Len() {
		if o, _ := q.Origin.At(i).Artifact(); o == a && q.Subject.At(i) == g.Subject {
			rows = append(rows, i)
		}
	}
	return rows
}

// quiet is the time between cycles, where it is known that there is none and the
// backlog of the one before should be gone: the second half of each gap.
type quiet struct {
	spans   metrics.Spans
	watched metrics.Spans // for cycles
	marks   []queue.Stop
	gaps    []float64 // ns from the end of one to the beginning of the next
	clocks  []evidence.ClockID
}

// findQuiet looks at all pieces of the recording that the collector was read from.
func (g *Process) findQuiet() (q quiet) {
	b := g.Bundle
	own, _ := g.Origin.Artifact()
	among := func(o evidence.Origin) bool {
		a, ok := o.Artifact()
		return ok && (a == own || a >= 0 && b.Artifacts[own].Series != "" && b.Artifacts[a].Series == b.Artifacts[own].Series)
	}
	v := &b.Intervals
	var marks metrics.Spans
	for _, i := range v.Select(evidence.GCMark, g.Subject) {
		if among(v.Origin.At(i)) {
			marks = append(marks, metrics.Span{From: v.Start[i], To: v.End[i]})
		}
	}
	sorting.Short(marks, func(a, b metrics.Span) int { return cmp.Compare(a.From, b.From) })
	for _, m := range marks {
		if n := len(q.marks); n > 0 && m.From <= q.marks[n-1].To {
			q.marks[n-1].To = max(q.marks[n-1].To, m.To)
			continue
		}
		q.marks = append(q.marks, queue.Stop{From: m.From, To: m.To})
	}
	covered := slices.Clone(b.Covered(g.Subject, evidence.CoverGC))
	covered = slices.DeleteFunc(covered, func(w evidence.Coverage) bool { return !among(w.Origin) })
	sorting.Short(covered, func(a, b evidence.Coverage) int { return cmp.Compare(a.From, b.From) })
	for _, w := range covered {
		q.watched = q.watched.Add(w.From, w.Until)
		if !slices.Contains(q.clocks, w.Clock) {
			q.clocks = append(q.clocks, w.Clock)
		}
		var last int64
		for _, m := range q.marks {
			if m.From > w.Until || m.To < w.From {
				continue
			}
			if last != 0 && m.From > last {
				q.gaps = append(q.gaps, float64(m.From-last))
				q.spans = q.spans.Add(last+(m.From-last)/2, m.From)
			}
			last = m.To
		}
	}
	return q
}

// containsSpan says whether a request lies within one such span.
func (q *quiet) containsSpan(from, to int64) bool {
	return to >= from && q.spans.Within(from, to) == to-from
}

// medianLength returns the median length of such a span, ns.
func (q *quiet) medianLength() int64 {
	var all []int64
	for _, s := range q.spans {
		all = append(all, s.To-s.From)
	}
	return int64(stats.Median(all))
}
