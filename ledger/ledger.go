package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/stats"
)

// Options are what the user decides.
type Options struct {
	SLO time.Duration // what counts as slow; 0: found from the requests themselves
}

// How an entry was measured.
const (
	MethodTrace   = "trace"
	MethodOverlap = "overlap"
	MethodShare   = "share"
)

// Entry is slow request time with one mechanism and, where it has one, the
// lock, pool or dependency it was spent on.
type Entry struct {
	Mechanism Mechanism
	Detail    evidence.NameID
	Ns        int64
	Interval  *stats.Interval // ns
	Basis     string          // what Interval is: "sampling", "bound", ""
	Method    string
}

// Requests is what is known of a service's requests as a whole.
type Requests struct {
	Source     evidence.ArtifactID
	Count      int
	Unfinished int
	From, To   int64   // ns: the span they were watched
	Rate       float64 // per second, 0 unknown
	P50        int64   // ns
	P99        int64
	P999       int64 // 0: too few requests
}

// Ledger is where the slow requests of one subject spent their time.
type Ledger struct {
	Subject  evidence.SubjectID
	Requests Requests            // of the artifact that saw most of them
	Source   evidence.ArtifactID // the artifact whose requests are charged here
	From, To int64               // ns: the span they were watched
	Traced   bool                // their states are known

	Rule      string // "slo", "3x_route_floor"
	Threshold int64  // ns; of the route with most requests, if each has its own
	Slow      []int  // rows of the bundle's requests, by time
	Total     int64  // ns: the latency of all slow requests
	Charges   Charges
	Entries   []Entry // in order of time; they sum to Total
	Rows      []int   // all requests of the source, by time
	Host      HostShare

	b      *evidence.Bundle
	pauses []pause
}

// MinRequests is how many requests a figure about requests needs.
const MinRequests = 20

// Build makes the ledgers: one for every subject with requests, in order of the
// subjects.
func Build(b *evidence.Bundle, opt Options) []*Ledger {
	bySubject := make(map[evidence.SubjectID]map[evidence.ArtifactID][]int)
	for i := range b.Requests.Len() {
		a, _ := b.Requests.Origin[i].Artifact()
		s := b.Requests.Subject[i]
		if bySubject[s] == nil {
			bySubject[s] = make(map[evidence.ArtifactID][]int)
		}
		bySubject[s][a] = append(bySubject[s][a], i)
	}
	var out []*Ledger
	for s := range b.Subjects {
		if sources := bySubject[evidence.SubjectID(s)]; sources != nil {
			out = append(out, build(b, evidence.SubjectID(s), sources, opt))
		}
	}
	return out
}

func build(b *evidence.Bundle, subject evidence.SubjectID, sources map[evidence.ArtifactID][]int, opt Options) *Ledger {
	l := &Ledger{Subject: subject, b: b}
	widest := l.choose(sources)
	l.Requests = l.summary(widest, sources[widest])
	if l.Source != widest {
		s := l.summary(l.Source, l.Rows)
		l.From, l.To = s.From, s.To
	} else {
		l.From, l.To = l.Requests.From, l.Requests.To
	}
	l.pauses = pausesOf(b, subject)
	if l.Traced {
		l.Host = l.hostShare()
	}
	l.findSlow(opt.SLO)
	l.charge()
	return l
}

// choose picks the requests to charge: those whose states are known if there
// are enough of them, else those of the artifact with most; and the artifact
// that saw most, for the figures about all.
func (l *Ledger) choose(sources map[evidence.ArtifactID][]int) (widest evidence.ArtifactID) {
	ids := make([]evidence.ArtifactID, 0, len(sources))
	for a := range sources {
		ids = append(ids, a)
	}
	slices.Sort(ids)
	best, most := -1, -1
	for _, a := range ids {
		rows := sources[a]
		if len(rows) > most {
			widest, most = a, len(rows)
		}
		traced := 0
		for _, i := range rows {
			if observed(l.b.Requests.Path(i)) {
				traced++
			}
		}
		if traced >= min(MinRequests, len(rows)) && 2*traced >= len(rows) && len(rows) > best {
			l.Source, l.Traced, best = a, true, len(rows)
		}
	}
	if !l.Traced {
		l.Source = widest
	}
	l.Rows = slices.Clone(sources[l.Source])
	r := &l.b.Requests
	slices.SortFunc(l.Rows, func(i, j int) int { return cmp.Compare(r.End[i], r.End[j]) })
	return widest
}

// observed says whether a path holds states, not just what an access log knows
// of an upstream.
func observed(p evidence.Path) bool {
	for s := range p.All {
		switch s.Kind {
		case evidence.Unobserved, evidence.NetWait, evidence.KindUnknown:
		default:
			return true
		}
	}
	return false
}

func (l *Ledger) summary(a evidence.ArtifactID, rows []int) Requests {
	r := &l.b.Requests
	s := Requests{Source: a, Count: len(rows)}
	lat := make([]int64, 0, len(rows))
	for _, i := range rows {
		if r.Outcome[i] == evidence.Unfinished {
			s.Unfinished++
		}
		lat = append(lat, r.Latency(i)) // a lower bound if it is unfinished
		if s.From == 0 || r.End[i] < s.From {
			s.From = r.End[i]
		}
		s.To = max(s.To, r.End[i])
	}
	for _, c := range l.b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && o == a && c.Kind == evidence.CoverRequests && c.Until > c.From {
			s.From, s.To = c.From, c.Until
		}
	}
	if s.To > s.From {
		s.Rate = float64(len(rows)) / (float64(s.To-s.From) / 1e9)
	}
	slices.Sort(lat)
	if len(lat) > 0 {
		s.P50, s.P99 = stats.Quantile(lat, .5), stats.Quantile(lat, .99)
	}
	if len(lat) >= 1000 {
		s.P999 = stats.Quantile(lat, .999)
	}
	return s
}

// Of charges the whole time of one request.
func (l *Ledger) Of(row int) Charges {
	var sum Charges
	l.Walk(row, func(_ int64, _ evidence.Segment, c *Charges) { sum.Add(c) })
	return sum
}

// Walk yields the states of a request in order with what each was charged to.
// Their sum is the request's latency exactly.
func (l *Ledger) Walk(row int, yield func(at int64, s evidence.Segment, c *Charges)) {
	r := &l.b.Requests
	at := r.Start[row]
	if in := r.Intended[row]; in != 0 && in < at {
		c := Charges{Queued: at - in}
		yield(in, evidence.Segment{Kind: evidence.KindUnknown, Dur: at - in}, &c)
	}
	for s := range r.Path(row).All {
		l.refine(at, s, yield)
		at += s.Dur
	}
	if at < r.End[row] {
		l.refine(at, evidence.Segment{Kind: evidence.Unobserved, Dur: r.End[row] - at}, yield)
	}
}

// refine charges one state; time without a state is laid over the pauses.
func (l *Ledger) refine(at int64, s evidence.Segment, yield func(int64, evidence.Segment, *Charges)) {
	if s.Kind == evidence.Unobserved && len(l.pauses) > 0 {
		if stopped := l.stopped(at, at+s.Dur); stopped > 0 {
			c := Charges{StopTheWorld: stopped, Unobserved: s.Dur - stopped}
			yield(at, s, &c)
			return
		}
	}
	c := of(&s)
	l.Host.take(&c)
	yield(at, s, &c)
}

// charge fills the entries from the slow requests.
func (l *Ledger) charge() {
	type key struct {
		m      Mechanism
		detail evidence.NameID
	}
	sums := make(map[key]int64)
	perRequest := make([]Charges, len(l.Slow))
	at := make([]int64, len(l.Slow))
	var longest int64
	for n, row := range l.Slow {
		at[n] = l.b.Requests.End[row]
		longest = max(longest, l.b.Requests.Latency(row))
		l.Walk(row, func(_ int64, s evidence.Segment, c *Charges) {
			perRequest[n].Add(c)
			for m, v := range c {
				if v == 0 {
					continue
				}
				k := key{m: Mechanism(m)}
				switch k.m {
				case Lock, Pool, Dependency:
					k.detail = s.Cause
				}
				sums[k] += v
			}
		})
		l.Charges.Add(&perRequest[n])
	}
	for k, v := range sums {
		e := Entry{Mechanism: k.m, Detail: k.detail, Ns: v, Method: MethodTrace}
		switch {
		case k.m == HostCPU:
			low, high := l.Host.bounds(v)
			e.Method, e.Basis, e.Interval = MethodShare, "bound", &stats.Interval{Low: low, High: high}
		case k.m == StopTheWorld && !l.Traced:
			low, high := l.stoppedBounds()
			e.Method, e.Basis, e.Interval = MethodOverlap, "bound", &stats.Interval{Low: low, High: high}
		case !l.Traced:
			e.Method = MethodOverlap
		}
		l.Entries = append(l.Entries, e)
	}
	slices.SortFunc(l.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(a.Mechanism, b.Mechanism), cmp.Compare(a.Detail, b.Detail))
	})
	l.intervals(perRequest, at, 5*longest)
}

// intervals gives the larger entries their sampling error.
func (l *Ledger) intervals(slow []Charges, at []int64, block int64) {
	if len(slow) < MinRequests || l.To <= l.From {
		return
	}
	v := make([]int64, len(slow))
	perMechanism := make(map[Mechanism]int)
	for _, e := range l.Entries {
		perMechanism[e.Mechanism]++
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.Interval != nil || e.Ns*100 < l.Total || perMechanism[e.Mechanism] > 1 {
			continue
		}
		for n := range slow {
			v[n] = slow[n][e.Mechanism]
		}
		if iv, ok := stats.SumInterval(at, v, l.From, l.To, block, uint64(e.Mechanism)+1); ok {
			e.Interval, e.Basis = &iv, "sampling"
		}
	}
}
