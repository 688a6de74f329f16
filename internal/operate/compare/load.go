package compare

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// Loads count as the same if they differ by no more than this.
const (
	sameOffered  = .02 // of the offered rate
	sameArrivals = .10 // of the rate of requests that were not offered by a generator
	served       = .95 // of the offered rate; below it, a queue grows as long as the run lasts
	sameServed   = .02 // both runs below served, but alike
	sameDuration = .20
	lastAnswer   = time.Second // a run may end with its last response
	sameMix      = .05         // share of requests on other routes
	sameErrors   = .01         // share of requests; failed ones are often fast
	sameOthers   = .15         // share of the host's processors
)

const (
	failedRequests = "failed requests"
	othersCPU      = "the host's CPUs used by other processes"
)

// guard collects how the loads of runs differ, and what is unknown about them.
type guard struct {
	before, after []Run
	inTurn        bool // the sides differ by the change or by chance, so the user need not do anything about it
	differ        []string
	warnings      []string
	// busier is the side on which other processes used more of the host's CPUs, "" neither: what is better there is so in spite of it.
	busier  string // "before", "after"
	crowded string // the difference in words
}

// addDifference notes a difference between the loads, each text once.
func (g *guard) addDifference(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(g.differ, text) {
		g.differ = append(g.differ, text)
	}
}

func (g *guard) addWarning(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(g.warnings, text) {
		g.warnings = append(g.warnings, text)
	}
}

// compareLoads compares the requested load pair by pair, and its result over all runs of a side.
func (g *guard) compareLoads() {
	for i := range min(len(g.before), len(g.after)) {
		if n := len(g.differ); n > 0 {
			break // the next pair would repeat it
		}
		g.comparePlans(&g.before[i].Load, &g.after[i].Load)
	}
	over := g.compareCapacity()
	type figure struct {
		name string
		of   func(*Load) (float64, bool)
		same func(b, a float64) bool
		help string
	}
	for _, f := range []figure{
		{failedRequests, (*Load).Errors, func(b, a float64) bool { return math.Abs(b-a) <= sameErrors },
			": they do different work"},
		{othersCPU, func(l *Load) (float64, bool) {
			if l.Others == nil {
				return 0, false
			}
			return *l.Others, true
		}, func(b, a float64) bool { return math.Abs(b-a) <= sameOthers }, ": measure both on an equally quiet host"},
	} {
		b, known := medianFigure(g.before, f.of)
		a, too := medianFigure(g.after, f.of)
		if known && too && !f.same(b, a) {
			if f.name == failedRequests && over == "before" && b > a { // what serves all of them again does not look better by failing
				g.addWarning("%s %.3g %% before, %.3g %% after: a service over capacity fails some", f.name, 100*b, 100*a)
				continue
			}
			if g.inTurn {
				f.help = ""
			}
			if f.name == othersCPU {
				g.busier = map[bool]string{true: "after", false: "before"}[a > b]
				g.crowded = fmt.Sprintf("%s %.3g %% before, %.3g %% after", f.name, 100*b, 100*a)
			}
			g.addDifference("%s %.3g %% before, %.3g %% after%s", f.name, 100*b, 100*a, f.help)
		}
	}
	g.compareRoutes()
	g.warnOverlap()
	limited := 0
	for _, runs := range [][]Run{g.before, g.after} {
		for _, r := range runs {
			if r.Load.Limited {
				limited++
			}
		}
	}
	if limited > 0 {
		g.addWarning("the load generator did not keep its schedule in %d of %d runs: part of the latency comes from the generator; use a lower rate, or run it on another machine",
			limited, len(g.before)+len(g.after))
	}
}

// compareCapacity compares the served parts of the offered rates. Where latency counts from the intended time,
// latencies show that a service is over capacity, so that is only a warning. Otherwise, or where the generator
// could not keep up, the loads differ. It returns the side that was over capacity by itself: before, after or "".
func (g *guard) compareCapacity() string {
	b, known := medianFigure(g.before, (*Load).servedShare)
	a, too := medianFigure(g.after, (*Load).servedShare)
	if !known || !too || b >= served && a >= served || math.Abs(b-a) <= sameServed {
		return ""
	}
	less, name := g.before, "before"
	if a < b {
		less, name = g.after, "after"
	}
	intended, limited := 0, 0
	for _, r := range less {
		if r.Load.LatencyFrom == "intended" {
			intended++
		}
		if r.Load.Limited {
			limited++
		}
	}
	if intended == len(less) && 2*limited <= len(less) {
		g.addWarning("%.3g %% of the offered requests were served before, %.3g %% after: the service was over capacity %s the change, so its per-second figures there cover fewer requests", 100*b, 100*a, name)
		return name
	}
	g.addDifference("%.3g %% of the offered requests were served before, %.3g %% after: one of them was over capacity; use a rate that both can serve", 100*b, 100*a)
	return ""
}

// comparePlans compares the planned loads of the two runs of a pair.
func (g *guard) comparePlans(b, a *Load) {
	if x, y := Path(b.URL), Path(a.URL); x != "" && y != "" && x != y {
		g.addDifference("path %s before, %s after", x, y)
	}
	if b.Mode != "" && a.Mode != "" && b.Mode != a.Mode {
		g.addDifference("%s loop before, %s loop after", b.Mode, a.Mode)
		return // the mode determines the rest
	}
	if b.LatencyFrom != "" && a.LatencyFrom != "" && b.LatencyFrom != a.LatencyFrom {
		g.addDifference("latency is measured from %s before, from %s after", formatLatencyFrom(b.LatencyFrom), formatLatencyFrom(a.LatencyFrom))
	}
	switch {
	case b.Offered > 0 && a.Offered > 0:
		if !isWithinShare(b.Offered, a.Offered, sameOffered) {
			g.addDifference("offered rate %s before, %s after", formatRate(b.Offered), formatRate(a.Offered))
		}
	case b.Arrivals && a.Arrivals && b.Rate > 0 && a.Rate > 0:
		if !isWithinShare(b.Rate, a.Rate, sameArrivals) {
			g.addDifference("%s requests before, %s after", formatRate(b.Rate), formatRate(a.Rate))
		} else {
			g.addWarning("the load was not controlled; the runs may differ")
		}
	case b.isKnown() != a.isKnown():
		g.addWarning("the load is known for one side only")
	case b.Mode != "closed" && a.Mode != "closed" && b.isKnown():
		g.addWarning("the offered rate of one side is unknown")
	}
	if b.Connections > 0 && a.Connections > 0 && b.Connections != a.Connections && (b.Mode == "closed" || a.Mode == "closed") {
		g.addDifference("%d connections before, %d after", b.Connections, a.Connections)
	}
	if b.Duration > 0 && a.Duration > 0 && !isWithinShare(b.Duration.Seconds(), a.Duration.Seconds(), sameDuration) && (b.Duration-a.Duration).Abs() > lastAnswer {
		g.addDifference("%s before, %s after", b.Duration.Round(100*time.Millisecond), a.Duration.Round(100*time.Millisecond))
	}
}

// compareRoutes compares the shares of the routes among the requests.
func (g *guard) compareRoutes() {
	mix := func(runs []Run) map[string]float64 {
		var all map[string]float64
		n := 0.
		for _, r := range runs {
			if len(r.Load.Routes) == 0 {
				continue
			}
			if all == nil {
				all = make(map[string]float64)
			}
			n++
			for route, share := range r.Load.Routes {
				all[route] += share
			}
		}
		for route := range all {
			all[route] /= n
		}
		return all
	}
	b, a := mix(g.before), mix(g.after)
	if b == nil || a == nil {
		return
	}
	var apart, most float64
	var which string
	for _, route := range mergeKeys(b, a) {
		d := math.Abs(b[route] - a[route])
		apart += d / 2
		if d > most { // the first by name if equal
			most, which = d, route
		}
	}
	if apart > sameMix {
		g.addDifference("%.0f %% of the requests go to different routes: %s was %.0f %% before, %.0f %% after", 100*apart, which, 100*b[which], 100*a[which])
	}
}

// mergeKeys returns the keys of both maps, sorted, each once.
func mergeKeys(a, b map[string]float64) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// warnOverlap warns about runs that were made at the same time: on one host they compete for CPUs.
func (g *guard) warnOverlap() {
	for _, b := range g.before {
		for _, a := range g.after {
			if b.Name == a.Name && b.Name != "" && b.Start.Equal(a.Start) {
				g.addWarning("%s was given for both sides", b.Name)
				return
			}
			if b.Start.IsZero() || a.Start.IsZero() || b.Load.Duration <= 0 || a.Load.Duration <= 0 {
				continue
			}
			overlap := min(b.Start.Add(b.Load.Duration).UnixNano(), a.Start.Add(a.Load.Duration).UnixNano()) - max(b.Start.UnixNano(), a.Start.UnixNano())
			if overlap > int64(min(b.Load.Duration, a.Load.Duration))/10 {
				g.addWarning("%s and %s were measured at the same time: on one host they compete for CPUs", b.Name, a.Name)
				return
			}
		}
	}
}

// isLoadUnknown says whether a side has no run whose load is known.
func (g *guard) isLoadUnknown() bool {
	none := func(runs []Run) bool {
		return !slices.ContainsFunc(runs, func(r Run) bool { return r.Load.isKnown() })
	}
	return none(g.before) || none(g.after)
}

// medianFigure returns the median of a figure over the runs that have it; false if there are none.
func medianFigure(runs []Run, of func(*Load) (float64, bool)) (float64, bool) {
	var v []float64
	for i := range runs {
		if x, ok := of(&runs[i].Load); ok {
			v = append(v, x)
		}
	}
	return stats.Median(v), len(v) > 0
}

// Path returns the path of a URL, ending with a slash. Host and port are dropped, as they differ
// between two services that both run.
func Path(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	return strings.TrimSuffix(u.Path, "/") + "/"
}

func isWithinShare(a, b, part float64) bool { return math.Abs(a-b) <= part*max(a, b) }

func formatRate(v float64) string { return units.Num(v) + "/s" }

func formatLatencyFrom(s string) string {
	switch s {
	case "intended":
		return "the scheduled send time"
	case "send":
		return "the actual send time"
	case "server":
		return "the start of service"
	}
	return s
}
