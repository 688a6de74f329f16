package timeline

import (
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// grid is a span of time in equal cells.
type grid struct {
	from, width int64
	n           int
}

// steps are the usual widths of cells, in ns.
var steps = []int64{1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 2e9, 5e9, 10e9, 30e9, 60e9, 120e9, 300e9, 600e9, 1800e9, 3600e9}

// newGrid divides a span into at most that many cells, none narrower than least.
func newGrid(from, to, least int64, most int) grid {
	width := max(1, (to-from)/int64(most)+1, least)
	for _, s := range steps {
		if s >= width {
			width = s
			break
		}
	}
	return grid{from: from, width: width, n: int((to-from)/width) + 1}
}

func (g grid) cellAt(t int64) int { return int(min(max(0, (t-g.from)/g.width), int64(g.n-1))) }

// spreadTime adds the time of [from, to) to the cells it lies in.
func (g grid) spreadTime(cells []float64, from, to int64, weight float64) {
	from, to = max(from, g.from), min(to, g.from+int64(g.n)*g.width)
	for from < to {
		k := g.cellAt(from)
		end := min(to, g.from+int64(k+1)*g.width)
		cells[k] += float64(end-from) * weight
		from = end
	}
}

// addRequestCharts counts the requests of the source that heads the report: how many began each
// second, how many of them failed, and how many were under way.
func (l *layout) addRequestCharts() {
	if len(l.sources) == 0 || !l.sources[0].placed {
		l.addSeriesChart("concurrency", "requests under way", "1", false, figures{{evidence.SeriesRequestsInFlight, "server", "as the server counts them"}})
		return
	}
	s := &l.sources[0]
	r := &l.b.Requests
	const most = 1000
	resolution := l.b.Clocks[s.clock].Resolution
	g := newGrid(s.from, s.to, max(resolution, 50e6), most)
	began, failed := make([]float64, g.n), make([]float64, g.n)
	starts, ends := make([]int64, 0, s.count), make([]int64, 0, s.count)
	for i := range r.Len() {
		if r.Subject.At(i) != l.subject || !r.Timed(i) {
			continue
		}
		a, ok := r.Origin.At(i).Artifact()
		if !ok || l.of[a] != 0 || l.isDuplicateOfHead(a) {
			continue
		}
		at := r.End.At(i) - r.Latency(i)
		k := g.cellAt(at)
		began[k]++
		if o := r.Outcome.At(i); o == evidence.Failed || o == evidence.TimedOut {
			failed[k]++
		}
		starts, ends = append(starts, at), append(ends, r.End.At(i))
	}
	rate := Chart{ID: "rate", Title: "requests started", Unit: "1/s"}
	rate.addCurve(g.curveOf("begun", "begun", s.name, began, 1e9/float64(g.width), s.to))
	for _, v := range failed {
		if v > 0 {
			rate.addCurve(g.curveOf("failed", "failed", s.name, failed, 1e9/float64(g.width), s.to))
			break
		}
	}
	l.addChart(rate)

	flight := Curve{ID: "requests", Title: "under way", Source: s.name}
	flight.T, flight.V, flight.Max = g.underWay(starts, ends, s.to)
	chart := Chart{ID: "concurrency", Title: "requests under way", Unit: "1"}
	chart.addCurve(flight)
	clients := Curve{ID: "clients", T: []int64{s.from, s.to}}
	together := 0.
	for _, x := range l.b.Loads {
		if a, ok := x.Origin.Artifact(); ok && x.Connection > 0 && l.of[a] == 0 {
			if together == 0 {
				clients.Title, clients.Source = "clients of "+x.Tool, l.originName(x.Origin)
			}
			together += float64(x.Connection)
		}
	}
	if together > 0 {
		clients.V = []float64{together, together}
		chart.addCurve(clients)
	}
	for _, s := range l.findSeries(evidence.SeriesRequestsInFlight) {
		chart.addCurve(l.buildCurve("server", "as the server counts them", s))
	}
	l.addChart(chart)
}

// underWay counts the requests that began and have not ended: for each cell the mean over time, up
// to when the last one ended, and the highest. It sorts its arguments. A request that ends when
// another begins is not under way with it.
func (g grid) underWay(starts, ends []int64, to int64) (t []int64, mean, highest []float64) {
	slices.Sort(starts)
	slices.Sort(ends)
	t, mean, highest = make([]int64, g.n), make([]float64, g.n), make([]float64, g.n)
	now, i, j := 0, 0, 0
	for k := range g.n {
		from := g.from + int64(k)*g.width
		end := from + g.width
		if k == g.n-1 {
			end = max(from+1, min(end, to))
		}
		t[k] = from
		var sum float64
		for at := from; at < end; {
			for j < len(ends) && ends[j] <= at {
				now, j = now-1, j+1
			}
			for i < len(starts) && starts[i] <= at {
				now, i = now+1, i+1
			}
			next := end
			if j < len(ends) {
				next = min(next, ends[j])
			}
			if i < len(starts) {
				next = min(next, starts[i])
			}
			highest[k] = max(highest[k], float64(now))
			sum += float64(now) * float64(next-at)
			at = next
		}
		mean[k] = sum / float64(end-from)
	}
	return t, mean, highest
}

// curveOf returns a curve of cells, and scales up the last one if the time ends within it.
func (g grid) curveOf(id, title, source string, cells []float64, factor float64, to int64) Curve {
	c := Curve{ID: id, Title: title, Source: source, T: make([]int64, g.n), V: make([]float64, g.n)}
	for k, v := range cells {
		c.T[k], c.V[k] = g.from+int64(k)*g.width, v*factor
	}
	if last := g.n - 1; to > c.T[last] && to-c.T[last] < g.width && to-c.T[last] > g.width/4 {
		c.V[last] *= float64(g.width) / float64(to-c.T[last])
	}
	return c
}

// tracedSpans returns the parts of the timeline that traces cover, the traces' names, and their
// sources.
func (l *layout) tracedSpans() (watched spans, name string, of map[int]bool) {
	of = make(map[int]bool)
	var artifacts []evidence.ArtifactID
	for _, c := range l.b.Coverage {
		a, ok := c.Origin.Artifact()
		if ok && c.Subject == l.subject && c.Kind == evidence.CoverStates && c.Until > c.From && l.placed[c.Clock] && l.of[a] >= 0 {
			watched.add(span{c.From, c.Until})
			artifacts = append(artifacts, a)
			of[l.of[a]] = true
		}
	}
	return watched, l.nameOf(artifacts), of
}

// tracedGrid divides the time that traces cover into cells.
func tracedGrid(watched spans) grid {
	return newGrid(watched[0].from, watched[len(watched)-1].to, 10e6, MaxCurve/2)
}

// perSecond returns a curve in ms/s of the ns in cells, NaN where no trace watched.
func (g grid) perSecond(id, title, source string, cells, looked []float64) Curve {
	c := Curve{ID: id, Title: title, Source: source}
	for k, v := range cells {
		x := math.NaN()
		if looked[k] >= float64(g.width)/20 {
			x = v / looked[k] * 1e3
		}
		if n := len(c.V); n > 0 && math.IsNaN(x) && math.IsNaN(c.V[n-1]) {
			continue
		}
		c.T, c.V = append(c.T, g.from+int64(k)*g.width), append(c.V, x)
	}
	return c
}

// addAssistChart adds the time requests spent marking for the collector, or waiting until they may
// allocate, in ms each second.
func (l *layout) addAssistChart() {
	watched, name, of := l.tracedSpans()
	if len(watched) == 0 {
		return
	}
	g := tracedGrid(watched)
	looked := make([]float64, g.n)
	for _, w := range watched {
		g.spreadTime(looked, w.from, w.to, 1)
	}
	marking, waiting := make([]float64, g.n), make([]float64, g.n)
	r := &l.b.Requests
	for i := range r.Len() {
		a, ok := r.Origin.At(i).Artifact()
		if r.Subject.At(i) != l.subject || !ok || l.of[a] < 0 || !of[l.of[a]] || l.isDuplicateOfHead(a) || r.Begins(i) == 0 {
			continue
		}
		at := r.Begins(i)
		for s := range r.Path(i).All {
			switch s.Kind {
			case evidence.GCAssist, evidence.GCSweep:
				g.spreadTime(marking, at, at+s.Dur, 1)
			case evidence.GCAssistWait, evidence.GCWait:
				g.spreadTime(waiting, at, at+s.Dur, 1)
			}
			at += s.Dur
		}
	}
	if !slices.ContainsFunc(append(marking, waiting...), func(v float64) bool { return v > 0 }) {
		return
	}
	c := Chart{ID: "assist", Title: "requests helping GC", Unit: "ms/s", Stacked: true}
	c.addCurve(g.perSecond("assist", "mark assist", name, marking, looked))
	c.addCurve(g.perSecond("assist-wait", "assist, waiting", name, waiting, looked))
	if highestValue(&c) < leastDrawn {
		return
	}
	l.addChart(c)
}

// leastDrawn is the number of requests at a time (ms/s) that a curve reaches at least: a thousandth of a request is seen on no axis.
const leastDrawn = 1

// chartedRoutes are the routes with a chart of their slow requests, if there is more than one.
const chartedRoutes = 6

// addMechanismCharts adds what the slow requests' time went into over time: of all of them, and of
// each route that lost much.
func (l *layout) addMechanismCharts() {
	if l.ledger == nil || len(l.ledger.Slow) == 0 || !l.sources[l.of[l.ledger.Source]].placed {
		return
	}
	if len(l.ledger.Entries) == 1 && l.ledger.Entries[0].Mechanism == ledger.Unobserved {
		return // a single route needs no chart of its own
	}
	s := &l.sources[l.of[l.ledger.Source]]
	g := newGrid(l.ledger.From, l.ledger.To, 10e6, 500)
	if l.ledger.To <= l.ledger.From {
		g = newGrid(s.from, s.to, 10e6, 500)
	}
	var all spent
	of := make(map[evidence.NameID]*spent)
	if charted := l.t.Routes[:min(len(l.t.Routes), chartedRoutes)]; len(l.t.Routes) > 1 {
		for i := range charted {
			if id := l.b.Names.Lookup(charted[i].Name); id != 0 {
				of[id] = new(spent)
			}
		}
	}
	for _, row := range l.ledger.Slow {
		route := of[l.b.Requests.Route.At(row)]
		l.ledger.Walk(row, func(at int64, x evidence.Segment, charges *ledger.Charges) {
			for m, v := range charges {
				if v == 0 {
					continue
				}
				all.addTime(g, m, at, x.Dur, v)
				if route != nil {
					route.addTime(g, m, at, x.Dur, v)
				}
			}
		})
	}
	l.addMechanismChart("", &all, g)
	for i := range l.t.Routes {
		if x := of[l.b.Names.Lookup(l.t.Routes[i].Name)]; x != nil {
			l.addMechanismChart(l.t.Routes[i].Name, x, g)
		}
	}
}

// spent is time (ns) by mechanism in cells of time.
type spent [ledger.NumMechanisms][]float64

func (c *spent) addTime(g grid, m int, at, dur, v int64) {
	if c[m] == nil {
		c[m] = make([]float64, g.n)
	}
	g.spreadTime(c[m], at, at+dur, float64(v)/float64(dur))
}

// addMechanismChart adds the chart of what slow requests' time went into: of a route, "" for all.
func (l *layout) addMechanismChart(route string, cells *spent, g grid) {
	c := Chart{ID: "slow", Title: "slow requests, by what they did or waited for", Unit: "ms/s", Stacked: true, Route: route}
	for _, e := range l.mechanismOrder() {
		if v := cells[e]; v != nil && slices.Max(v)*1e3/float64(g.width) >= leastDrawn {
			c.addCurve(g.curveOf(e.String(), l.ledger.TitleOf(e, l.laneNoun()), l.b.Artifacts[l.ledger.Source].Name, v, 1e3/float64(g.width), l.ledger.To))
		}
	}
	l.addChart(c)
}

// mechanismOrder returns the mechanisms as the ledger lists them, by their total cost.
func (l *layout) mechanismOrder() (out []ledger.Mechanism) {
	seen := make(map[ledger.Mechanism]bool)
	for _, e := range l.ledger.Entries {
		if !seen[e.Mechanism] {
			seen[e.Mechanism] = true
			out = append(out, e.Mechanism)
		}
	}
	for m := range ledger.NumMechanisms {
		if !seen[m] {
			out = append(out, m)
		}
	}
	return out
}
