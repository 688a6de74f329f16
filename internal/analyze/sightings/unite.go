package sightings

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// A service owns rows of a proxy if this part of the service's requests is among them. If most of a proxy's rows are a service's, the rest goes
// with them.
const (
	mostProxied = .8
	mostLeft    = .05
)

// Unite puts sources of one service on one clock, and moves the rows of proxies, and of the proxies' clients, to the services behind. Requests that
// both saw identify the service. The bundle's clocks are aligned, and it is not clipped yet.
func Unite(b *evidence.Bundle) {
	all := listSources(b, nil)
	if len(all) < 2 {
		return
	}
	front := findFronts(b, all)
	realignClocks(b, all, front)
	for _, s := range slices.Sorted(keysOf(front)) {
		passOn(b, s, all, front)
	}
}

func keysOf(m map[evidence.SubjectID]bool) func(yield func(evidence.SubjectID) bool) {
	return func(yield func(evidence.SubjectID) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// findFronts returns the subjects that only logs of proxies, and perhaps clients, describe: a process that was itself recorded is not moved.
func findFronts(b *evidence.Bundle, all []*source) map[evidence.SubjectID]bool {
	proxied, own := make(map[evidence.SubjectID]bool), make(map[evidence.SubjectID]bool)
	for _, x := range all {
		switch x.side {
		case ByProxy:
			proxied[x.subject] = true
		case ByLoad:
		default:
			own[x.subject] = true
		}
	}
	out := make(map[evidence.SubjectID]bool)
	for s := range proxied {
		if x := b.Subjects[s]; !own[s] && len(own) > 0 && x.PID == 0 && x.Runtime == "" {
			out[s] = true
		}
	}
	return out
}

// realignClocks moves the clocks of sources by the requests that sources further inside also saw.
func realignClocks(b *evidence.Bundle, all []*source, front map[evidence.SubjectID]bool) {
	moved := make(map[evidence.ArtifactID]bool)
	for _, outer := range all {
		if outer.side == ByTrace {
			continue
		}
		for _, inner := range all {
			same := inner.subject == outer.subject || front[outer.subject] && !front[inner.subject] && b.Agree(b.Subjects[outer.subject], b.Subjects[inner.subject])
			if !same || inner.side >= outer.side && !(inner.side == ByProxy && outer.side == ByProxy && inner.mean < outer.mean) || moved[outer.artifact] {
				continue
			}
			if d, ok := clockOffset(b, inner, outer); ok {
				for _, a := range outer.artifacts {
					b.Realign(a, d)
					moved[a] = true
				}
			}
		}
	}
}

// passOn moves the rows of a proxy to the services to which it passed them on.
func passOn(b *evidence.Bundle, front evidence.SubjectID, all []*source, fronts map[evidence.SubjectID]bool) {
	var proxied, asked []int
	behind := make(map[evidence.SubjectID]*source) // by its own outermost source
	for _, x := range all {
		switch {
		case x.subject == front && x.side == ByProxy:
			proxied = append(proxied, x.rows...)
		case x.subject == front:
			asked = append(asked, x.rows...)
		case !fronts[x.subject] && x.side < ByProxy && len(x.rows) >= leastMatched && b.Agree(b.Subjects[front], b.Subjects[x.subject]) && !hasListenAddress(b, x.subject):
			behind[x.subject] = x
		}
	}
	to := newPassing(b, proxied, behind)
	if len(to.rows) == 0 {
		if len(behind) > 0 {
			b.Warnf(b.Requests.Origin.At(proxied[0]), "the requests of this proxy could not be matched with those of another service: they are reported apart")
		}
		return
	}
	of := make(map[int]evidence.SubjectID, len(proxied))
	for _, row := range proxied {
		if s, ok := to.subjectOf(row); ok {
			of[row] = s
		}
	}
	if len(asked) > 0 {
		for _, p := range Pairs(b, proxied, asked).Pairs {
			if s, ok := of[p.Traced]; ok {
				of[p.Row] = s
			}
		}
		for _, row := range asked {
			if _, known := of[row]; !known {
				if s, ok := to.byRoute(row); ok {
					of[row] = s
				}
			}
		}
	}
	to.moveRows(front, of, len(proxied)+len(asked))
}

// passing tells where a proxy passed requests on to.
type passing struct {
	b      *evidence.Bundle
	rows   map[int]evidence.SubjectID // rows of the proxy that a service also saw
	peers  map[evidence.NameID]evidence.SubjectID
	routes map[evidence.NameID]evidence.SubjectID
	only   evidence.SubjectID // the only service behind the proxy; −1: there are several
}

// hasListenAddress reports whether a subject's listening address is known: then that tells which requests were passed on to it.
func hasListenAddress(b *evidence.Bundle, s evidence.SubjectID) bool {
	_, ok := b.Fact(s, evidence.FactListens)
	return ok
}

func newPassing(b *evidence.Bundle, proxied []int, behind map[evidence.SubjectID]*source) *passing {
	p := &passing{b: b, only: -1}
	for len(behind) > 0 && len(proxied) > 0 {
		p.rows = make(map[int]evidence.SubjectID)
		var inner []int
		from, until := answeredSpan(&b.Requests, proxied)
		from, until = aStretch(&b.Requests, behind, from, until)
		within, found := make(map[evidence.SubjectID]int), make(map[evidence.SubjectID]int)
		for s, x := range behind {
			for _, i := range x.rows {
				if at := b.Requests.End.At(i); at >= from && at <= until {
					within[s]++
				}
			}
		}
		for _, s := range sortedSubjects(behind) {
			for _, i := range behind[s].rows {
				if at := b.Requests.End.At(i); at >= from && at <= until {
					inner = append(inner, i)
				}
			}
		}
		if len(inner) == 0 {
			clear(behind)
			break
		}
		m := Pairs(b, inner, proxied)
		r := &b.Requests
		for _, x := range m.Pairs {
			s := r.Subject.At(x.Traced)
			found[s]++
			p.rows[x.Row] = s
		}
		least := len(behind)
		for s := range behind {
			if n := found[s]; n < leastMatched || float64(n) < mostProxied*float64(within[s]) {
				delete(behind, s)
			}
		}
		if len(behind) == least {
			break
		}
	}
	if len(behind) == 0 {
		p.rows = nil
		return p
	}
	if len(behind) == 1 {
		p.only = sortedSubjects(behind)[0]
	}
	p.peers = p.majorityBy(func(row int) evidence.NameID { return peerOf(b.Requests.Path(row)) })
	p.routes = p.majorityBy(func(row int) evidence.NameID { return b.Requests.Route.At(row) })
	return p
}

// mostTold is how many requests identify the services behind a proxy: of millions, a stretch is enough.
const mostTold = 200_000

// aStretch returns the middle of a time in which services answered more requests than are needed.
func aStretch(r *evidence.Requests, behind map[evidence.SubjectID]*source, from, until int64) (int64, int64) {
	var ends []int64
	n := 0
	for _, x := range behind {
		n += len(x.rows)
	}
	if n <= mostTold {
		return from, until
	}
	for _, x := range behind {
		for _, i := range x.rows {
			if at := r.End.At(i); at >= from && at <= until {
				ends = append(ends, at)
			}
		}
	}
	if len(ends) <= mostTold {
		return from, until
	}
	slices.Sort(ends)
	first := (len(ends) - mostTold) / 2
	return ends[first], ends[first+mostTold-1]
}

func sortedSubjects(of map[evidence.SubjectID]*source) (out []evidence.SubjectID) {
	for s := range of {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// answeredSpan returns from when until when (ns) requests were answered.
func answeredSpan(r *evidence.Requests, rows []int) (from, until int64) {
	for _, i := range rows {
		if at := r.End.At(i); from == 0 || at < from {
			from = at
		}
		until = max(until, r.End.At(i))
	}
	return from, until
}

// majorityBy returns by name the subject that most of the matched rows with that name went to.
func (p *passing) majorityBy(name func(row int) evidence.NameID) map[evidence.NameID]evidence.SubjectID {
	n := make(map[evidence.NameID]map[evidence.SubjectID]int)
	for row, s := range p.rows {
		if id := name(row); id != 0 {
			if n[id] == nil {
				n[id] = make(map[evidence.SubjectID]int)
			}
			n[id][s]++
		}
	}
	out := make(map[evidence.NameID]evidence.SubjectID)
	for id, of := range n {
		sum := 0
		for _, v := range of {
			sum += v
		}
		for s, v := range of {
			if float64(v) >= mostProxied*float64(sum) {
				out[id] = s
			}
		}
	}
	return out
}

// peerOf returns the upstream of a request in the proxy's log; 0: none, or not logged.
func peerOf(path evidence.Path) evidence.NameID {
	var s evidence.Segment
	for path.Next(&s) {
		if s.Kind == evidence.NetWait || s.Kind == evidence.PoolWait {
			return s.Cause
		}
	}
	return 0
}

// subjectOf returns the subject to which a row of the proxy went.
func (p *passing) subjectOf(row int) (evidence.SubjectID, bool) {
	if s, ok := p.peers[peerOf(p.b.Requests.Path(row))]; ok {
		return s, true
	}
	if s, ok := p.rows[row]; ok {
		return s, true
	}
	if s, ok := p.byRoute(row); ok {
		return s, true
	}
	return p.only, p.only >= 0 && peerOf(p.b.Requests.Path(row)) != 0
}

// byRoute returns the subject that answers all requests of a row's route.
func (p *passing) byRoute(row int) (evidence.SubjectID, bool) {
	s, ok := p.routes[p.b.Requests.Route.At(row)]
	return s, ok
}

// moveRows moves rows to their services, and the coverage that belongs to them.
func (p *passing) moveRows(front evidence.SubjectID, of map[int]evidence.SubjectID, rows int) {
	b := p.b
	n := make(map[evidence.SubjectID]int)
	seen := make(map[evidence.SubjectID]map[evidence.ArtifactID]bool)
	for row, s := range of {
		n[s]++
		if seen[s] == nil {
			seen[s] = make(map[evidence.ArtifactID]bool)
		}
		a, _ := b.Requests.Origin.At(row).Artifact()
		seen[s][a] = true
	}
	main := evidence.SubjectID(-1)
	for s, v := range n {
		if main < 0 || v > n[main] || v == n[main] && s < main {
			main = s
		}
	}
	if len(n) == 1 && float64(rows-len(of)) <= mostLeft*float64(rows) {
		b.Absorb(front, main)
		return
	}
	for row, s := range of {
		b.Requests.Subject.Set(row, s)
	}
	for _, c := range slices.Clone(b.Coverage) {
		a, ok := c.Origin.Artifact()
		if !ok || c.Subject != front || c.Kind != evidence.CoverRequests {
			continue
		}
		for s := range n {
			if seen[s][a] && (s != main || len(of) < rows) {
				c.Subject = s
				b.Coverage = append(b.Coverage, c)
			}
		}
	}
	if len(of) == rows {
		b.Absorb(front, main)
	} else {
		b.Warnf(0, "%s of the proxy could not be assigned to a service behind it: they are reported apart", units.Plural(rows-len(of), "request"))
	}
}
