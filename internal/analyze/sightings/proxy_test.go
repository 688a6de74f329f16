package sightings_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/base/evidence"
)

// seen is one request as all that saw it recorded it, ns.
type seen struct {
	sent, proxied, began, ended, passed, answered int64
	connect                                       int64 // of the time in the proxy
	service                                       int
	route                                         string
	key                                           evidence.RequestKey
}

// between makes requests through a proxy to services, each of which begins with what came late.
func between(n, services int, rate float64) (all []seen) {
	r := rand.New(rand.NewPCG(5, 6))
	at := epoch
	for range n {
		at += int64(1e9 * r.ExpFloat64() / rate)
		q := seen{sent: at, service: r.IntN(services)}
		q.route = fmt.Sprintf("GET /%d/%c", q.service, 'a'+r.IntN(3))
		q.proxied = q.sent + 300e3 + r.Int64N(1e6)
		if r.IntN(10) == 0 {
			q.connect = 50e6 + r.Int64N(100e6)
		}
		q.began = q.proxied + q.connect + 200e3 + r.Int64N(1e6)
		q.ended = q.began + 3e6 + int64(20e6*r.ExpFloat64())
		q.passed = q.ended + 100e3 + r.Int64N(1e6)
		q.answered = q.passed + 200e3 + r.Int64N(1e6)
		all = append(all, q)
	}
	return all
}

const epoch = int64(1_700_000_000e9)

const ms = int64(1e6)

// world writes what was recorded of requests.
type world struct {
	b      *evidence.Bundle
	all    []seen
	behind int64 // ns that the proxy's clock is behind

	own, proxy, clients, traced map[int]int // by request: its row
}

func newWorld(all []seen) *world {
	return &world{b: evidence.NewBundle(), all: all, own: map[int]int{}, proxy: map[int]int{}, clients: map[int]int{}, traced: map[int]int{}}
}

func (w *world) write(name, format string, vantage evidence.Vantage, resolution int64, who evidence.Subject, row func(p *evidence.Builder, k int, q *seen) (evidence.Request, bool), rows map[int]int) {
	p := w.b.Builder(w.b.AddArtifact(evidence.Artifact{Name: name}), format)
	p.SeenFrom(vantage)
	*p.Clock() = evidence.Clock{Name: "unix", Resolution: resolution}
	s := p.Subject(who)
	var from, until int64
	for k := range w.all {
		q, ok := row(p, k, &w.all[k])
		if !ok {
			continue
		}
		q.Subject, q.Route, q.Origin = s, p.Name(w.all[k].route), p.Origin(int64(k+1))
		rows[k] = int(p.Request(q)) - 1
		if from == 0 {
			from = q.Began()
		}
		until = max(until, q.End)
	}
	if format == "load" {
		p.Load(evidence.LoadResult{Tool: "unstall", Origin: p.Origin(0)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from, Until: until})
	if format == "gotrace" {
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: from, Until: until})
	}
	p.Close()
}

func (w *world) ownLog(name string, service int) {
	w.write(name, "accesslog", evidence.FromService, ms, evidence.Subject{}, func(_ *evidence.Builder, _ int, q *seen) (evidence.Request, bool) {
		end := q.ended / ms * ms
		return evidence.Request{Start: end - (q.ended-q.began)/ms*ms, End: end, Key: q.key}, q.service == service
	}, w.own)
}

func (w *world) proxyLog() {
	w.write("nginx.log", "accesslog", evidence.FromProxy, ms, evidence.Subject{}, func(p *evidence.Builder, _ int, q *seen) (evidence.Request, bool) {
		end := (q.passed - w.behind) / ms * ms
		r := evidence.Request{Start: end - (q.passed-q.proxied)/ms*ms, End: end, Key: q.key}
		peer := fmt.Sprintf("10.0.0.%d:80", q.service)
		r.Path = r.Path.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: q.connect / ms * ms, Cause: p.Wait(evidence.ConnectingTo, peer)})
		r.Path = r.Path.Append(evidence.Segment{Kind: evidence.NetWait, Dur: min(r.End-r.Start, (q.ended-q.began)/ms*ms), Cause: p.Name(peer)})
		return r, true
	}, w.proxy)
}

func (w *world) load() {
	w.write("load.bin", "load", evidence.FromService, 0, evidence.Subject{Address: "shop:80"}, func(_ *evidence.Builder, _ int, q *seen) (evidence.Request, bool) {
		return evidence.Request{Intended: q.sent, End: q.answered}, true
	}, w.clients)
}

func (w *world) trace(who evidence.Subject) {
	w.write("a.trace", "gotrace", evidence.FromService, 0, who, func(_ *evidence.Builder, k int, q *seen) (evidence.Request, bool) {
		r := evidence.Request{Start: q.began, End: q.ended, Lane: evidence.LaneID(k + 1)}
		r.Path = r.Path.Append(evidence.Segment{Kind: evidence.LockWait, Dur: (q.ended - q.began) / 2}).Append(evidence.Segment{Kind: evidence.Running, Dur: q.ended - q.began - (q.ended-q.began)/2})
		return r, true
	}, w.traced)
}

func (w *world) spans(name string) {
	w.write("spans.json", "spans", evidence.FromSpans, 1000, evidence.Subject{Service: name}, func(p *evidence.Builder, _ int, q *seen) (evidence.Request, bool) {
		r := evidence.Request{Start: q.began - 50e3, End: q.ended + 50e3, Key: q.key}
		r.Path = r.Path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: r.End - r.Start})
		return r, true
	}, w.own)
}

// join is what incidents do.
func (w *world) join() []sightings.Joined {
	w.b.Unify()
	w.b.Align()
	sightings.Unite(w.b)
	return sightings.Join(w.b)
}

func find(all []sightings.Joined, side, inner sightings.Side) *sightings.Joined {
	for i := range all {
		if all[i].Side == side && all[i].Inner == inner {
			return &all[i]
		}
	}
	return nil
}

func nameOf(b *evidence.Bundle, row int, k evidence.Kind, cause string) (ns int64) {
	for s := range b.Requests.Path(row).All {
		if s.Kind == k && (cause == "" || b.Names.Text(s.Cause) == cause) {
			ns += s.Dur
		}
	}
	return ns
}

// TestThroughProxy has a proxy's log, the service's own and the rows of clients, on clocks that agree or differ by seconds.
func TestThroughProxy(t *testing.T) {
	for name, behind := range map[string]int64{"one clock": 0, "the proxy's clock is 3 s behind": 3e9, "the proxy's clock is 40 s ahead": -40e9} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(between(4000, 1, 150))
			w.behind = behind
			w.proxyLog()
			w.ownLog("app.log", 0)
			w.load()
			all := w.join()
			r := &w.b.Requests
			if s := r.Subject.At(w.own[0]); r.Subject.At(w.proxy[0]) != s || r.Subject.At(w.clients[0]) != s {
				t.Fatalf("the three are of subjects %d, %d and %d; %+v", s, r.Subject.At(w.proxy[0]), r.Subject.At(w.clients[0]), w.b.Warnings)
			}
			for _, sides := range [][2]sightings.Side{{sightings.ByLoad, sightings.ByProxy}, {sightings.ByProxy, sightings.ByLog}} {
				j := find(all, sides[0], sides[1])
				if j == nil {
					t.Fatalf("%s are not joined with %s: %+v", sides[0], sides[1], all)
				}
				if float64(j.Matched) < .95*float64(j.Traced) {
					t.Errorf("%s: %d of %d of %s found", sides[0], j.Matched, j.Traced, sides[1])
				}
				if want := behind; sides[0] == sightings.ByProxy && magnitude(j.Behind-want) > 10e6 {
					t.Errorf("the proxy's clock is %d ns behind, want %d", j.Behind, want)
				}
			}
			right := 0
			for k := range w.all {
				q, row := &w.all[k], w.clients[k]
				var sum int64
				for s := range r.Path(row).All {
					sum += s.Dur
				}
				if r.Path(row) != nil && sum != r.Latency(row) {
					t.Fatalf("states of %d ns, and a latency of %d", sum, r.Latency(row))
				}
				connected := nameOf(w.b, row, evidence.BeforeService, evidence.Wait{Kind: evidence.ConnectingTo, Of: "10.0.0.0:80"}.String())
				inside := nameOf(w.b, row, evidence.Unobserved, "")
				if magnitude(connected-q.connect) <= 2*ms && magnitude(inside-(q.ended-q.began)) <= 3*ms {
					right++
				}
			}
			if float64(right) < .9*float64(len(w.all)) {
				t.Errorf("of %d rows of clients %d have their time to connect and in the service", len(w.all), right)
			}
		})
	}
}

// TestSpansAndTrace has spans of a service that was traced: the spans are its requests, and take the states.
func TestSpansAndTrace(t *testing.T) {
	w := newWorld(between(2000, 1, 100))
	w.spans("shop")
	w.trace(evidence.Subject{Runtime: "go", Name: "shop", PID: 7})
	all := w.join()
	j := find(all, sightings.BySpans, sightings.ByTrace)
	if j == nil || float64(j.Matched) < .95*float64(j.Traced) {
		t.Fatalf("joined %+v", all)
	}
	n := 0
	for k := range w.all {
		if nameOf(w.b, w.own[k], evidence.LockWait, "") > 0 {
			n++
		}
	}
	if float64(n) < .95*float64(len(w.all)) {
		t.Errorf("of %d spans %d have states", len(w.all), n)
	}
}

// TestTwoServices has a proxy in front of two services that each have a log, and clients that ask the proxy.
func TestTwoServices(t *testing.T) {
	w := newWorld(between(6000, 2, 200))
	w.proxyLog()
	w.ownLog("carts.log", 0)
	w.ownLog("prices.log", 1)
	w.load()
	all := w.join()
	r := &w.b.Requests
	wrong := 0
	for k := range w.all {
		if s := r.Subject.At(w.own[k]); r.Subject.At(w.proxy[k]) != s || r.Subject.At(w.clients[k]) != s {
			wrong++
		}
	}
	if wrong > len(w.all)/100 {
		t.Errorf("%d of %d requests are given to the wrong service; %+v", wrong, len(w.all), w.b.Warnings)
	}
	n := 0
	for _, j := range all {
		if j.Side == sightings.ByProxy && j.Inner == sightings.ByLog && float64(j.Matched) >= .95*float64(j.Traced) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("the proxy's rows are joined with %d logs: %+v", n, all)
	}
	for _, warning := range w.b.Warnings {
		t.Errorf("warning: %s", warning.Text)
	}
}

// TestByKeys has ids in both logs, and so many requests at a time that times alone do not tell them apart.
func TestByKeys(t *testing.T) {
	all := between(5000, 1, 3000)
	for k := range all {
		all[k].key, all[k].route = evidence.KeyOf(fmt.Appendf(nil, "%016x", k*7919+1)), "GET /a"
	}
	w := newWorld(all)
	w.behind = 250e6
	w.proxyLog()
	w.ownLog("app.log", 0)
	j := find(w.join(), sightings.ByProxy, sightings.ByLog)
	if j == nil || j.Keyed != len(all) || magnitude(j.Behind-w.behind) > 10e6 {
		t.Fatalf("joined %+v", j)
	}
	for k := range all {
		if inside := nameOf(w.b, w.proxy[k], evidence.Unobserved, ""); magnitude(inside-(all[k].ended-all[k].began)) > 3*ms {
			t.Fatalf("request %d was %d ns in the service, and took %d there", k, inside, all[k].ended-all[k].began)
		}
	}
}

// TestStrangers has the log of a proxy of another service: neither takes anything of the other.
func TestStrangers(t *testing.T) {
	w := newWorld(between(2000, 1, 100))
	w.proxyLog()
	for k := range w.all {
		q := &w.all[k]
		q.route, q.began, q.ended = "POST /other", q.began+77e6, q.began+80e6
	}
	r := rand.New(rand.NewPCG(8, 9))
	for k := range w.all { // at moments of their own
		at := epoch + r.Int64N(20e9)
		w.all[k].began, w.all[k].ended = at, at+3e6+r.Int64N(50e6)
	}
	w.ownLog("app.log", 0)
	if all := w.join(); len(all) > 0 {
		t.Errorf("joined %+v", all)
	}
	if w.b.Requests.Subject.At(w.own[0]) == w.b.Requests.Subject.At(w.proxy[0]) {
		t.Error("both are taken for one service")
	}
}

// BenchmarkNest joins a proxy's log with the service's own.
func BenchmarkNest(b *testing.B) {
	w := newWorld(between(1_000_000, 1, 1000))
	w.proxyLog()
	w.ownLog("app.log", 0)
	w.b.Unify()
	w.b.Align()
	b.ReportAllocs()
	b.SetBytes(2_000_000)
	for b.Loop() {
		c := w.b.Clone()
		sightings.Unite(c)
		if len(sightings.Join(c)) == 0 {
			b.Fatal("not joined")
		}
	}
}
