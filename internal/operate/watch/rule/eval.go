package rule

import (
	"math"
	"slices"
	"time"
)

// Subject is the process or machine that points belong to.
type Subject struct {
	Key     string // distinguishes it from others: "gateway pid 4711"
	Service string // stays the same over restarts: "gateway"
	Host    bool   // the subject is the machine
}

// Event says that a rule began or stopped to hold.
type Event struct {
	Rule    *Rule
	Subject Subject
	Fired   bool
	At      int64   // ns
	Since   int64   // when the rule began to hold; of an end, when the alarm fired
	Value   float64 // of the rule's series
	Bound   float64 // the bound the value is above or below; NaN of a period
	Usual   float64 // the usual value, NaN if the rule does not use it
	Why     string  // of an end: "" the value is back within its bound, else why it is unknown
}

// Evaluator evaluates rules over points. It is not safe for concurrent use.
type Evaluator struct {
	Rules []Rule
	Usual *Usual // stored by the caller

	// WarmUp is how long rules ignore a process that has just begun, because it loads, compiles and fills its
	// caches.
	WarmUp time.Duration

	of    map[string]*state // by subject
	order []string
	host  *state
	keep  map[string]int64
	last  int64
}

// state holds what the evaluator knows about a subject.
type state struct {
	Subject
	quiet  int64 // until then no rule holds, because the process has just begun
	tracks map[string]*track
	rules  []ruling // in the order of Evaluator.Rules
}

// ruling is the state of a rule for a subject. Times are in ns.
type ruling struct {
	since  int64 // when its conditions began to hold, 0: they do not
	fired  int64 // when the alarm fired, 0: it has not
	clear  int64 // when the value came back within the clearing bound, 0: it has not
	known  int64 // when the value was last known
	period int64 // when a period was last looked for
	found  float64
}

// New returns an evaluator of rules. usual may be nil; then no value is usual yet.
func New(rules []Rule, usual *Usual) *Evaluator {
	if usual == nil {
		usual = new(Usual)
	}
	e := &Evaluator{Rules: rules, Usual: usual, WarmUp: WarmUp, of: make(map[string]*state), keep: make(map[string]int64)}
	for i := range rules {
		for _, c := range append([]Condition{rules[i].Condition}, rules[i].And...) {
			need := int64(c.Over)
			if c.Period != nil {
				need = int64(c.Period.Most) * int64(c.Period.Times+1)
			}
			for _, id := range []string{c.Series, c.Than} {
				e.keep[id] = max(e.keep[id], need+need/4)
			}
		}
	}
	return e
}

// WarmUp is the default time for which rules ignore a new process.
const WarmUp = 30 * time.Second

// Begin adds a subject. born is when its process began (ns), 0 unknown.
func (e *Evaluator) Begin(s Subject, born int64) {
	if e.of[s.Key] != nil {
		return
	}
	x := &state{Subject: s, tracks: make(map[string]*track), rules: make([]ruling, len(e.Rules))}
	if born != 0 {
		x.quiet = born + int64(e.WarmUp)
	}
	e.of[s.Key] = x
	e.order = append(e.order, s.Key)
	if s.Host {
		e.host = x
	}
}

// End removes a subject and returns the ends of its alarms.
func (e *Evaluator) End(key string, at int64, why string) (out []Event) {
	x := e.of[key]
	if x == nil {
		return nil
	}
	for i := range x.rules {
		if r := &x.rules[i]; r.fired != 0 {
			out = append(out, Event{Rule: &e.Rules[i], Subject: x.Subject, At: at, Since: r.fired, Value: math.NaN(), Bound: math.NaN(), Usual: math.NaN(), Why: why})
		}
	}
	delete(e.of, key)
	e.order = slices.DeleteFunc(e.order, func(k string) bool { return k == key })
	if e.host == x {
		e.host = nil
	}
	return out
}

// Add adds a point of a subject's series.
func (e *Evaluator) Add(key, series string, at int64, v float64) {
	x := e.of[key]
	if x == nil {
		return
	}
	k := x.tracks[series]
	if k == nil {
		keep, asked := e.keep[series]
		if !asked {
			return
		}
		k = &track{keep: keep}
		x.tracks[series] = k
	}
	k.addPoint(at, v)
}

// jump is the time between two evaluations from which on the clock was set, or the machine slept.
const jump = int64(10 * time.Minute)

// At evaluates the rules at a time (ns), and returns what changed. After a time before the last one, as when a clock is
// set back, conditions begin anew. Alarms and usual values stay.
func (e *Evaluator) At(now int64) (out []Event) {
	if e.last != 0 && (now < e.last || now-e.last > jump && e.isUnusualGap(now-e.last)) {
		e.resetTracks(now)
	}
	e.last = now
	for _, key := range e.order {
		x := e.of[key]
		for i := range e.Rules {
			if ev, ok := e.evaluateRule(x, i, now); ok {
				out = append(out, ev)
			}
		}
	}
	return out
}

// isUnusualGap says whether no series has points so far apart that a gap (ns) is normal for it.
func (e *Evaluator) isUnusualGap(gap int64) bool {
	for _, x := range e.of {
		for _, k := range x.tracks {
			if k.step > 0 && float64(gap) <= 3*k.step {
				return false
			}
		}
	}
	return true
}

// Bounds calls give with the current bounds of rules that compare with usual values.
func (e *Evaluator) Bounds(give func(s Subject, r *Rule, bound float64)) {
	for _, key := range e.order {
		for i := range e.Rules {
			x := e.of[key]
			if c := &e.Rules[i].Condition; c.Usual != nil && x.tracks[c.Series] != nil {
				if m, ok := e.Usual.medianOfDays(x.Service, usualKey(c), e.last, c.Usual); ok {
					give(x.Subject, &e.Rules[i], max(*c.Above*m, c.Usual.Floor))
				}
			}
		}
	}
}

func (e *Evaluator) resetTracks(now int64) {
	for _, x := range e.of {
		x.tracks = make(map[string]*track)
		for i := range x.rules {
			r := &x.rules[i]
			r.since, r.clear, r.known, r.period = 0, 0, now, 0
			if r.fired > now {
				r.fired = now
			}
		}
		if x.quiet > now+int64(e.WarmUp) {
			x.quiet = 0
		}
	}
}

// evaluateRule evaluates one rule for one subject; false if nothing changed.
func (e *Evaluator) evaluateRule(x *state, i int, now int64) (Event, bool) {
	rule, r := &e.Rules[i], &x.rules[i]
	c := &rule.Condition
	k := x.tracks[c.Series] // of its own: a rule about the machine has the machine's track
	if k == nil && r.fired == 0 {
		return Event{}, false
	}
	value, bound, usual := e.conditionValue(x, r, c, k, now)
	holds, known := e.conditionHolds(c, value, bound)
	alone := holds // before the further conditions
	if k != nil && c.Usual != nil && !math.IsNaN(value) && now >= x.quiet {
		e.Usual.addValue(x.Service, usualKey(c), now, value)
	}
	for a := range rule.And {
		if !holds {
			break
		}
		also := &rule.And[a]
		v, b, _ := e.conditionValue(x, new(ruling), also, e.findTrack(x, also.Series), now)
		h, ok := e.conditionHolds(also, v, b)
		holds, known = h, known && ok
	}
	ev := Event{Rule: rule, Subject: x.Subject, At: now, Value: value, Bound: bound, Usual: usual}
	switch {
	case !known && r.fired == 0:
		r.since = 0
		return ev, false
	case !known:
		if r.known == 0 {
			r.known = now
		}
		if now-r.known >= int64(rule.ClearFor)+int64(patience) {
			ev.Since, ev.Why = r.fired, "its figures ended"
			*r = ruling{}
			return ev, true
		}
		return ev, false
	}
	r.known = now
	if r.fired == 0 {
		if !holds || now < x.quiet {
			r.since = 0
			return ev, false
		}
		if r.since == 0 {
			r.since = now
		}
		if now-r.since < int64(rule.For) {
			return ev, false
		}
		ev.Fired, ev.Since = true, r.since
		r.fired, r.clear = now, 0
		return ev, true
	}
	if holds || !alone && !rule.canClear(value, bound) {
		r.clear = 0
		return ev, false
	}
	if r.clear == 0 {
		r.clear = now
	}
	if now-r.clear < int64(rule.ClearFor) {
		return ev, false
	}
	ev.Since = r.fired
	*r = ruling{period: r.period, found: r.found}
	return ev, true
}

// findTrack returns a track of a subject, else that of the machine.
func (e *Evaluator) findTrack(x *state, id string) *track {
	if k := x.tracks[id]; k != nil {
		return k
	}
	if e.host != nil && e.host != x {
		return e.host.tracks[id]
	}
	return nil
}

// usualKey returns the key of a condition's usual values.
func usualKey(c *Condition) string { return c.Series + " " + string(c.Take) + " " + c.Over.String() }

// each is the time between two searches for a period.
const each = int64(5 * time.Second)

// conditionValue returns the current value of a condition, its bound, and the usual value; NaN unknown.
func (e *Evaluator) conditionValue(x *state, r *ruling, c *Condition, k *track, now int64) (value, bound, usual float64) {
	value, bound, usual = math.NaN(), math.NaN(), math.NaN()
	if k == nil {
		return
	}
	if c.Period != nil {
		if now-r.period >= each || now < r.period {
			r.period, r.found = now, float64(k.findPeriod(c.Period, now))/1e9
		}
		if !k.isFresh(now) {
			return
		}
		return r.found, math.NaN(), usual
	}
	value = k.takeValue(c.Take, now, int64(c.Over))
	switch {
	case c.Usual != nil:
		if m, ok := e.Usual.medianOfDays(x.Service, usualKey(c), now, c.Usual); ok {
			usual = m
			bound = max(*c.Above*m, c.Usual.Floor)
		}
	case c.Than != "":
		bound = *c.Above * e.findTrack(x, c.Than).takeValue(c.Take, now, int64(c.Over))
	case c.Above != nil:
		bound = *c.Above
	default:
		bound = *c.Below
	}
	return value, bound, usual
}

// conditionHolds says whether a condition holds, and whether that is known.
func (e *Evaluator) conditionHolds(c *Condition, value, bound float64) (holds, known bool) {
	switch {
	case c.Period != nil:
		return value > 0, !math.IsNaN(value)
	case math.IsNaN(value) || math.IsNaN(bound):
		return false, false
	case c.Below != nil:
		return value < bound, true
	}
	return value > bound, true
}

// back is the distance between the bounds at which an alarm begins and ends, as a share of the bound.
const back = .1

// canClear says whether a value is far enough on the good side of the bound for the alarm to end.
func (r *Rule) canClear(value, bound float64) bool {
	switch {
	case r.Period != nil:
		return true // the period has stopped
	case r.Below != nil && r.Clear != nil:
		return value > *r.Clear
	case r.Below != nil:
		return value > bound*(1+back)
	case r.Clear != nil:
		return value < *r.Clear
	case bound <= 0:
		return value <= bound
	}
	return value < bound*(1-back)
}
