package spans

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/format"
)

// dependency sums up the calls of one dependency for the tables.
type dependency struct {
	name         evidence.NameID
	took, server []int64 // ns
	operations   map[evidence.NameID]int
}

func (d *dependency) addCall(s *span, serverNs int64) {
	d.took = append(d.took, s.end-s.start)
	if serverNs >= 0 {
		d.server = append(d.server, serverNs)
	}
	if len(d.operations) < maxServices {
		d.operations[s.operation]++
	}
}

// route sums up the requests of one route.
type route struct {
	service        int32
	name           evidence.NameID
	took           []int64 // ns
	calls          int
	called, pooled int64 // ns
}

func (e *emitter) ensureDependency(name evidence.NameID) *dependency {
	d := e.calls[name]
	if d == nil {
		d = &dependency{name: name, operations: make(map[evidence.NameID]int)}
		e.calls[name] = d
	}
	return d
}

func (e *emitter) ensureRoute(s *span) *route {
	r := e.routes[s.name]
	if r == nil {
		r = &route{service: s.service, name: s.name}
		e.routes[s.name] = r
	}
	return r
}

// shown is how many rows a table has.
const shown = 20

func (e *emitter) finish() {
	b := e.p.b
	from, to := int64(math.MaxInt64), int64(0)
	for i := range e.p.spans {
		from, to = min(from, e.p.spans[i].start), max(to, e.p.spans[i].end)
	}
	for _, n := range e.listServices() {
		for _, kind := range []string{evidence.CoverRequests, evidence.CoverSpans} {
			b.Cover(evidence.Coverage{Subject: e.subjects[n], Kind: kind, From: from, Until: to, Lost: e.p.dropped})
		}
		switch w := e.p.weights; {
		case e.p.weighed > 0 && w > 1.001*float64(e.p.weighed):
			share := float64(e.p.weighed) / w
			b.FactAt(e.subjects[n], evidence.FactSpansSampled, strconv.FormatFloat(share, 'g', 3, 64), share, 0)
		case e.p.sampled:
			b.FactAt(e.subjects[n], evidence.FactSpansSampled, "some", math.NaN(), 0)
		}
	}
	e.emitTables()
	e.emitWarnings()
}

// listServices returns the numbers of the services that have requests, in order.
func (e *emitter) listServices() (all []int32) {
	for n := range e.subjects {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func (e *emitter) emitTables() {
	b := e.p.b
	requests := evidence.Table{Title: "requests: time in calls and local time, means per request",
		Columns: []string{"", "requests", "p50 ms", "p99 ms", "calls", "in calls ms", "for a pool ms", "local ms"}}
	routes := make([]*route, 0, len(e.routes))
	for _, r := range e.routes {
		routes = append(routes, r)
	}
	slices.SortStableFunc(routes, func(x, y *route) int {
		return cmp.Or(cmp.Compare(len(y.took), len(x.took)), cmp.Compare(x.name, y.name))
	})
	for _, r := range routes[:min(shown, len(routes))] {
		n := float64(len(r.took))
		slices.Sort(r.took)
		name := b.Text(r.name)
		if len(e.subjects) > 1 && r.service >= 0 {
			name = e.p.services[r.service].name + ": " + name
		}
		requests.Rows = append(requests.Rows, []string{name, strconv.Itoa(len(r.took)), formatMs(float64(stats.Quantile(r.took, .5))), formatMs(float64(stats.Quantile(r.took, .99))),
			formatNumber(float64(r.calls) / n), formatMs(float64(r.called) / n), formatMs(float64(r.pooled) / n), formatMs((sumInts(r.took) - float64(r.called+r.pooled)) / n)})
	}
	b.Table(requests)
	if len(e.calls) == 0 {
		return
	}
	calls := evidence.Table{Title: "calls: as the caller saw them, and as the callee did",
		Columns: []string{"", "calls", "total s", "mean ms", "p50 ms", "p99 ms", "callee p50 ms", "callee p99 ms", "most often"}}
	dependencies := make([]*dependency, 0, len(e.calls))
	for _, d := range e.calls {
		dependencies = append(dependencies, d)
	}
	slices.SortStableFunc(dependencies, func(x, y *dependency) int {
		return cmp.Or(cmp.Compare(sumInts(y.took), sumInts(x.took)), cmp.Compare(x.name, y.name))
	})
	for _, d := range dependencies[:min(shown, len(dependencies))] {
		slices.Sort(d.took)
		slices.Sort(d.server)
		total := sumInts(d.took)
		row := []string{b.Text(d.name), strconv.Itoa(len(d.took)), formatNumber(total / 1e9), formatMs(total / float64(len(d.took))), formatMs(float64(stats.Quantile(d.took, .5))), formatMs(float64(stats.Quantile(d.took, .99))), "", "", b.Text(d.topOperation())}
		if len(d.server) > 0 {
			row[6], row[7] = formatMs(float64(stats.Quantile(d.server, .5))), formatMs(float64(stats.Quantile(d.server, .99)))
		}
		calls.Rows = append(calls.Rows, row)
	}
	b.Table(calls)
}

// topOperation returns the operation that was asked for most often.
func (d *dependency) topOperation() (best evidence.NameID) {
	for o, n := range d.operations {
		if n > d.operations[best] || n == d.operations[best] && o < best {
			best = o
		}
	}
	return best
}

func (e *emitter) emitWarnings() {
	b, p := e.p.b, e.p
	if p.strange > 0 {
		b.Warnf(p.first, "spans or lines not understood: %d; the first is at line %d", p.strange, p.first)
	}
	if p.dropped > 0 {
		b.Warnf(0, "it holds too many spans: the last %d left out; export a shorter period", p.dropped)
	}
	if e.twice > 0 {
		b.Warnf(0, "%s in it twice and counted once", format.Count(e.twice, "span is", "spans are"))
	}
	if e.nobodys > 0 {
		b.Warnf(0, "%s to no request in the file: the parent spans were not recorded or not exported", format.Count(e.nobodys, "call belongs", "calls belong"))
	}
	switch w := p.weights; {
	case p.weighed > 0 && w > 1.001*float64(p.weighed):
		b.Warnf(0, "its spans are a sample, one in %s requests according to the sampler: rates are those of the sample", formatNumber(w/float64(p.weighed)))
	case p.sampled:
		b.Warnf(0, "its spans are a sample of an unknown share of the requests: rates are those of the sample")
	}
	instances := make(map[string]map[string]bool)
	for _, x := range p.services {
		if instances[x.name] == nil {
			instances[x.name] = make(map[string]bool)
		}
		instances[x.name][x.instance] = true
	}
	for _, n := range e.listServices() {
		if n >= 0 && len(instances[p.services[n].name]) > 1 {
			b.Warnf(0, "spans of %d instances of %s are combined: to compare them with the recording of one process, give only the spans of that process", len(instances[p.services[n].name]), p.services[n].name)
		}
	}
	if len(e.subjects) == 0 {
		b.Warnf(0, "none of its spans is a request: none is of kind SERVER or CONSUMER, and none is without a parent")
	}
}

func sumInts(v []int64) (s float64) {
	for _, x := range v {
		s += float64(x)
	}
	return s
}

func formatMs(ns float64) string { return formatNumber(ns / 1e6) }

func formatNumber(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
