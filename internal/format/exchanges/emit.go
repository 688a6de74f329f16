package exchanges

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// A stream is an answer that goes on for at least so long (ns) in pieces of less than so many bytes in the mean: its request is
// answered when it begins.
const (
	streamLeast = int64(1e9)
	streamSends = 3
	streamPiece = 8 << 10
)

// profiles is where programs in Go serve profiles and traces of themselves.
const profiles = " /debug/pprof/"

func (x *exchange) streams() bool {
	return x.first > 0 && x.last-x.first >= streamLeast && x.sends >= streamSends && x.out < streamPiece*x.sends
}

// end is when a request was answered, or its connection was closed.
func (p *parser) endOf(x *exchange) int64 {
	switch {
	case x.streams():
		return x.first
	case x.last > 0:
		return x.last
	}
	return p.until
}

// end emits what was read.
func (p *parser) end() {
	b := p.b
	b.SeenFrom(evidence.FromKernel)
	upgraded := 0
	p.requests = slices.DeleteFunc(p.requests, func(x exchange) bool {
		switch {
		case !x.http && p.http[x.port] > 0:
			upgraded++
		case strings.Contains(b.Text(x.what), profiles): // whoever asks for a profile gets it when it is done
		default:
			return false
		}
		return true
	})
	slices.SortStableFunc(p.requests, func(x, y exchange) int { return cmp.Compare(p.endOf(&x), p.endOf(&y)) })
	link(p.requests, p.calls)
	slices.SortStableFunc(p.calls, func(x, y exchange) int {
		return cmp.Or(cmp.Compare(x.request, y.request), cmp.Compare(x.begun, y.begun))
	})
	unread := make(map[int64]evidence.NameID) // by port
	next, _ := slices.BinarySearchFunc(p.calls, 0, func(x exchange, _ int) int { return cmp.Compare(x.request, 0) })
	var path evidence.Path
	for i := range p.requests {
		x := &p.requests[i]
		from := next
		for next < len(p.calls) && p.calls[next].request == int32(i) {
			next++
		}
		end := p.endOf(x)
		at, named := unread[x.port]
		if !named {
			at = b.Name(fmt.Sprintf("%s%d", evidence.ArrivedAt, x.port))
			unread[x.port] = at
		}
		path = states(path[:0], x, end, p.calls[from:next], at)
		r := evidence.Request{Subject: p.subject, Route: x.what, Start: x.came, End: end, Path: path, Origin: b.Origin(x.line)}
		switch {
		case x.open:
			r.Outcome = evidence.Unfinished
		case x.first == 0:
			r.Outcome = evidence.TimedOut
		case x.failed:
			r.Outcome = evidence.Failed
		}
		id := b.Request(r)
		for _, c := range p.calls[from:next] {
			if until := max(c.first, c.last); until > 0 {
				b.Interval(evidence.Interval{Subject: p.subject, Kind: evidence.Call, Start: c.begun, End: until, Request: id, Cause: c.what, Origin: b.Origin(c.line)})
			}
		}
	}
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverExchanges, From: p.from, Until: p.until, Lost: p.lost, Origin: b.Origin(1)})
	if p.lost > 0 {
		b.Warnf(1, "%s of requests and calls were not recorded, as there were too many at once", units.Plural(int(p.lost), "line"))
	}
	if p.of > 1 {
		b.Warnf(1, "of %d connections one was recorded, as there were too many transfers: rates of requests are that of this part", p.of)
	}
	if upgraded > 0 {
		b.Warnf(1, "not counted as requests: %s on connections that were upgraded from HTTP/1", units.Plural(upgraded, "message"))
	}
	if p.multiplexed > 0 {
		b.Warnf(1, "not counted as requests: %s of protocols in which several are under way on one connection", units.Plural(p.multiplexed, "exchange"))
	}
	if p.dropped > 0 {
		b.Warnf(1, "more than %d requests and calls: the last %d are left out", mostRows, p.dropped)
	}
}

// states are what is known of a request's time: until it was read, and its calls, of which some may run side by side.
func states(path evidence.Path, x *exchange, end int64, calls []exchange, unread evidence.NameID) evidence.Path {
	at := x.came
	until := func(to int64, k evidence.Kind, cause evidence.NameID) {
		if to = min(to, end); to > at {
			path = path.Append(evidence.Segment{Kind: k, Dur: to - at, Cause: cause})
			at = to
		}
	}
	until(x.begun, evidence.BeforeService, unread)
	for i := range calls {
		c := &calls[i]
		done := max(c.first, c.last)
		if done == 0 {
			done = end
		}
		until(c.begun, evidence.Unobserved, 0)
		if c.first > 0 && c.ready > 0 {
			until(c.first-c.ready, evidence.NetWait, c.what)
			until(c.first, evidence.Unobserved, 0) // its answer was there: what kept the process from reading it is not known
		}
		until(done, evidence.NetWait, c.what)
	}
	until(end, evidence.Unobserved, 0)
	return path
}
