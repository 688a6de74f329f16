package service

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// spanned is how much of their time a subject's requests spent in calls, as spans report. The requests may be others of the same
// service and time than the ledger's.
type spanned struct {
	origin evidence.Origin
	rows   []int // of all requests
	slow   []int // of the slow requests; of all, if none is slow
	own    bool  // the requests are the ledger's

	calls        int     // of slow requests
	call         float64 // ns: mean duration of a call
	p50, p99     int64   // ns: of the duration of a call
	there        float64 // ns: mean duration of the calls that the callee reports too, by the callee
	told         int     // number of calls that the callee reports too
	same         float64 // ns: mean duration of those calls, by the caller
	took, called float64 // ns: mean latency of a slow request, and its part in calls
	pooled       float64
	name         string // of the dependency with the most call time
	what         string // its most frequent operation
}

// spansOf returns what the spans of a subject show, nil if there are none.
func spansOf(c *check.Case) *spanned {
	var s *spanned
	for _, x := range slices.Concat(c.Bundle.Covered(c.Subject, evidence.CoverExchanges), c.Bundle.Covered(c.Subject, evidence.CoverSpans)) {
		a, ok := x.Origin.Artifact()
		if ok && (s == nil || a == sourceOf(c)) && (x.Kind == evidence.CoverSpans || hasCalls(c, a)) {
			s = &spanned{origin: check.From(a), own: a == sourceOf(c)}
		}
	}
	if s == nil {
		return nil
	}
	r := &c.Bundle.Requests
	for i := range r.Len() {
		if a, _ := r.Origin.At(i).Artifact(); r.Subject.At(i) == c.Subject && check.From(a) == s.origin && r.Timed(i) {
			s.rows = append(s.rows, i)
		}
	}
	s.slow = s.rows
	if l := c.Ledger; l != nil && s.own && len(l.Slow) > 0 {
		s.slow = l.Slow
	} else if inside := s.insideOf(c); len(inside) > 0 {
		s.slow = inside
	} else if l != nil {
		slow := slices.DeleteFunc(slices.Clone(s.rows), func(i int) bool { return r.Latency(i) <= l.Threshold })
		if len(slow) > 0 {
			s.slow = slow
		}
	}
	if len(s.rows) == 0 {
		return nil
	}
	s.countCallsOfSlow(c)
	return s
}

// insideOf returns the rows of the spans' source that are the ledger's slow requests, as seen from further inside.
func (s *spanned) insideOf(c *check.Case) (rows []int) {
	if c.Ledger == nil {
		return nil
	}
	for _, row := range c.Ledger.Slow {
		for in := range c.Ledger.Inside(row) {
			if a, _ := c.Bundle.Requests.Origin.At(in).Artifact(); check.From(a) == s.origin {
				rows = append(rows, in)
			}
		}
	}
	return rows
}

// hasCalls says whether an artifact shows for which requests calls are made. The kernel does not know that of every connection.
func hasCalls(c *check.Case, a evidence.ArtifactID) bool {
	v := &c.Bundle.Intervals
	for i, k := range v.Kind {
		if of, ok := v.Origin.At(i).Artifact(); ok && of == a && k == evidence.Call && v.Request.At(i) > 0 {
			return true
		}
	}
	return false
}

func sourceOf(c *check.Case) evidence.ArtifactID {
	if c.Ledger == nil {
		return -1
	}
	return c.Ledger.Source
}

// countCallsOfSlow sums up the slow requests and their calls.
func (s *spanned) countCallsOfSlow(c *check.Case) {
	b := c.Bundle
	n := float64(len(s.slow))
	among := make(map[evidence.RequestID]bool, len(s.slow))
	for _, i := range s.slow {
		among[evidence.RequestID(i+1)] = true
		s.took += float64(b.Requests.Latency(i)) / n
		for x := range b.Requests.Path(i).All {
			switch x.Kind {
			case evidence.NetWait:
				s.called += float64(x.Dur) / n
			case evidence.PoolWait:
				s.pooled += float64(x.Dur) / n
			}
		}
	}
	v := &b.Intervals
	var took []int64
	by := make(map[evidence.NameID]int64)
	what := make(map[[2]evidence.NameID]int)
	for i, k := range v.Kind {
		if k != evidence.Call || v.Subject.At(i) != c.Subject || !among[v.Request.At(i)] {
			continue
		}
		d := v.End[i] - v.Start[i]
		took = append(took, d)
		by[v.Cause.At(i)] += d
		what[[2]evidence.NameID{v.Cause.At(i), v.NameOf(i, evidence.Operation)}]++
		if ns, ok := v.Get(i, evidence.ServerTime); ok {
			s.told++
			s.there += ns
			s.same += float64(d)
		}
	}
	if s.calls = len(took); s.calls == 0 {
		return
	}
	for _, d := range took {
		s.call += float64(d) / float64(len(took))
	}
	slices.Sort(took)
	s.p50, s.p99 = stats.Quantile(took, .5), stats.Quantile(took, .99)
	if s.told > 0 {
		s.there, s.same = s.there/float64(s.told), s.same/float64(s.told)
	}
	top := largestName(by)
	s.name = b.Names.Text(top)
	ops := make(map[evidence.NameID]int)
	for k, n := range what {
		if k[0] == top {
			ops[k[1]] += n
		}
	}
	s.what = b.Names.Text(largestName(ops))
}

// largestName returns the name with the largest figure.
func largestName[N cmp.Ordered](m map[evidence.NameID]N) (best evidence.NameID) {
	var high N
	for k, v := range m {
		if best == 0 || v > high || v == high && k < best {
			best, high = k, v
		}
	}
	return best
}

// perRequest returns how many calls a slow request makes.
func (s *spanned) perRequest() float64 { return float64(s.calls) / float64(len(s.slow)) }

// localTime returns the mean time (ns) of a slow request outside its calls and its waits for a connection.
func (s *spanned) localTime() float64 { return s.took - s.called - s.pooled }

// formatCalls says what a slow request's time went into: "a slow request makes 40 calls × 0.3 ms = 12 ms of 2.3 s; 2.29 s pass outside its known calls".
// Calls that are not linked to their requests are not among them.
func (s *spanned) formatCalls() string {
	if s.calls == 0 {
		return "no call of a slow request is known"
	}
	return fmt.Sprintf("a slow request makes %s; %s pass outside its known calls", formatProduct(s.perRequest(), s.call, s.called, s.took), units.Time(s.took-s.called))
}

// aboutOne is how far the mean number of calls per request may be from 1 to be printed as 1.
const aboutOne = .05

var aside = check.Threshold{Name: "part of what calls take one by one, below which some ran side by side", Value: .95, Unit: "1",
	Why: "what is above is rounding", Source: "judgement: weighs rounding of times, at most some µs for each call, against calls that overlap"}

// formatProduct writes the time of n calls of a mean duration. Calls that run side by side take less time than their sum.
func formatProduct(n, each, all, of float64) string {
	if math.Abs(n-1) < aboutOne {
		return "1 call of " + units.Time(each)
	}
	text := fmt.Sprintf("%s calls × %s = %s of %s", units.Num(n), formatMillis(each), units.Time(n*each), units.Time(of))
	if all < aside.Value*n*each {
		text = fmt.Sprintf("%s calls × %s, side by side %s of %s", units.Num(n), formatMillis(each), units.Time(all), units.Time(of))
	}
	return text
}

// formatMillis writes a factor of a product in ms, so that readers can check the product: 40 × 0.3 ms.
func formatMillis(ns float64) string { return units.Num(ns/1e6) + " ms" }

// addFigures adds what spans show.
func (s *spanned) addFigures(c *check.Case, v *check.Verdict) {
	v.Evidence = append(v.Evidence,
		c.Figure("requests.local_ms", fmt.Sprintf("time of a slow request outside its known calls and waits for a connection (mean of %d requests of %s)", len(s.slow), units.Time(s.took)), s.localTime()/1e6, "ms", s.origin))
	if s.calls == 0 {
		return
	}
	of := s.name
	if s.what != "" && s.what != s.name {
		of += ", most often " + s.what
	}
	v.Evidence = append(v.Evidence,
		c.Figure("requests.calls", "calls per slow request", s.perRequest(), "count", s.origin),
		c.Figure("call.mean_ms", "mean duration of a call; most time goes to "+of, s.call/1e6, "ms", s.origin),
		c.Figure("call.p99_ms", "p99 duration of a call", float64(s.p99)/1e6, "ms", s.origin))
	if s.told > 0 {
		v.Evidence = append(v.Evidence, c.Figure("call.there_ms", fmt.Sprintf("the same calls as the called service saw them (mean of %d; the rest of %s is the network)", s.told, units.Time(s.same)), s.there/1e6, "ms", s.origin))
	}
}

// timeInState returns the time (ns) of a request's path in one state.
func timeInState(c *check.Case, row int, kind evidence.Kind) (ns int64) {
	for x := range c.Bundle.Requests.Path(row).All {
		if x.Kind == kind {
			ns += x.Dur
		}
	}
	return ns
}
