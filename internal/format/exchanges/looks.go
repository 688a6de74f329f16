package exchanges

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// look is a sample of a goroutine. All of one round have the same moment.
type look struct {
	at        int64
	goroutine int64
	state     byte // 'r' it ran, 'q' it was ready, 'w' it was parked, 's' it was in a system call
	stack     evidence.StackID
	origin    int64 // the goroutine of a request that has started this one, or has started one that did; 0: the request's own
	id        int64 // the number that Go gave a started one
}

func (l look) isWaiting() bool { return l.state == 'w' }

// mostLooks bounds the looks that are kept: some 100 MB.
const mostLooks = 2 << 20

// parseLook reads a look: its moment, the goroutine, its state, and its stack (0 unknown); of a started goroutine also for whose request, and its number.
func (p *parser) parseLook(text []byte) bool {
	words := bytes.Split(text, []byte(" "))
	if len(words) != 4 && len(words) != 6 || len(words[2]) != 1 || !strings.Contains("rqws", string(words[2])) {
		return false
	}
	var n [6]int64
	for i, word := range words {
		v, ok := format.ParseDigits(word)
		if !ok && i != 2 {
			return false
		}
		n[i] = v
	}
	if !recording.IsDate(n[0]) || n[1] == 0 || len(words) == 6 && (n[4] == 0 || n[5] == 0) {
		return false
	}
	if len(p.looks) < mostLooks {
		p.looks = append(p.looks, look{at: n[0], goroutine: n[1], state: words[2][0], stack: p.stacks[n[3]], origin: n[4], id: n[5]})
	}
	return true
}

// parked says why a goroutine with some stack is parked.
type parked struct {
	evidence.Segment        // without a duration; Kind 0: it is not known
	answer           bool   // for a dependency's answer
	site             string // of a lock: the function that takes it
}

// goroutineLooks are looks by goroutine and by round, with what they say.
type goroutineLooks struct {
	p       *parser
	of      map[int64][]look // by goroutine, in order of time
	rounds  map[int64][]look
	parked  map[evidence.StackID]parked
	started *started
	joins   map[evidence.StackID]bool  // whether one with this stack waits for other goroutines
	calling map[int64][]int32          // by goroutine that serves a request: its calls
	usual   map[evidence.NameID]parked // by route: what nearly all looks say
	on      map[onStack]bool
}

// Signs that the waits of a route's requests which no look met are like those that looks met.
const (
	alikeLooks = 20
	alikePart  = .9
	alikeLeast = int64(2e6) // ns of such a wait, at least: shorter ones may be work
)

// collectLooks prepares the looks; nil if there are none.
func (p *parser) collectLooks() *goroutineLooks {
	if len(p.looks) == 0 {
		return nil
	}
	s := &goroutineLooks{p: p, of: make(map[int64][]look), rounds: make(map[int64][]look), started: p.started, joins: make(map[evidence.StackID]bool), parked: make(map[evidence.StackID]parked), on: make(map[onStack]bool), usual: make(map[evidence.NameID]parked)}
	for _, l := range p.looks {
		if s.rounds[l.at] = append(s.rounds[l.at], l); l.origin == 0 {
			s.of[l.goroutine] = append(s.of[l.goroutine], l)
		}
	}
	s.findUsual()
	return s
}

// findUsual finds routes of which nearly all looks outside calls say the same.
func (s *goroutineLooks) findUsual() {
	calls := make(map[int32][]int32) // by request
	for i := range s.p.calls {
		if c := &s.p.calls[i]; c.request >= 0 && !c.behind {
			calls[c.request] = append(calls[c.request], int32(i))
		}
	}
	type seen struct {
		all int
		by  map[evidence.NameID]int
		of  map[evidence.NameID]parked
	}
	routes := make(map[evidence.NameID]*seen)
	for i := range s.p.requests {
		r := &s.p.requests[i]
		for _, l := range s.looksWithin(r, r.begun, s.p.endOf(r)) {
			if slices.ContainsFunc(calls[int32(i)], func(k int32) bool { c := &s.p.calls[k]; return c.begun <= l.at && l.at <= s.p.doneAt(c) }) {
				continue
			}
			of := routes[r.what]
			if of == nil {
				of = &seen{by: make(map[evidence.NameID]int), of: make(map[evidence.NameID]parked)}
				routes[r.what] = of
			}
			of.all++
			l = s.followStarted(r, l)
			if w := s.meaningOf(l.stack); l.isWaiting() && w.Kind != 0 {
				of.by[w.Cause]++
				of.of[w.Cause] = w
			}
		}
	}
	for route, of := range routes {
		for cause, n := range of.by {
			if n >= alikeLooks && float64(n) >= alikePart*float64(of.all) {
				s.usual[route] = of.of[cause]
			}
		}
	}
}

// looksWithin returns the looks at a request's goroutine between two moments.
func (s *goroutineLooks) looksWithin(x *exchange, from, until int64) []look {
	if s == nil || x.goroutines[0] == 0 {
		return nil
	}
	all := s.of[x.goroutines[0]]
	i, _ := slices.BinarySearchFunc(all, from, func(l look, at int64) int { return cmp.Compare(l.at, at) })
	k, _ := slices.BinarySearchFunc(all, until, func(l look, at int64) int { return cmp.Compare(l.at, at) })
	return all[i:max(i, k)]
}

// meaningOf says what a stack waits for.
func (s *goroutineLooks) meaningOf(stack evidence.StackID) parked {
	w, known := s.parked[stack]
	if !known {
		w = s.p.interpretParked(stack)
		s.parked[stack] = w
	}
	return w
}

// interpretParked reads the stack of a goroutine that is parked, by the runtime's function that parked it.
func (p *parser) interpretParked(stack evidence.StackID) (w parked) {
	funcs := p.functionsOf(stack)
	place := gostack.Place(funcs)
	waits := func(kind evidence.Kind, what string) {
		w.Kind, w.Stack, w.Cause = kind, stack, p.b.Name(what)
	}
	switch known := gostack.WaitOf(funcs); known.For {
	case gostack.Lock:
		waits(evidence.LockWait, known.Name)
		w.site = place
		return w
	case gostack.Pool:
		waits(evidence.PoolWait, known.Name)
		return w
	case gostack.Connection:
		outside := slices.IndexFunc(funcs, func(f string) bool { return gostack.IsOutside(f) && !strings.HasPrefix(f, "net/http.") })
		if outside >= 0 {
			place = funcs[outside]
		}
		waits(evidence.PoolWait, "connections of net/http's client in "+place)
		return w
	case gostack.Collector:
		waits(evidence.GCWait, known.Name)
		return w
	case gostack.Answer:
		waits(evidence.NetWait, known.Name)
		w.answer = true
		return w
	}
	switch reason := gostack.ParkedFor(funcs); {
	case slices.ContainsFunc(funcs, func(f string) bool { return strings.HasPrefix(f, "net/http.(*connReader).") }):
		waits(evidence.ClientWait, "")
	case reason == gostack.ParkedForAssist:
		waits(evidence.GCAssistWait, "")
	case place == "":
	case reason == gostack.ParkedForNetwork:
		if dependency := gostack.Dependency(funcs); dependency != "" {
			waits(evidence.NetWait, dependency)
			w.answer = true
		}
	case reason == gostack.ParkedForTimer:
		waits(evidence.SleepWait, reason+" in "+place)
	case reason != "":
		waits(evidence.SyncWait, reason+" in "+place)
	}
	return w
}

// functionsOf returns the functions of a stack, innermost first.
func (p *parser) functionsOf(stack evidence.StackID) (funcs []string) {
	for _, f := range p.b.Frames(stack) {
		funcs = append(funcs, p.b.Text(f.Func))
	}
	return funcs
}

// fillWithLooks yields what looks say of a request between two moments, in stretches that end in the middle between two looks, each as what was inferred of
// it becomes by that. Without a look it yields what was inferred alone.
func (s *goroutineLooks) fillWithLooks(x *exchange, from, to int64, inferred evidence.Segment, yield func(until int64, seg evidence.Segment)) {
	all := s.looksWithin(x, from, to)
	for i, l := range all {
		until := to
		if i+1 < len(all) {
			until = (l.at + all[i+1].at) / 2
		}
		yield(until, s.mergeLook(inferred, s.followStarted(x, l)))
	}
	if len(all) == 0 && s != nil && inferred.Kind == evidence.Unobserved && to-from >= alikeLeast {
		if w, known := s.usual[x.what]; known {
			inferred = w.Segment
		}
	}
	yield(to, inferred)
}

// mergeLook returns what a request did by what was inferred from times and by a look. Whether it ran or was ready, only the look says. A lock is one; of
// other waits what was inferred says more, such as the size of a pool, and the look says where.
func (s *goroutineLooks) mergeLook(inferred evidence.Segment, l look) evidence.Segment {
	kind := s.p.b.WaitFacts(inferred.Cause).Kind
	if guessed := inferred.Kind == evidence.Unobserved || kind == evidence.Turn || kind == evidence.TimedStart; guessed && l.state == 'r' {
		return evidence.Segment{Kind: evidence.Running}
	} else if guessed && l.state == 'q' {
		return evidence.Segment{Kind: evidence.Runnable}
	}
	w := s.meaningOf(l.stack)
	switch {
	case !l.isWaiting() || w.Kind == 0:
		return inferred
	case w.Kind == evidence.LockWait:
		seg := w.Segment
		if inferred.HolderKind != 0 {
			seg.HolderKind, seg.HolderCause, seg.HolderStack = inferred.HolderKind, inferred.HolderCause, inferred.HolderStack
			return seg
		}
		return s.findHolder(seg, w, l)
	case inferred.Kind == evidence.Unobserved, w.Kind == evidence.PoolWait && kind == evidence.OneAtATime:
		seg := w.Segment
		seg.HolderKind, seg.HolderCause, seg.HolderStack = inferred.HolderKind, inferred.HolderCause, inferred.HolderStack
		return seg
	}
	inferred.Stack = w.Stack
	return inferred
}

// findHolder adds to a wait for a lock what its holder does, which was seen in the same round in the function that takes the lock.
func (s *goroutineLooks) findHolder(seg evidence.Segment, w parked, l look) evidence.Segment {
	for _, other := range s.rounds[l.at] {
		if other.goroutine == l.goroutine || other.stack == 0 {
			continue
		}
		of := s.meaningOf(other.stack)
		if of.Kind == evidence.LockWait && of.Cause == seg.Cause || !s.hasFunction(other.stack, w.site) {
			continue
		}
		if other.state == 's' {
			if call, in := gostack.SystemCall(s.p.functionsOf(other.stack)); call != "" {
				seg.HolderKind, seg.HolderCause, seg.HolderStack = evidence.Syscall, s.p.b.TellWait(call+in, evidence.Wait{Call: call}), other.stack
				return seg
			}
		}
		if other.isWaiting() && of.Kind != 0 {
			seg.HolderKind, seg.HolderCause, seg.HolderStack = of.Kind, of.Cause, other.stack
			if c := s.callAt(other.goroutine, l.at); c != nil && of.Kind == evidence.NetWait {
				seg.HolderCause = c.what
			}
			return seg
		}
	}
	return seg
}

// hasFunction says whether a function is on a stack.
func (s *goroutineLooks) hasFunction(stack evidence.StackID, function string) bool {
	k := onStack{stack, function}
	is, known := s.on[k]
	if !known {
		is = slices.ContainsFunc(s.p.b.Frames(stack), func(f evidence.Frame) bool { return s.p.b.Text(f.Func) == function })
		s.on[k] = is
	}
	return is
}

// onStack asks whether a function is on a stack.
type onStack struct {
	stack    evidence.StackID
	function string
}

// callAt returns the call that a goroutine's request has begun last and waits for at a moment; nil if none is known.
func (s *goroutineLooks) callAt(goroutine, at int64) *exchange {
	if s.calling == nil {
		s.calling = make(map[int64][]int32)
		for i := range s.p.calls {
			c := &s.p.calls[i]
			if c.request < 0 || c.behind {
				continue
			}
			if g := s.p.requests[c.request].goroutines[0]; g != 0 {
				s.calling[g] = append(s.calling[g], int32(i))
			}
		}
		for _, all := range s.calling {
			slices.SortFunc(all, func(a, b int32) int {
				return cmp.Or(cmp.Compare(s.p.calls[a].begun, s.p.calls[b].begun), cmp.Compare(a, b))
			})
		}
	}
	all := s.calling[goroutine]
	n, _ := slices.BinarySearchFunc(all, at+1, func(k int32, at int64) int { return cmp.Compare(s.p.calls[k].begun, at) })
	if n > 0 && at <= s.p.doneAt(&s.p.calls[all[n-1]]) {
		return &s.p.calls[all[n-1]]
	}
	return nil
}

// nameSites gives calls the stack of the goroutine whose request waits for them, where another goroutine sent them, as net/http's client does.
func (s *goroutineLooks) nameSites() {
	if s == nil {
		return
	}
	for i := range s.p.calls {
		c := &s.p.calls[i]
		if c.request < 0 || c.behind {
			continue
		}
		r := &s.p.requests[c.request]
		if c.stack != 0 && (c.byStarted || c.goroutines[0] == r.goroutines[0]) {
			continue
		}
		c.stack = 0
		for _, l := range s.looksWithin(r, c.begun, s.p.doneAt(c)) {
			if w := s.meaningOf(l.stack); l.isWaiting() && w.answer {
				c.stack = l.stack
				break
			}
		}
	}
}

// meanGap returns the mean time (ns) between two rounds of looks; 0 where there are none.
func (s *goroutineLooks) meanGap() int64 {
	if s == nil || len(s.rounds) < 2 {
		return 0
	}
	return (s.p.looks[len(s.p.looks)-1].at - s.p.looks[0].at) / int64(len(s.rounds)-1)
}
