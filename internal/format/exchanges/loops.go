package exchanges

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Signs of an event loop: a thread reads several connections in turns, and no other thread reads them; or it is one of a
// few threads that share all connections, like the workers of tokio or the carriers of virtual threads, and reads requests while others that it has
// read are unanswered. Then unread data means that all of them are busy: also the one that will read it.
const (
	loopReads   = .01 // part of a port's requests that a thread must read
	loopTurns   = 3   // times that it returns to a connection after another
	loopSticks  = .98 // part of the requests that must come on connections that one thread alone reads
	loopRepeats = 2   // requests that a connection must have to count

	mostSharing  = 64  // threads that share connections
	loopReadings = 10  // requests that these must read while others are unanswered
	loopBetween  = .05 // of all
)

// shortWait (ns) is the wait of data for its reader that is not explained: a wake-up takes as long.
const shortWait = int64(500e3)

// loops are the event loops of a process.
type loops struct {
	p     *parser
	turns map[int64][]moment // by thread
	names map[int64]evidence.NameID
	share bool                 // all connections
	busy  map[int64][][2]int64 // by thread: from and until (ns), in order
}

// findLoops looks for the event loops among the threads that read requests.
func (p *parser) findLoops() *loops {
	l := &loops{p: p, turns: make(map[int64][]moment), names: make(map[int64]evidence.NameID), busy: make(map[int64][][2]int64)}
	byPort := make(map[int64][]int)
	for i := range p.requests {
		byPort[p.requests[i].port] = append(byPort[p.requests[i].port], i)
	}
	ports := make([]int64, 0, len(byPort))
	for port := range byPort {
		ports = append(ports, port)
	}
	slices.Sort(ports)
	for _, port := range ports {
		threads, share := p.loopsOf(byPort[port])
		l.share = l.share || share
		for _, thread := range threads {
			l.turns[thread] = nil
		}
	}
	if len(l.turns) == 0 {
		return nil
	}
	l.collectTurns()
	for thread := range l.turns {
		l.names[thread] = p.b.Wait(evidence.EventLoop, l.titleOf(thread))
		if l.ofCarriers(thread) {
			carriers := fmt.Sprintf("%d carriers of virtual threads", len(l.turns))
			l.names[thread] = p.b.TellWait(carriers, evidence.Wait{Kind: evidence.EventLoop, Of: carriers})
		}
	}
	l.relinkCalls()
	return l
}

// relinkCalls links the calls of loops again: what a loop answers before it reads anything else
// belongs to the call's answer that it has just read. This also holds if it had read
// several requests at once or begun another request's call in between.
func (l *loops) relinkCalls() {
	for _, turns := range l.turns {
		for i := range turns {
			if turns[i].what != learns || l.p.calls[turns[i].of].lookup { // after a lookup a request makes a call
				continue
			}
			one := int32(-1)
			for j := i + 1; j < len(turns) && turns[j].what != learns && turns[j].what != reads; j++ {
				if turns[j].what != answers {
					continue
				}
				if one >= 0 && one != turns[j].of {
					one = -1
					break
				}
				one = turns[j].of
			}
			if k := &l.p.calls[turns[i].of]; one >= 0 && k.begun >= l.p.requests[one].begun {
				k.request = one
			}
		}
	}
}

// findBusy finds when the loops were certainly busy: while data had arrived that they did not read, and since the beginning of
// what they then did.
func (l *loops) findBusy() {
	if l == nil {
		return
	}
	waited := func(thread, from, until int64) {
		turns, is := l.turns[thread]
		if !is || until-from < shortWait {
			return
		}
		if next := firstTurnAfter(turns, from); next > 0 && turns[next-1].what != answers {
			from = turns[next-1].at
		}
		l.busy[thread] = append(l.busy[thread], [2]int64{from, until})
	}
	for i := range l.p.requests {
		x := &l.p.requests[i]
		waited(x.thread, x.came, x.begun)
	}
	for i := range l.p.calls {
		if x := &l.p.calls[i]; x.first > 0 {
			waited(x.other, x.first-x.ready, x.first)
		}
	}
	for thread, all := range l.busy {
		slices.SortFunc(all, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		n := 0
		for _, x := range all[1:] {
			if x[0] <= all[n][1] {
				all[n][1] = max(all[n][1], x[1])
				continue
			}
			n++
			all[n] = x
		}
		l.busy[thread] = all[:n+1]
	}
}

// busyWithin returns when a loop was busy between two moments.
func (l *loops) busyWithin(thread, from, until int64) [][2]int64 {
	if l == nil {
		return nil
	}
	all := l.busy[thread]
	first, _ := slices.BinarySearchFunc(all, from, func(x [2]int64, t int64) int { return cmp.Compare(x[1], t+1) })
	last := first
	for last < len(all) && all[last][0] < until {
		last++
	}
	return all[first:last]
}

// busyFor returns for how long (ns) a loop was busy between two moments.
func (l *loops) busyFor(thread, from, until int64) int64 {
	if l == nil {
		return 0
	}
	return timeWithin(l.busy[thread], from, until)
}

// firstTurnAfter returns the index of the first of a loop's turns after a moment.
func firstTurnAfter(turns []moment, at int64) int {
	next, _ := slices.BinarySearchFunc(turns, at, func(m moment, t int64) int { return cmp.Compare(m.at, t+1) })
	return next
}

// loopsOf returns the event loops among the threads that read the requests of a port, and says whether they share the connections.
func (p *parser) loopsOf(rows []int) (threads []int64, share bool) {
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.requests[a].begun, p.requests[b].begun), cmp.Compare(a, b))
	})
	type reader struct {
		reads, turns int
		between      int            // reads while one that it read is unanswered
		last         int64          // connection
		until        int64          // when the last of those that it read is answered
		met          map[int64]bool // connections
	}
	readers := make(map[int64]*reader)
	of := make(map[int64]int64) // by connection: the thread, -1 several
	count := make(map[int64]int)
	for _, i := range rows {
		x := &p.requests[i]
		r := readers[x.thread]
		if r == nil {
			r = &reader{met: make(map[int64]bool)}
			readers[x.thread] = r
		}
		if r.reads++; x.begun < r.until {
			r.between++
		}
		r.until = max(r.until, p.endOf(x))
		if x.connection == 0 {
			continue
		}
		if r.last != x.connection && r.met[x.connection] {
			r.turns++
		}
		r.last, r.met[x.connection] = x.connection, true
		if t, known := of[x.connection]; known && t != x.thread {
			of[x.connection] = -1
		} else if !known {
			of[x.connection] = x.thread
		}
		count[x.connection]++
	}
	between := 0
	for thread, r := range readers {
		if between += r.between; float64(r.reads) < loopReads*float64(len(rows)) {
			delete(readers, thread)
		}
	}
	repeated, sticks := 0, 0
	for connection, n := range count {
		if n >= loopRepeats {
			repeated += n
			if of[connection] >= 0 {
				sticks += n
			}
		}
	}
	turns := func(r *reader) bool { return r.turns >= loopTurns }
	switch {
	case repeated == 0 && (len(count) > 0 || len(readers) > 1): // each has a connection of its own, or connections are not recorded
		return nil, false
	case float64(sticks) < loopSticks*float64(repeated):
		if share = len(readers) <= mostSharing && between >= loopReadings && float64(between) >= loopBetween*float64(len(rows)) && !p.ofPool(rows); !share {
			return nil, false
		}
	case len(count) == 0:
		turns = func(*reader) bool { return true } // the one thread that reads all
	}
	for thread, r := range readers {
		if turns(r) {
			threads = append(threads, thread)
		}
	}
	slices.Sort(threads)
	return threads, share
}

// dotnetWorkers are the threads of .NET's pool, which starts more on demand.
const dotnetWorkers = ".NET TP Worker"

// ofPool says whether requests are read by goroutines, which continue on any thread, or by threads of a pool that starts more on
// demand: both have other ways to wait. .NET before 6 does not name its threads, so they have the process's name; event loops
// that share connections have names.
func (p *parser) ofPool(rows []int) bool {
	process := p.names[p.pid]
	return slices.ContainsFunc(rows, func(i int) bool {
		x := &p.requests[i]
		name := p.names[x.thread]
		return x.goroutines[0] > 0 || name == dotnetWorkers || name != "" && name == process
	})
}

// collectTurns lists what the loops did, in the order of time.
func (l *loops) collectTurns() {
	if l == nil {
		return
	}
	for thread := range l.turns {
		l.turns[thread] = nil
	}
	add := func(thread, at int64, what act, of int32) {
		if turns, is := l.turns[thread]; is && at > 0 {
			l.turns[thread] = append(turns, moment{at: at, what: what, thread: thread, of: of})
		}
	}
	for i := range l.p.requests {
		x := &l.p.requests[i]
		add(x.thread, x.begun, reads, int32(i))
		add(x.other, x.first, answers, int32(i))
		if x.last != x.first && !x.isStreamed() {
			add(x.other, x.last, answers, int32(i))
		}
	}
	for i := range l.p.calls {
		x := &l.p.calls[i]
		add(x.thread, x.begun, sends, int32(i))
		add(x.other, x.first, learns, int32(i))
	}
	for _, turns := range l.turns {
		slices.SortFunc(turns, func(a, b moment) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.of, b.of))
		})
	}
}

// titleOf returns the name of a thread, with its number if other threads have the name, or with how many threads share the connections.
func (l *loops) titleOf(thread int64) string {
	name := l.p.names[thread]
	if l.share && len(l.turns) > 1 {
		for thread := range l.turns {
			name = commonStart(name, l.p.names[thread])
		}
		name = threadstack.TrimNumber(name)
		return strings.TrimSpace(fmt.Sprintf("of %d threads %s", len(l.turns), name))
	}
	for other := range l.turns {
		if name == "" || other != thread && l.p.names[other] == name {
			if name != "" {
				name += " "
			}
			return fmt.Sprintf("%sof thread %d", name, thread)
		}
	}
	if len(name) == threadstack.LongestComm {
		name += "…"
	}
	return name
}

// carrierName begins the names of the threads on which a JVM runs virtual threads: ForkJoinPool-1-worker-1 (JEP 444).
const carrierName = "ForkJoinPool-"

// ofCarriers says whether the threads that share all connections are carriers of virtual threads: a thread of another such pool reads no request
// while one that it has read is unanswered.
func (l *loops) ofCarriers(thread int64) bool {
	if !l.share || len(l.turns) < 2 {
		return false
	}
	name := l.p.names[thread]
	for other := range l.turns {
		name = commonStart(name, l.p.names[other])
	}
	return strings.HasPrefix(name, carrierName)
}

// commonStart returns the common beginning of two names.
func commonStart(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// isLoop says whether a thread is an event loop.
func (l *loops) isLoop(thread int64) bool {
	if l == nil {
		return false
	}
	_, is := l.turns[thread]
	return is
}

// requestOf returns the request that a moment belongs to, -1 unknown.
func (l *loops) requestOf(m *moment) int32 {
	if m.what == reads || m.what == answers {
		return m.of
	}
	return l.p.calls[m.of].request
}

// eachWait yields what a loop did between two moments (ns) while data waited to be read: it worked
// on other requests, each in a state of its own, or on something unknown. A turn for the
// waiting request itself is unobserved.
func (l *loops) eachWait(thread, from, until int64, of int32, yield func(until int64, s evidence.Segment)) {
	turns := l.turns[thread]
	next := firstTurnAfter(turns, from)
	for at := from; at < until; next++ {
		end := until
		if next < len(turns) {
			end = min(end, turns[next].at)
		}
		if end <= at {
			if next >= len(turns) {
				return
			}
			continue
		}
		s := evidence.Segment{Kind: evidence.ThreadWait, Cause: l.names[thread], Holder: evidence.LaneID(thread), HolderKind: evidence.Unobserved}
		holder := l.findHolder(turns, next, &s)
		switch {
		case holder == of && of >= 0:
			s = evidence.Segment{Kind: evidence.Unobserved}
		case holder >= 0:
			s.Via = l.p.requests[holder].what
		}
		yield(end, s)
		at = end
	}
}

// findHolder returns the request that a loop worked on before its next turn, -1 unknown, and
// sets in s what the loop did for it.
func (l *loops) findHolder(turns []moment, next int, s *evidence.Segment) int32 {
	var last, then *moment
	if next > 0 {
		last = &turns[next-1]
	}
	if next < len(turns) {
		then = &turns[next]
	}
	if last != nil && then != nil && last.what == sends && then.what == learns && last.of == then.of { // it reads nothing else before the answer
		s.HolderKind, s.HolderCause = evidence.NetWait, l.p.calls[last.of].what
		return l.requestOf(last)
	}
	if then != nil && then.what != reads && then.what != learns {
		if r := l.requestOf(then); r >= 0 {
			s.HolderKind = evidence.Running
			return r
		}
	}
	if last != nil && last.what != answers {
		if r := l.requestOf(last); r >= 0 {
			if s.HolderKind = evidence.Running; last.what == sends && l.share { // it may wait for the answer, which another thread reads
				s.HolderKind = evidence.Unobserved
			}
			return r
		}
	}
	return -1
}
