// Package check is the frame around the checks: the question and the answer of each. A check is a file in the folder of its
// field; internal/diagnose/check/all lists them.
//
// The package's opinion: a verdict gives its figures with their origins; "ruled out" needs coverage; "inconclusive" says what
// to switch on; causes are ranked by the milliseconds that a fix would save, never by a score; and no rule depends on the
// place where it runs.
package check

import (
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Check is one mechanism that can make requests slow.
type Check struct {
	ID    string // closed list, never renamed: "go.gc-rate"
	Title string // one line that names the cause
	Step  Step   // when the check runs
	// StopsAll says that the cause stops the whole process, also what takes up requests, though its step is not that of collectors.
	StopsAll bool
	// Doc explains the cause to the engineer on call: the mechanism, how to tell it from look-alikes, what helps and what
	// does not.
	Doc string
	// Least is the least evidence that supports the cause, in words: how its thresholds work together.
	Least string
	// Thresholds are all figures that the check compares with.
	Thresholds []Threshold
	// Needs is the evidence that the check cannot do without, in words.
	Needs string
	// Applies reports whether the check makes sense for a subject.
	Applies func(*Case) bool
	Judge   func(*Case) Verdict
	// JudgeHost judges a host or a dependency by its own figures, where no process of it was recorded; false: the figures
	// do not show the cause. Nil for causes that only a process can have.
	JudgeHost func(*Case) (Verdict, bool)
}

// Case is what a check judges: one subject, with its ledger if it has requests.
type Case struct {
	Bundle  *evidence.Bundle
	Subject evidence.SubjectID
	Ledger  *ledger.Ledger          // nil: no requests
	Looks   func() *threads.Threads // [Case.Threads] of the bundle, which several cases share; nil: each case reads them

	// ObjectiveMet says that an objective is set, and that the clients' requests of the whole recording meet it.
	ObjectiveMet bool

	// Found are the causes that are supported so far: later checks see what these explain.
	Found []Found

	read  map[reflect.Type]any // computed by [Once]
	asked []weighed            // by the check that runs
}

// Found is a cause that is supported.
type Found struct {
	ID       string
	Step     Step
	StopsAll bool // see [Check]
	Verdict
}

// Runtime returns the subject's runtime, "" unknown.
func (c *Case) Runtime() string { return c.Bundle.Subjects[c.Subject].Runtime }

// OnThreads reports whether the subject's requests run on threads whose stacks tell what they do, such as .NET's: recordings
// then have looks at threads where Go has an execution trace.
func (c *Case) OnThreads() bool {
	r := platform.ByID(c.Runtime())
	return r.Stacks != nil || r.OnThreads() && len(c.Threads().Samples(c.Subject)) > 0
}

// Serves reports whether the subject has requests, or could have recorded some: a server that only reports on itself, such as
// Redis, has none.
func (c *Case) Serves() bool { return c.Ledger != nil || !platform.ByID(c.Runtime()).Tells }

// Verdict is the finding about one cause.
type Verdict struct {
	Rule              // that decided the verdict
	Title      string // what happens here, with figures; "" takes the cause's title
	Summary    string // one short clause with the deciding figure
	Saves      *Saves
	Evidence   []Evidence
	Needs      []Need
	Fix        []Fix
	Prediction []Prediction
	// Frontier is what memory would buy, for a collector's cause: it shows how the fix was chosen.
	Frontier *model.Frontier
	// Work is the part (0…1) of the requests' own work that this cause explains and that is therefore not the requests'
	// (service.own-work).
	Work float64
	// Explains reports whether this cause explains slow time at a place. Later causes leave such a place alone. nil: it
	// explains no place.
	Explains func(*ledger.Place) bool
	// Spends says how a server that others wait for spends their time, as the end of a sentence: "in KEYS from 10.0.0.7";
	// "" for any other subject.
	Spends string
	// Standing means that it costs as much at any time, so that what else is found comes first: that changed.
	Standing bool
	// Weight ranks verdicts without request evidence: seconds stopped or burnt per second.
	Weight float64

	weighed []weighed // the figures that decided the verdict
}

// Saves is the slow time (ms) that a fix of the cause would save.
type Saves struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Basis *string  `json:"basis"` // what low and high are: "sampling" (a 95 % interval), "bound", null
}

// Basis is the meaning of a figure's low and high.
func Basis(s string) *string { return &s }

// Evidence is a figure with its origin.
type Evidence struct {
	ID     string   `json:"id,omitempty"` // closed list: "gc.cycles_per_s"; "" for evidence without a value
	Text   string   `json:"text"`
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit"`
	Origin string   `json:"origin"`
	Source string   `json:"source"` // its file, or the option; "" unknown
}

// Fix is a change to make: to a setting or code.
type Fix struct {
	Text    string `json:"text"`
	Setting string `json:"setting,omitempty"`
	Code    string `json:"code,omitempty"`
}

// Prediction is what a fix would do to a metric.
type Prediction struct {
	ID     string   `json:"id"`        // closed list: "gc.cycles_per_s"
	Fix    *int     `json:"fix_index"` // index of the verdict's fix that does it; nil: none. A cause leaves it out for the first
	Anyway bool     `json:"-"`         // it happens if nothing is changed
	Metric string   `json:"metric"`
	Unit   string   `json:"unit"`
	Now    *float64 `json:"now"`
	Then   *float64 `json:"then"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
}

// Predict adds the effect of the fix that was added last.
func (v *Verdict) Predict(all ...Prediction) {
	of := len(v.Fix) - 1
	for _, p := range all {
		if of >= 0 {
			p.Fix = &of
		}
		v.Prediction = append(v.Prediction, p)
	}
}

// Figure returns evidence with a value. The id identifies the figure for machines: it is from a
// closed list (docs/json.md), is never renamed, and has one unit wherever it is used.
func (c *Case) Figure(id, text string, value float64, unit string, origin evidence.Origin) Evidence {
	e := c.Seen(text, origin)
	e.ID, e.Value, e.Unit = id, stats.FiniteOrNil(value), unit
	return e
}

// Seen returns evidence without a value.
func (c *Case) Seen(text string, origin evidence.Origin) Evidence {
	e := Evidence{Text: text, Origin: c.Bundle.OriginText(origin)}
	if a, ok := origin.Artifact(); ok && int(a) < len(c.Bundle.Artifacts) {
		e.Source = filepath.Base(c.Bundle.Artifacts[a].Name)
	}
	return e
}

// FigureOfOption returns a figure that the user gave by an option.
func FigureOfOption(id, text string, value float64, unit, option string) Evidence {
	return Evidence{ID: id, Text: text, Value: stats.FiniteOrNil(value), Unit: unit, Origin: option, Source: option}
}

// From names an artifact as an origin.
func From(a evidence.ArtifactID) evidence.Origin { return evidence.NewOrigin(a, 0) }

// Material is the share of slow time from which a cause is reported.
var Material = Threshold{Name: "share of slow time from which a cause is named", Value: .25, Unit: "1",
	Why: "mending what explains less leaves three quarters of slow time as it is", Source: "judgement: weighs a fix that is felt against causes that stand beside each other; mending a quarter makes slow requests up to 1.33 times as fast (Amdahl: 1/(1−0.25)), and at most four causes can have as much. docs/accuracy.md counts how often verdicts by it are right"}

// Arguable is the share from which a cause is not ruled out: another recording of the same service may find it above
// [Material].
var Arguable = Threshold{Name: "share of slow time from which a cause is not ruled out", Value: .15, Unit: "1",
	Why: "another recording of the same service may find it above the share that is named", Source: "binomial error: 25 % of 20 requests, the fewest that are judged, are known within 10 % (√(0.25·0.75/20)): one standard error below is 15 %"}

// Share returns the mechanisms' part of the slow time, 0 without any.
func (c *Case) Share(ms ...ledger.Mechanism) float64 {
	if c.Ledger == nil || c.Ledger.Total == 0 {
		return 0
	}
	var sum int64
	for _, m := range ms {
		sum += c.Ledger.Charges[m]
	}
	return float64(sum) / float64(c.Ledger.Total)
}

// Fact returns a fact on the subject from the artifact that the ledger charges, else from any other.
func (c *Case) Fact(key string) (evidence.Fact, bool) {
	return c.Bundle.FactFrom(c.stateSource(), c.Subject, key)
}

// Series returns a figure over time, from the same artifact as [Case.Fact].
func (c *Case) Series(name string) *evidence.Series {
	return c.Bundle.SeriesFrom(c.stateSource(), c.Subject, name)
}

// stateSource returns the artifact that the states of the ledger's requests were read from, −1
// without one.
func (c *Case) stateSource() evidence.ArtifactID {
	if c.Ledger == nil {
		return -1
	}
	return c.Ledger.StatesFrom()
}

// Traced reports whether the states of enough requests are known.
func (c *Case) Traced() bool {
	if c.Ledger == nil || !c.Ledger.Traced {
		return false
	}
	c.recordAnswer(AskEvidence, float64(len(c.Ledger.Rows)), MinRequests)
	return len(c.Ledger.Rows) >= ledger.MinRequests
}

// MostlyUnseen is the share of unobserved slow time from which the rest does not represent all of it.
var MostlyUnseen = Threshold{Name: "share of slow time not observed, so large that the rest does not speak for it", Value: .5, Unit: "1",
	Why: "the larger part decides", Source: "arithmetic: more than half"}

// HasRequestStates reports whether it is known where slow requests spent their time: each of them is traced, or samples of the
// service's threads show it for all of them together.
func (c *Case) HasRequestStates() bool {
	if c.Traced() {
		return true
	}
	if c.Ledger == nil || !c.Ledger.Sampled || len(c.Ledger.Rows) < ledger.MinRequests {
		return false
	}
	unseen := c.Share(ledger.Unobserved)
	c.recordAnswer(AskCovered, unseen, MostlyUnseen)
	return unseen < MostlyUnseen.Value
}

// LongRuns returns the share of run time that a trace shows in stretches longer than the runtime's
// scheduler allows: time on a processor that was not CPU time. It needs no requests; ok is false
// without a trace.
func (c *Case) LongRuns() (share float64, origin evidence.Origin, ok bool) {
	long, ok := c.Fact(evidence.FactLongRuns)
	run, known := c.Fact(evidence.FactRunTime)
	if !ok || !known || run.Number <= 0 {
		return 0, 0, false
	}
	return min(1, long.Number/run.Number), long.Origin, true
}

// Starved is the share of such stretches from which the host withheld processors. Quiet hosts have no such stretches.
var Starved = Threshold{Name: "share of run time in stretches that no scheduler of a runtime allows", Value: .05, Unit: "1",
	Why: "they say that the host withheld CPUs; on quiet hosts there are none", Source: "judgement: weighs a single tick that the host took against CPUs withheld for long; by PASTA (R. Wolff, Operations Research 30, 1982) one request in twenty meets such a stretch"}

// Slow requests are common enough to look for a reason if there are at least this many, more than a chance meeting or two, and
// if they take this part of the time of all requests, or of those of one route: below, they are not noticeable among these.
var (
	SomeSlow = Threshold{Name: "slow requests from which a reason is looked for", Value: 5, Unit: "count",
		Why: "one or two are a chance meeting", Source: "Poisson: where 5 are expected, another recording has none in 0.7 % of cases (e⁻⁵); where 2 are, in 14 %"}
	SlowShare = Threshold{Name: "share of the time of all requests that slow ones take, or of those of a route unless --slo is given", Value: .01, Unit: "1",
		Why: "less is too little to notice among them", Source: "arithmetic: without them the mean latency would be at most 1 % less"}
)

// Slow reports whether slow requests are common enough to look for a reason.
func (c *Case) Slow() bool {
	l := c.Ledger
	if l == nil {
		return false
	}
	if c.recordAnswer(AskSlow, float64(len(l.Slow)), SomeSlow); len(l.Slow) < SomeSlow.Int() {
		return false
	}
	share := float64(Once(c, slowShare))
	c.recordAnswer(AskSlow, share, SlowShare)
	return share >= SlowShare.Value
}

// slowPart is a part of the time of requests that slow ones take.
type slowPart float64

// slowShare returns the part of the time of all requests that slow ones take. Without an objective it is that of the route with the largest
// part, if that is more: beside requests that take long as ever, those of a quick route take hardly any time.
func slowShare(c *Case) slowPart {
	l, r := c.Ledger, &c.Bundle.Requests
	slow, all := make(map[evidence.NameID][]int), make(map[evidence.NameID]int64)
	total := int64(0)
	for _, row := range l.Rows {
		took := r.Latency(row)
		total += took
		all[r.Route.At(row)] += took
	}
	share := float64(l.Total) / max(1, float64(total))
	if l.Rule != ledger.RuleFloor {
		return slowPart(share)
	}
	for _, row := range l.Slow {
		slow[r.Route.At(row)] = append(slow[r.Route.At(row)], row)
	}
	for route, rows := range slow {
		if len(rows) < SomeSlow.Int() {
			continue
		}
		took := int64(0)
		for _, row := range rows {
			took += r.Latency(row)
		}
		share = max(share, float64(took)/max(1, float64(all[route])))
	}
	return slowPart(share)
}

// Noticeable is the p99, over all requests with 0 for those not slow, from which slow requests are noticed without an
// objective: three times the quickest may still be quick, beside requests that always take long. A call that takes longer than
// its own usual time is reported earlier.
var (
	Noticeable = Threshold{Name: "p99 with requests that are not slow counted as 0, from which slow ones are noticed (asked unless --slo is given)", Value: float64(20 * time.Millisecond), Unit: "ns",
		Why: "what takes three times as long as the quickest may still be quick", Source: "judgement: a fifth of the 0.1 s that people take for immediate (J. Nielsen, Usability Engineering, 1993, chapter 5), as a page makes several requests one after the other"}
	NoticeableCall = Threshold{Name: "p99 with requests that are not slow counted as 0, from which slow ones are noticed where one thing takes nearly all of their time", Value: float64(10 * time.Millisecond), Unit: "ns",
		Why: "one thing that takes all of a request is worth mending earlier", Source: "judgement: half of what is noticed otherwise, as a single thing can be mended"}
)

// Cleared returns the rule that clears a cause with a part of slow time: it is too little or, where it is not, requests are not slow, or not for long.
func (c *Case) Cleared(share float64) Rule {
	switch {
	case share < Material.Value:
		return TooLittle
	case !c.Slow():
		return NotSlow
	}
	return Brief
}

// UserVisible reports whether slow requests are slow enough for users to notice: always with an objective, else from a p99 of
// the slow requests (ns) on.
func (c *Case) UserVisible(from Threshold) bool {
	l := c.Ledger
	if !c.Slow() {
		return false
	}
	if l.Rule != ledger.RuleFloor {
		return true // the objective defines slow
	}
	p99 := Once(c, slowRequestsP99)
	if from.Value > 0 {
		c.recordAnswer(AskSlow, float64(p99), from)
	}
	return p99 >= slowP99(from.Value)
}

// ButBrief ends a summary where [Case.UserVisible] is false: it says whether slow requests are too short or too few.
func (c *Case) ButBrief() string {
	if l := c.Ledger; float64(l.Total) >= Noticeable.Value*float64(len(l.Slow)) {
		return ", but too few requests are slow for long enough to be noticed"
	}
	return ", but slow requests take only milliseconds"
}

// AddsNoticeably reports whether what a cause adds to slow requests (ns, in the order of Ledger.Slow) is itself long enough to be noticed:
// always with an objective, else from a p99 over all requests on, 0 for those not slow.
func (c *Case) AddsNoticeably(per []int64, from Threshold) bool {
	l := c.Ledger
	if l.Rule != ledger.RuleFloor {
		return true
	}
	longest := slices.Sorted(slices.Values(per))
	beyond := len(l.Rows) / 100 // so many requests take longer than the p99
	if beyond >= len(longest) {
		return false
	}
	p99 := longest[len(longest)-1-beyond]
	c.recordAnswer(AskSlow, float64(p99), from)
	return float64(p99) >= from.Value
}

// slowP99 is [ledger.Ledger.SlowP99], ns.
type slowP99 float64

func slowRequestsP99(c *Case) slowP99 { return slowP99(c.Ledger.SlowP99()) }

// Save turns the time that each slow request would save (ns, in the order of Ledger.Slow) into a figure with its sampling
// error. Where the recording is too short for one, it uses the bounds low and high (ns); pass -1 for none.
func (c *Case) Save(perRequest []int64, low, high int64) *Saves {
	l := c.Ledger
	var sum, longest int64
	for n, row := range l.Slow {
		sum += perRequest[n]
		longest = max(longest, c.Bundle.Requests.Latency(row))
	}
	s := &Saves{Value: float64(sum) / 1e6}
	from, to := l.ChargedTime()
	if iv, ok := stats.SumIntervalAt(func(n int) int64 { return c.Bundle.Requests.End.At(l.Slow[n]) }, perRequest[:len(l.Slow)], from, to, ledger.BlockOf*longest, 1); ok {
		// A saving cannot exceed the loss; the resampled totals vary with the traffic.
		s.Low, s.High, s.Basis = stats.FiniteOrNil(iv.Low/1e6), stats.FiniteOrNil(min(iv.High, float64(l.Total))/1e6), Basis("sampling")
	} else if low >= 0 && high >= low {
		s.Low, s.High, s.Basis = stats.FiniteOrNil(float64(min(low, sum))/1e6), stats.FiniteOrNil(float64(max(high, sum))/1e6), Basis("bound")
	}
	return s
}

// Bound returns a saving (ns) of which only bounds are known.
func (c *Case) Bound(value, low, high float64) *Saves {
	return &Saves{Value: value / 1e6, Low: stats.FiniteOrNil(low / 1e6), High: stats.FiniteOrNil(high / 1e6), Basis: Basis("bound")}
}

// SaveMechanism is [Case.Save] for a cause that is one or more mechanisms.
func (c *Case) SaveMechanism(ms ...ledger.Mechanism) *Saves {
	per := make([]int64, len(c.Ledger.Slow))
	for n, row := range c.Ledger.Slow {
		charges := c.Ledger.Of(row)
		for _, m := range ms {
			per[n] += charges[m]
		}
	}
	return c.Save(per, -1, -1)
}

// Details returns the parts of a mechanism's slow time by lock, pool or
// dependency, largest first.
func (c *Case) Details(m ledger.Mechanism) (out []ledger.Entry) {
	if c.Ledger == nil {
		return nil
	}
	for _, e := range c.Ledger.Entries {
		if e.Mechanism == m {
			out = append(out, e)
		}
	}
	return out
}

// ToldDetails returns those of the parts of a mechanism's slow time (all, ns) that a verdict names: up to three, and beside the largest none that is next to nothing.
func ToldDetails(details []ledger.Entry, all int64) []ledger.Entry {
	n := min(1, len(details))
	for n < min(3, len(details)) && float64(details[n].Ns) >= WorthTelling.Value*float64(all) {
		n++
	}
	return details[:n]
}

// Dependency is the slow time spent waiting for one of the services that the subject calls.
type Dependency struct {
	Name string
	Ns   int64
}

// Dependencies returns the slow requests' waits by dependency, the longest first.
func (c *Case) Dependencies() (out []Dependency) {
	for _, e := range c.Details(ledger.Dependency) {
		out = append(out, Dependency{c.Bundle.Names.Text(e.Detail), e.Ns})
	}
	return out
}

// PredictSlow returns the share of requests that would be slow if each had been shorter by less(row) ns.
func (c *Case) PredictSlow(less func(row int) int64) Prediction {
	now, then := c.Ledger.FewerSlow(less)
	return Prediction{ID: "requests.slow_share", Metric: "slow requests", Unit: "1", Now: stats.FiniteOrNil(now), Then: stats.FiniteOrNil(then)}
}

// PredictFreed returns the p99 (ms) of all requests if each had been shorter within the service by what less returns for its row (ns), and
// those that waited before it had waited less.
func (c *Case) PredictFreed(less func(row int) int64) Prediction {
	freed := c.Ledger.FreeServers(less)
	return c.PredictP99(func(row int) int64 { return less(row) + freed(row) })
}

// PredictP99 returns the p99 (ms) of all requests if each had been shorter by what less returns
// for its row (ns).
func (c *Case) PredictP99(less func(row int) int64) Prediction {
	l := c.Ledger
	x := l.Shorten(less)
	p := Prediction{ID: "requests.p99_ms", Metric: "p99", Unit: "ms", Now: stats.FiniteOrNil(x.Now), Then: stats.FiniteOrNil(x.Then), Low: stats.FiniteOrNil(x.Low), High: stats.FiniteOrNil(x.High)}
	if l.Source != l.Requests.Source {
		p.ID, p.Metric = "requests.traced_p99_ms", "p99 while tracing" // the report's head has the p99 of all requests
	}
	return p
}
