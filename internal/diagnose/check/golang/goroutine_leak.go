package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GoroutineLeak is goroutines that start and never end.
var GoroutineLeak = check.Check{
	ID:    "go.goroutine-leak",
	Title: "goroutines are started but never end",
	Step:  check.StepRest,
	Doc: `A goroutine that waits for an event that never happens stays forever, with its stack and
everything it references: a send on a channel whose reader left after a timeout, a
reader of a channel that is never closed, a missing cancel(). Their number grows with
the traffic; memory, and GC marking (stacks are roots) grow with them.

How to tell it from similar problems: a pool of workers or idle connections is large but
does not grow; under overload goroutines pile up too, but they run or wait for a CPU and
go away with the load. A leak grows at one creation site and one wait, while requests
come and go.

What helps: give every goroutine an end: context with cancel, a buffered channel for a
result that may never be read, a select with the context's Done.`,
	Least: fmt.Sprintf("%v more goroutines at one place and 20 %% more than before, in two profiles or left over in a trace, and more in total; by their number alone, %v and 50 %% more over a minute and three readings, none of them lower than the one before; in one dump, %v at one place that wait in vain to send, since %v moments",
		leakCount, countedMore, inVain, inVainSince),
	Thresholds: []check.Threshold{inVain, inVainSince, inVainFor, countedFor, countedGrowth, countedLooks, countedMore, leakCount, leakGrowth, perRequest, steady, check.Material,
		check.MinRequests, check.SlowShare, check.SomeSlow},

	Needs:   "two goroutine profiles some time apart, or an execution trace",
	Applies: isGo,
	Judge:   judgeLeak,
}

// profile is one goroutine profile: the number of goroutines by where they started and where they wait.
type profile struct {
	at     int64
	total  int64
	sites  map[string]int64
	origin evidence.Origin
}

func goroutineProfiles(c *check.Case) []profile {
	kind := c.Bundle.Names.Lookup("goroutine")
	if kind == 0 {
		return nil
	}
	byArtifact := make(map[evidence.ArtifactID]*profile)
	s := &c.Bundle.Samples
	for i := range s.Len() {
		if s.Type[i] != kind || s.Subject[i] != c.Subject && !isAnonymous(c, s.Subject[i]) {
			continue
		}
		a, _ := s.Origin[i].Artifact()
		p := byArtifact[a]
		if p == nil {
			p = &profile{sites: make(map[string]int64), origin: check.From(a)}
			byArtifact[a] = p
			for _, w := range c.Bundle.Covered(-1, evidence.CoverGoroutines) {
				if o, ok := w.Origin.Artifact(); ok && o == a {
					p.at = w.Until
				}
			}
		}
		p.total += s.Value[i]
		p.sites[siteName(c, s.Stack[i])] += s.Value[i]
	}
	var out []profile
	for _, p := range byArtifact {
		out = append(out, *p)
	}
	sorting.Short(out, func(a, b profile) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.origin, b.origin)) })
	return out
}

// isAnonymous says whether a subject may be the case's own, as the bundle could not tell them
// apart.
func isAnonymous(c *check.Case, s evidence.SubjectID) bool {
	return c.Bundle.Agree(c.Bundle.Subjects[s], c.Bundle.Subjects[c.Subject])
}

// siteName names where a goroutine waits and where its function is from.
func siteName(c *check.Case, stack evidence.StackID) string {
	frames := c.Bundle.Stacks.Frames(stack)
	if len(frames) == 0 {
		return threads.Nameless
	}
	root := c.Bundle.Names.Text(frames[len(frames)-1].Func)
	for _, f := range frames {
		if name := c.Bundle.Names.Text(f.Func); !internalFrame(name) {
			if name == root {
				return root
			}
			return name + startedAs + root + ")"
		}
	}
	return root
}

const startedAs = " (started as "

// rootOf returns the function that goroutines at a site were started with.
func rootOf(site string) string {
	if _, root, ok := strings.Cut(site, startedAs); ok {
		return strings.TrimSuffix(root, ")")
	}
	return site
}

// internalFrame reports whether a function belongs to the runtime or to packages that implement waiting.
func internalFrame(f string) bool {
	for _, p := range []string{"runtime.", "internal/", "sync.", "time.", "syscall.", "sync/atomic."} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// Growth at one place from which goroutines leak: a fifth more, and at least as many as the usual fluctuation of a busy
// service.
var (
	leakGrowth = check.Threshold{Name: "growth of goroutines at one place", Value: 1.2, Unit: "times",
		Why: "less is a busy service's coming and going", Source: "Poisson: three standard deviations where 225 come and go (3·√225 is 45, 20 %)"}
	leakCount = check.Threshold{Name: "goroutines more at one place", Value: 50, Unit: "count",
		Why: "less is a busy service's coming and going", Source: "Poisson: three standard deviations where 280 come and go (3·√280)"}
)

var steady = check.Threshold{Name: "part of goroutines left over that are of a trace's first half", Value: .25, Unit: "1",
	Why: "a steady pace leaves a half there, work in progress hardly any", Source: "arithmetic: half of a half"}

// twoProfiles asks for two profiles, which show whether goroutines pile up.
var twoProfiles = check.Need{What: "two goroutine profiles a minute apart",
	Command: "curl -o g1.pb.gz 'http://HOST:PORT/debug/pprof/goroutine'; sleep 60; curl -o g2.pb.gz 'http://HOST:PORT/debug/pprof/goroutine'"}

func judgeLeak(c *check.Case) check.Verdict {
	profiles := goroutineProfiles(c)
	if len(profiles) >= 2 {
		return judgeLeakByProfiles(c, profiles)
	}
	if v, ok := judgeLeakByTrace(c); ok {
		return v
	}
	if v, ok := judgeLeakByCount(c); ok {
		return v
	}
	if v, ok := judgeLeakByAges(c); ok {
		return v
	}
	v := check.Verdict{Rule: check.NotRecorded, Summary: "the number of goroutines over time was not recorded",
		Needs: []check.Need{twoProfiles}}
	if len(profiles) == 1 {
		v.Summary = fmt.Sprintf("%d goroutines in one profile: a second one is needed to show growth", profiles[0].total)
	}
	return v
}

func judgeLeakByProfiles(c *check.Case, profiles []profile) check.Verdict {
	first, last := profiles[0], profiles[len(profiles)-1]
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("all goroutines: %s → %s", units.Count(first.total), units.Count(last.total))}
	v.Evidence = append(v.Evidence,
		c.Figure("goroutines.first", "goroutines in the first profile", float64(first.total), "count", first.origin),
		c.Figure("goroutines.last", "goroutines in the last profile", float64(last.total), "count", last.origin))
	var worst string
	var grown int64
	for s, n := range last.sites {
		if d := n - first.sites[s]; d > grown || d == grown && s < worst {
			worst, grown = s, d
		}
	}
	v.Weigh(float64(grown), leakCount)
	if last.total <= first.total {
		if grown >= leakCount.Int64() { // goroutines moved from other places
			v.Rule = check.Explained
		}
		return v
	}
	if before := first.sites[worst]; before > 0 {
		v.Weigh(float64(last.sites[worst])/float64(before), leakGrowth)
	}
	if grown < leakCount.Int64() || float64(last.sites[worst]) < leakGrowth.Value*float64(first.sites[worst]) {
		if grown > 0 {
			v.Summary += fmt.Sprintf(", at most %s more at one place, which may come and go with requests", units.Count(grown))
		}
		return v
	}
	serves := servingSites(c)
	var more int64 // growth of serving goroutines
	for s, n := range last.sites {
		if serves(s) {
			more += n - first.sites[s]
		}
	}
	if busy := serves(worst); busy || more >= leakCount.Int64() && float64(grown) <= perRequest.Value*float64(more) {
		v.Rule = check.ByDesign
		v.Summary = fmt.Sprintf("%d more goroutines serve connections: this is load, not a leak, unless they stay", grown)
		if !busy {
			v.Summary = fmt.Sprintf("%d more goroutines in %s, while %d more serve connections: this is load, not a leak, unless they stay", grown, worst, more)
		}
		v.Needs = []check.Need{{What: "a third goroutine profile, taken after the load has gone"}}
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Goroutines pile up in %s: %s → %s.", worst, units.Count(first.sites[worst]), units.Count(last.sites[worst]))
	v.Evidence = append(v.Evidence, c.Figure("goroutines.more_at", "more goroutines in "+worst, float64(grown), "count", last.origin))
	if dt := float64(last.at-first.at) / 1e9; first.at != 0 && dt > 0 {
		v.Evidence = append(v.Evidence, c.Figure("goroutines.growth_per_s", "growth of their number", float64(grown)/dt, "1/s", last.origin))
	}
	v.Fix = leakFix(worst)
	leakCost(c, &v, worst)
	return v
}

// leakCost adds the cost of leaked goroutines for requests if they do more than wait: the CPUs that their work keeps busy. The
// collector, which marks them again each time, is another cause.
func leakCost(c *check.Case, v *check.Verdict, site string) {
	if !c.Traced() || !c.Slow() || c.Share(ledger.BackgroundCPU) < check.Material.Value {
		return
	}
	for _, w := range c.Background() {
		if w.Function == "" || !strings.HasPrefix(site, w.Function) && !strings.Contains(site, "started as "+w.Function) {
			continue
		}
		per := make([]int64, len(c.Ledger.Slow))
		for n, row := range c.Ledger.Slow {
			ch := c.Ledger.Of(row)
			per[n] = int64(w.Share * float64(ch[ledger.BackgroundCPU]))
		}
		v.Saves = c.Save(per, -1, -1)
		v.Evidence = append(v.Evidence, c.Figure("work.background_site_share", "share of the service's background work in "+w.Name(), w.Share, "1", w.Origin))
		return
	}
}

var perRequest = check.Threshold{Name: "goroutines at one place for each that serves", Value: 1.5, Unit: "times",
	Why: "a time limit runs the handler on one more", Source: "arithmetic: midway between one for each request and two"}

// serving are functions with which goroutines start that serve connections, directly or for a library. From Go 1.22 on a goroutine begins with a wrapper
// that is named by what starts it: net/http.(*Server).Serve.gowrap3.
var serving = []string{"net/http.(*conn).", "net/http.(*Server).Serve.", "net/http.(*Transport).dialConn.", "net/http.(*persistConn).", "net/http.(*connReader).", "net/http.(*http2serverConn).", "net/http.(*timeoutHandler).",
	"golang.org/x/net/http2.(*serverConn).", "google.golang.org/grpc", "github.com/valyala/fasthttp", "net/rpc."}

// servingSites returns a function that says whether goroutines at a site serve connections: they
// run known server code, or code that requests of this process were seen in.
func servingSites(c *check.Case) func(site string) bool {
	roots := make(map[string]bool)
	r := &c.Bundle.Requests
	known := make(map[evidence.StackID]bool)
	for i := range r.Len() {
		if r.Subject.At(i) != c.Subject {
			continue
		}
		for s := range r.Path(i).All {
			if s.Lane != 0 || s.Stack == 0 || known[s.Stack] {
				continue
			}
			known[s.Stack] = true
			frames := c.Bundle.Stacks.Frames(s.Stack)
			roots[c.Bundle.Names.Text(frames[len(frames)-1].Func)] = true
		}
	}
	return func(site string) bool {
		root := rootOf(site)
		return roots[root] || slices.ContainsFunc(serving, func(p string) bool { return strings.HasPrefix(root, p) })
	}
}

// keptFor are functions in which goroutines wait for a pooled connection, with what keeps the connections' users from
// returning them.
var keptFor = []struct{ at, fix string }{
	{"net/http.(*Transport).getConn", "these goroutines wait for a connection to one host, and the holders do not return theirs: close the body of every response, of errors, too, and set a timeout (http.Client.Timeout)"},
	{"database/sql.(*DB).conn", "these goroutines wait for a connection of the pool, and the holders do not return theirs: close rows and statements, and end each transaction on every path"},
	{"github.com/jackc/puddle/", "these goroutines wait for a connection of the pool, and the holders do not return theirs: close rows, release connections, and end each transaction on every path"},
	{"github.com/gomodule/redigo/redis.(*Pool).", "these goroutines wait for a connection of the pool, and the holders do not return theirs: close each on every path"},
}

func leakFix(site string) []check.Fix {
	for _, k := range keptFor {
		if strings.HasPrefix(site, k.at) {
			return []check.Fix{{Text: k.fix, Code: site}}
		}
	}
	return []check.Fix{{Text: "make this goroutine end: a context that is cancelled, a select on Done, or a buffered channel for a result that may never be read", Code: site}}
}

func judgeLeakByTrace(c *check.Case) (check.Verdict, bool) {
	f, ok := c.Bundle.Fact(c.Subject, evidence.FactGoroutinesLeft)
	if !ok {
		return check.Verdict{}, false
	}
	requests := 0
	if c.Ledger != nil {
		requests = len(c.Ledger.Rows)
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("no leak: at most %s with the same stack left waiting at the end", units.Plural(int(f.Number), "goroutine"))}
	v.Weigh(f.Number, leakCount)
	v.Evidence = append(v.Evidence, c.Figure("goroutines.left_waiting", "goroutines started during the trace and still waiting at its end, largest group", f.Number, "count", f.Origin))
	if f.Number < leakCount.Value {
		return v, true
	}
	if servingSites(c)(f.Value) {
		v.Rule = check.Explained
		return v, true
	}
	if open := underWay(c, f); open > 0 && f.Number <= perRequest.Value*float64(open) {
		v.Rule = check.Explained
		v.Summary += fmt.Sprintf(", with %s in flight", units.Plural(open, "request"))
		return v, true
	}
	// A leak leaves goroutines at a steady pace all through the trace; work in progress leaves only new ones.
	early, known := c.Bundle.Fact(c.Subject, evidence.FactGoroutinesLeftEarly)
	if !known {
		v.Rule, v.Needs = check.NotRecorded, []check.Need{twoProfiles}
		v.Summary = fmt.Sprintf("%.0f goroutines still waiting at the end; when they were started was not recorded", f.Number)
		return v, true
	}
	v.Evidence = append(v.Evidence, c.Figure("goroutines.left_waiting_long", "of these, started in the first half of the trace", early.Number, "count", f.Origin))
	v.Weigh(early.Number/f.Number, steady)
	if early.Number < steady.Value*f.Number {
		v.Summary += ", and nearly all had just started"
		return v, true
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Goroutines are started but do not end: %s.", f.Value)
	v.Summary = fmt.Sprintf("%.0f still waiting at the end, after %s", f.Number, units.Plural(requests, "request"))
	v.Fix = leakFix(f.Value)
	v.Needs = []check.Need{{What: "whether they ever end: " + twoProfiles.What, Command: twoProfiles.Command}}
	return v, true
}

// underWay counts the requests in flight at the end of a fact's trace.
func underWay(c *check.Case, f evidence.Fact) (n int) {
	r := &c.Bundle.Requests
	a, _ := f.Origin.Artifact()
	for i, o := range r.Outcome.All() {
		if from, ok := r.Origin.At(i).Artifact(); ok && from == a && o == evidence.Unfinished && r.End.At(i) >= f.Until {
			n++
		}
	}
	return n
}

// A count that only grows over some readings is a leak, or requests that pile up. The thresholds are the number of readings,
// the total growth, and the growth in goroutines.
var (
	countedFor = check.Threshold{Name: "time over which the number of goroutines was read", Value: 60e9, Unit: "ns",
		Why: "a burst of requests passes within it", Source: "nginx, proxy_read_timeout: 60 s by default; clients of these requests have given up"}
	countedLooks = check.Threshold{Name: "readings of the number of goroutines", Value: 3, Unit: "count",
		Why: "two are a line through anything", Source: "arithmetic: a line goes through any two points"}
	countedGrowth = check.Threshold{Name: "growth of the number of goroutines", Value: 1.5, Unit: "times",
		Why: "a rise in traffic makes less", Source: "judgement: as a rise of traffic that is named (service.traffic-surge)"}
	countedMore = check.Threshold{Name: "goroutines more in all", Value: 500, Unit: "count",
		Why: "a rise in traffic makes less", Source: "judgement: ten times what counts where stacks tell the place, as the number alone does not"}
)

// judgeLeakByCount judges by the number of goroutines alone, as metrics report it.
func judgeLeakByCount(c *check.Case) (v check.Verdict, ok bool) {
	n := c.Series(evidence.SeriesGoGoroutines)
	if n == nil {
		return v, false
	}
	first, last := n.V[0], n.V[len(n.V)-1]
	v = check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("%.0f goroutines at one moment: a second count is needed to show growth", last), Needs: []check.Need{twoProfiles}}
	if len(n.V) < 2 {
		return v, true
	}
	v.Summary = fmt.Sprintf("%.0f → %.0f goroutines", first, last)
	v.Evidence = append(v.Evidence, c.Figure("goroutines.first", "goroutines at the first reading", first, "count", n.Origin), c.Figure("goroutines.last", "goroutines at the last reading", last, "count", n.Origin))
	for i := 1; i < len(n.V); i++ {
		if n.V[i] < n.V[i-1] {
			return v, true
		}
	}
	if len(n.V) < countedLooks.Int() || last < countedGrowth.Value*first || last-first < countedMore.Value || n.T[len(n.T)-1]-n.T[0] < countedFor.Int64() {
		return v, true
	}
	v.Rule = check.Matters
	v.Weigh(last/max(1, first), countedGrowth)
	v.Weigh(last-first, countedMore)
	v.Title = fmt.Sprintf("Goroutines probably leak: %.0f → %.0f, and their number never falls.", first, last)
	if s := float64(n.T[len(n.T)-1]-n.T[0]) / 1e9; s > 0 {
		v.Evidence = append(v.Evidence, c.Figure("goroutines.growth_per_s", "growth of their number", (last-first)/s, "1/s", n.Origin))
	}
	v.Fix = []check.Fix{{Text: "find where they are started and wait, with two goroutine profiles, and give each an end: a context that is cancelled, a select on Done, or a buffered channel"}}
	return v, true
}

// Goroutines that wait to send are not idle, as those are that wait to receive: each has a result that is not taken. If they have begun to wait at many
// moments, and have done so for long, such goroutines keep coming and none of them ends.
var (
	inVain = check.Threshold{Name: "goroutines at one place that wait to send, by one dump", Value: 10, Unit: "count",
		Why: "a few may be senders behind a slow receiver", Source: "judgement: weighs senders of which a receiver takes one at a time against results that are never taken; excerpts of reports show few"}
	inVainSince = check.Threshold{Name: "different lengths of their waits, in whole minutes", Value: 5, Unit: "count",
		Why: "senders that a receiver left all at once began to wait in the same minute", Source: "arithmetic: half of them"}
	inVainFor = check.Threshold{Name: "longest wait to send", Value: 3600e9, Unit: "ns",
		Why: "a receiver that is only slow comes within it", Source: "judgement: weighs batch work, whose stages wait for each other for minutes, against what never ends"}
)

// judgeLeakByAges judges by how long the goroutines of one dump have waited.
func judgeLeakByAges(c *check.Case) (v check.Verdict, ok bool) {
	kind, waiting := c.Bundle.Names.Lookup("goroutine"), c.Bundle.Names.Lookup(evidence.SampleWaiting)
	if waiting == 0 {
		return v, false
	}
	type place struct {
		n              int
		least, longest int64
		lengths        map[int64]bool
		origin         evidence.Origin
	}
	places := make(map[string]*place)
	together := 1 // how many goroutines the last row stands for; the row of how long they have waited follows it
	s := &c.Bundle.Samples
	for i := range s.Len() {
		if s.Type[i] == kind {
			together = int(min(s.Value[i], 1<<40))
		}
		if s.Type[i] != waiting || s.Subject[i] != c.Subject || !strings.HasPrefix(c.Bundle.Names.Text(s.Class[i]), "chan send") {
			continue
		}
		name := siteName(c, s.Stack[i])
		x := places[name]
		if x == nil {
			x = &place{least: s.Value[i], lengths: make(map[int64]bool), origin: s.Origin[i]}
			places[name] = x
		}
		x.n += together
		x.least, x.longest = min(x.least, s.Value[i]), max(x.longest, s.Value[i])
		x.lengths[s.Value[i]] = true
	}
	site := ""
	for name, x := range places {
		if x.n < inVain.Int() || len(x.lengths) < inVainSince.Int() || x.longest < inVainFor.Int64() || servingSites(c)(name) {
			continue
		}
		if worst := places[site]; worst == nil || x.n > worst.n || x.n == worst.n && name < site {
			site = name
		}
	}
	x := places[site]
	if x == nil {
		return v, false
	}
	v.Rule = check.StandsAlone
	v.Title = fmt.Sprintf("Goroutines probably leak in %s: %d wait to send what is not received, for %s to %s.", site, x.n, units.Time(float64(x.least)), units.Time(float64(x.longest)))
	v.Summary = fmt.Sprintf("%d goroutines wait to send at one place, since different times", x.n)
	v.Evidence = append(v.Evidence, c.Figure("goroutines.waiting_to_send", "goroutines waiting to send in "+site, float64(x.n), "count", x.origin),
		c.Figure("goroutines.longest_send_s", "longest wait to send so far, in whole minutes", float64(x.longest)/1e9, "s", x.origin))
	v.Fix = leakFix(site)
	v.Needs = []check.Need{twoProfiles}
	return v, true
}
