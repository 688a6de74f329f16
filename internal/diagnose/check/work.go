package check

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Effort is the work of slow requests in one function of the program.
type Effort struct {
	Site
	Inner  string // the function farthest from Function that at least half of the work is in, beyond Callee; "": none, or unknown
	Share  float64
	Origin evidence.Origin
}

// Name returns the function, what it called, and where in that it mostly was: "Shop.list() (calling Cart.copy() → … → Json.write())".
func (e Effort) Name() string {
	called := e.Callee
	if called != "" && e.Inner != "" {
		called += farther + e.Inner
	}
	switch {
	case e.Function == "" || called != "" && strings.HasPrefix(e.Function, evidence.UnknownFunction):
		return called
	case called != "":
		return fmt.Sprintf("%s (calling %s)", e.Function, called)
	case e.Inner != "":
		return e.Function + farther + e.Inner
	}
	return e.Function
}

// farther stands between a function and one that was called by what it called.
const farther = " → … → "

// Worked returns the functions in which slow requests ran, the most work first: by the samples taken during them, else by the
// stacks of their threads.
func (c *Case) Worked() []Effort { return c.WorkedIn(c.Ledger.Slow) }

// WorkedIn is [Case.Worked] for any requests.
func (c *Case) WorkedIn(rows []int) []Effort {
	sums := newWork(c)
	origin := From(c.Ledger.StatesFrom())
	if clocked := c.clockedWork(rows); clocked != nil {
		sums = clocked
	} else if samples := samplesOf(c); len(samples.lanes) > 0 {
		for _, row := range rows {
			lane := c.Bundle.Requests.Lane.At(row)
			c.Ledger.Walk(row, func(at int64, s evidence.Segment, ch *ledger.Charges) {
				if ch[ledger.Own] == 0 {
					return
				}
				samples.samplesWithin(cmp.Or(s.Lane, lane), at, at+s.Dur, func(i int) {
					sums.add(c.Bundle.Samples.Stack[i], float64(c.Bundle.Samples.Value[i]))
					origin = c.Bundle.Samples.Origin[i]
				})
			})
		}
	} else if ran, at := c.sampledWork(); ran != nil && len(ran.at) > 0 {
		sums, origin = ran, at
	} else {
		for _, row := range rows {
			c.Ledger.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
				if ch[ledger.Own] > 0 && s.Stack != 0 {
					sums.stacks[s.Stack] += float64(ch[ledger.Own])
				}
			})
		}
		for _, p := range c.Ledger.PlacesOf(rows, c.Sites(), ledger.Claimed{}) {
			if p.Mechanism == ledger.Own {
				sums.at[called{workedAt(&p), c.SiteOf(p.Stack).Callee}] += float64(p.Ns)
			}
		}
	}
	return sums.rankEfforts(origin)
}

// workedAt returns the name of a place where requests work: its function or what is known of the work, but not what the request
// waited for at that time; "" if unknown.
func workedAt(p *ledger.Place) string {
	if p.Where == "" && p.Wait != (evidence.Wait{}) {
		return ""
	}
	return cmp.Or(p.Where, p.What)
}

// sampledWork returns where threads that serve requests ran, by the runtime's own sampler (a JVM's flight recording), which
// samples all requests in proportion to their CPU time. The origin is that of the largest sample.
func (c *Case) sampledWork() (sums *work, at evidence.Origin) {
	typ := c.Bundle.Names.Lookup(evidence.SampleRunning)
	if typ == 0 || !c.OnThreads() {
		return nil, 0
	}
	sums = newWork(c)
	x := &c.Bundle.Samples
	most := int64(0)
	for i := range x.Len() {
		if x.Type[i] != typ || x.Subject[i] != c.Subject || !c.Threads().View(c.Subject, x.Stack[i]).Request {
			continue
		}
		sums.add(x.Stack[i], float64(x.Value[i]))
		if x.Value[i] > most {
			most, at = x.Value[i], x.Origin[i]
		}
	}
	return sums, at
}

// FewClocked is the least number of samples of the kernel's CPU clock during slow requests.
var FewClocked = Threshold{Name: "samples of the kernel's CPU clock during slow requests", Value: 10, Unit: "count",
	Why: "each is 10 ms of CPU time; fewer say too little", Source: "binomial error of 10 samples: about 15 %"}

// clockedWork returns where requests ran, by samples of the kernel's CPU clock on the thread that began each request,
// while that thread works on requests. It returns nil if there are fewer than [FewClocked].
func (c *Case) clockedWork(rows []int) *work {
	sums := newWork(c)
	r, n := &c.Bundle.Requests, 0
	count := func(_ int64, stack evidence.StackID) {
		if v := c.Threads().View(c.Subject, stack); v.Request && v.State == evidence.Running {
			n++
			sums.add(stack, 1)
		}
	}
	for _, row := range rows {
		if lane := r.Lane.At(row); lane != 0 {
			c.Threads().CPUClockSamples(c.Subject, lane, r.Begins(row), r.End.At(row), count)
		}
	}
	if n < FewClocked.Int() {
		return nil
	}
	return sums
}

// SlowSpans returns the time in which slow requests are under way.
func (c *Case) SlowSpans() (slow metrics.Spans) {
	r, rows := &c.Bundle.Requests, slices.Clone(c.Ledger.Slow)
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(r.Begins(a), r.Begins(b)) })
	for _, row := range rows {
		slow = slow.Add(r.Begins(row), r.End.At(row))
	}
	return slow
}

// RanWhileSlow returns where the process's threads ran while slow requests were under way, by the kernel's CPU clock, else by looks at its threads, and
// which part of that was on behalf of no request: NaN where its stacks do not show what serves a request. Where is nil of too few samples.
func (c *Case) RanWhileSlow() (where []Effort, beside float64) {
	x, slow := &c.Bundle.Samples, c.SlowSpans()
	on := c.Bundle.Names.Lookup(evidence.SampleOnCPU)
	if on == 0 {
		return c.seenRunning(slow)
	}
	sums, n, apart := newWork(c), 0, 0
	serves := c.servingStacks(on)
	var origin evidence.Origin
	for i := range x.Len() {
		if x.Type[i] != on || x.Subject[i] != c.Subject || slow.Within(x.Time[i], x.Time[i]+1) == 0 || c.Collects(x.Stack[i]) {
			continue
		}
		sums.add(x.Stack[i], 1)
		origin = x.Origin[i]
		if n++; serves != nil && !serves(x.Stack[i]) {
			apart++
		}
	}
	if n < FewClocked.Int() {
		return nil, 0
	}
	if serves == nil { // none of its stacks is known to serve a request, so none is known not to
		return sums.rankEfforts(origin), math.NaN()
	}
	return sums.rankEfforts(origin), float64(apart) / float64(n)
}

// seenRunning is [Case.RanWhileSlow] by looks at the threads of a runtime, such as a JVM's thread dumps, weighed by the CPU time of their pools
// where the kernel counted it.
func (c *Case) seenRunning(slow metrics.Spans) (where []Effort, beside float64) {
	if !c.OnThreads() {
		return nil, 0
	}
	if where, beside, ok := c.ranByPool(slow); ok {
		return where, beside
	}
	sums, n, apart, serves := newWork(c), 0, 0, false
	var origin evidence.Origin
	looks := c.Threads().Samples(c.Subject)
	for i := range looks {
		s := &looks[i]
		serves = serves || s.View.Request
		if s.View.State != evidence.Running || s.View.Owner == "" || s.Time == 0 || slow.Within(s.Time, s.Time+1) == 0 {
			continue
		}
		sums.add(s.Stack, float64(s.Count))
		origin = s.Origin
		if n += s.Count; !s.View.Request {
			apart += s.Count
		}
	}
	switch {
	case n < FewClocked.Int():
		return nil, 0
	case !serves:
		return sums.rankEfforts(origin), math.NaN()
	}
	return sums.rankEfforts(origin), float64(apart) / float64(n)
}

// servingStacks returns a function that tells whether a stack of the samples of a type serves a request; nil where the samples show nothing of
// a server that is known.
func (c *Case) servingStacks(of evidence.NameID) func(evidence.StackID) bool {
	inView := func(stack evidence.StackID) bool { return c.Threads().View(c.Subject, stack).Request }
	runtime := platform.ByID(c.Runtime())
	if runtime.Stacks != nil {
		return inView
	}
	known := make(map[evidence.StackID]bool)
	handlers := make(map[string]bool) // functions on the stacks of goroutines that serve
	x := &c.Bundle.Samples
	for i := range x.Len() {
		stack := x.Stack[i]
		if _, met := known[stack]; met || x.Type[i] != of || x.Subject[i] != c.Subject {
			continue
		}
		frames := c.Bundle.Stacks.Frames(stack)
		known[stack] = inView(stack) || runtime.Serves != nil && slices.ContainsFunc(frames, func(f evidence.Frame) bool { return runtime.Serves(c.Bundle.Names.Text(f.Func)) })
		for _, f := range frames {
			if known[stack] {
				handlers[c.Bundle.Names.Text(f.Func)] = true
			}
		}
	}
	if len(handlers) == 0 {
		return nil
	}
	return func(stack evidence.StackID) bool { return known[stack] || handlers[c.startedBy(stack)] }
}

// closure is how the compiler names a function literal, or a go statement's wrapper, after the function it is in.
var closure = regexp.MustCompile(`^\.(func|gowrap)?[0-9]+$`)

// startedBy returns the function whose closure a goroutine of Go runs: "main.(*shop).lines" of one that begins with
// "main.(*shop).lines.func1"; "" if it begins with another.
func (c *Case) startedBy(stack evidence.StackID) string {
	own := c.ownModule()
	for _, f := range slices.Backward(c.Bundle.Stacks.Frames(stack)) {
		name := c.Bundle.Names.Text(f.Func)
		if !ownGo(name, own) {
			continue
		}
		if at := strings.LastIndexByte(name, '.'); at >= 0 && closure.MatchString(name[at:]) {
			return name[:at]
		}
		return ""
	}
	return ""
}

// collectingStacks are the stacks that were looked at, and whether each is the collector's.
type collectingStacks map[evidence.StackID]bool

// Collects reports whether a stack is in a function in which the runtime collects.
func (c *Case) Collects(stack evidence.StackID) bool {
	collecting := platform.ByID(c.Runtime()).Collecting
	known := Once(c, func(*Case) collectingStacks { return make(collectingStacks) })
	is, met := known[stack]
	if !met && collecting != nil {
		is = slices.ContainsFunc(c.Bundle.Stacks.Frames(stack), func(f evidence.Frame) bool { return slices.Contains(collecting, c.Bundle.Names.Text(f.Func)) })
		known[stack] = is
	}
	return is
}

// Background returns the functions in which goroutines ran that serve no request, the most first.
func (c *Case) Background() []Effort {
	serving := make(map[evidence.LaneID]bool)
	for _, row := range c.Ledger.Rows {
		serving[c.Bundle.Requests.Lane.At(row)] = true
	}
	sums := newWork(c)
	origin := From(c.Ledger.StatesFrom())
	for lane, rows := range samplesOf(c).lanes {
		if serving[lane] {
			continue
		}
		for _, i := range rows {
			sums.add(c.Bundle.Samples.Stack[i], float64(c.Bundle.Samples.Value[i]))
		}
	}
	return sums.rankEfforts(origin)
}

// samples are samples of running code, by lane and time.
type samples struct {
	lanes map[evidence.LaneID][]int // rows of the bundle's samples, by time
	at    []int64
}

func samplesOf(c *Case) samples {
	x := &c.Bundle.Samples
	s := samples{lanes: make(map[evidence.LaneID][]int), at: x.Time}
	typ := c.Bundle.Names.Lookup(evidence.SampleWork)
	if typ == 0 {
		return s
	}
	for i := range x.Len() {
		if a, ok := x.Origin[i].Artifact(); x.Type[i] == typ && x.Subject[i] == c.Subject && ok && c.Ledger.TracedBy(a) {
			s.lanes[x.Lane[i]] = append(s.lanes[x.Lane[i]], i)
		}
	}
	for _, rows := range s.lanes {
		sorting.Short(rows, func(a, b int) int { return cmp.Compare(x.Time[a], x.Time[b]) })
	}
	return s
}

// samplesWithin yields the samples of a lane in [from, until).
func (s *samples) samplesWithin(lane evidence.LaneID, from, until int64, yield func(i int)) {
	rows := s.lanes[lane]
	n, _ := slices.BinarySearchFunc(rows, from, func(i int, t int64) int { return cmp.Compare(s.at[i], t) })
	for ; n < len(rows) && s.at[rows[n]] < until; n++ {
		yield(rows[n])
	}
}
