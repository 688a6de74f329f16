package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// engine is one run: a schedule that offers requests, places on connections that
// take them, and a queue of those that wait for one.
type engine struct {
	plan     Plan
	url      *url.URL
	messages []message
	fixed    [][]byte       // the messages that are always the same, nil of the others
	streams  []streamedHead // the messages as HTTP/2 has them, if that is spoken
	dial     func(context.Context) (net.Conn, error)
	begin    time.Time
	readers  sync.WaitGroup
	stop     context.CancelCauseFunc // ends the run early: nobody answers HTTP there
	loops    []*loop                 // that read connections, where the kernel tells them which have something
	dialing  context.Context         // of connections being opened
	hangUp   context.CancelFunc

	turn        atomic.Int64 // of the loops
	first       []line       // opened before the run begins
	mu          sync.Mutex
	places      []*place
	free        []*place // the one used last is taken first: few stay in use
	open        int      // connections that take requests
	opening     int
	fewest      int   // requests at once on the connection that takes the fewest, 0: none yet
	grown       int64 // ns: when a connection beyond the first hundreds was last opened
	most        int   // connections
	waiting     fifo
	offered     uint64
	outstanding int64 // offered and without a row
	sealed      bool  // nothing more is offered
	over        bool  // nothing more is waited for
	closedUntil int64 // closed loop: ns, 0 no limit
	rows        []Row
	failures    map[string]int64
	firstError  error
	answers     int64
	lastAnswer  int64         // ns, 0: none yet
	usual       int64         // ns from sending to the answer: a moving mean
	idle        chan struct{} // closed when sealed and nothing is outstanding
}

// now is ns since the epoch on a clock that is not set back.
func (e *engine) now() int64 { return e.begin.UnixNano() + int64(time.Since(e.begin)) }

// offer sends a request whose time has come, or lets it wait.
func (e *engine) offer(intended int64) {
	now := e.now()
	e.mu.Lock()
	p := pending{n: e.offered, intended: intended, lag: now - intended}
	e.offered++
	e.outstanding++
	if k := len(e.free); k > 0 {
		at := e.free[k-1]
		e.free = e.free[:k-1]
		e.assign(at, p)
		e.mu.Unlock()
		at.line.send(at, p.n)
		return
	}
	e.waiting.push(p)
	e.grow()
	e.mu.Unlock()
}

// grow opens connections for the requests that wait; mu is held: clients that have
// nothing to do with each other do not wait for each other's answers, and what waits
// in the generator nothing at the server can see. Beyond a few hundred it takes its
// time: thousands of connections in a moment are a load of their own, to a server that
// has just stalled the last thing it needs, and to the generator, too.
func (e *engine) grow() {
	const (
		atOnce = 64
		freely = 256
		gap    = int64(time.Millisecond)
	)
	each := max(1, e.fewest)
	for e.waiting.len() > e.opening*each && e.open+e.opening < e.most && e.opening < atOnce && !e.over {
		if e.open+e.opening >= freely {
			now := e.now()
			if e.stalled(now) || now-e.grown < gap {
				return
			}
			e.grown = now
		}
		e.opening++
		e.readers.Add(1)
		go e.connect()
	}
}

// stalled says whether a server that answered fast has not answered anything for
// a while; mu is held. More connections would not get more out of it, and would
// be one more thing to recover from. After 5 s it may be the connections that are
// stuck, and new ones are tried.
func (e *engine) stalled(now int64) bool {
	const least, most = int64(10 * time.Millisecond), int64(5 * time.Second)
	silent := now - e.lastAnswer
	return e.open > 0 && e.lastAnswer != 0 && silent > max(least, 4*e.usual) && silent < most
}

// connect opens a connection and gives it what waits.
func (e *engine) connect() {
	l, err := e.dialed(e.dialing)
	now := e.now()
	e.mu.Lock()
	e.opening--
	if err != nil {
		e.unconnected(err, now)
		e.mu.Unlock()
		e.readers.Done()
		return
	}
	if e.over {
		e.mu.Unlock()
		l.Close()
		e.readers.Done()
		return
	}
	e.adopt(l)
	var given []given
	for _, at := range l.base().places {
		given = e.give(given, at, now)
	}
	e.mu.Unlock()
	go l.serve()
	send(given)
}

// dialed is a connection that is ready for requests.
func (e *engine) dialed(ctx context.Context) (line, error) {
	raw, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	if !e.plan.HTTP2 {
		if l, ok := e.polled(raw); ok {
			return l, nil
		}
		return newConn(e, raw), nil
	}
	s, err := newSession(ctx, e, raw)
	if err != nil {
		raw.Close()
		return nil, err
	}
	return s, nil
}

// adopt registers a connection; mu is held.
func (e *engine) adopt(l line) {
	b := l.base()
	b.left, b.open = len(b.places), true
	if e.open++; e.fewest == 0 || b.left < e.fewest {
		e.fewest = b.left
	}
	for _, at := range b.places {
		at.at = len(e.places)
		e.places = append(e.places, at)
	}
}

// assign gives a place a request; mu is held. The caller sends it after unlocking.
// The clock is read here: waiting for the lock takes time, too.
func (e *engine) assign(at *place, p pending) {
	at.busy, at.current, at.late, at.failure = true, p, false, nil
	at.sent.Store(e.now())
}

// given is a request that a place was assigned and that is to be sent.
type given struct {
	at *place
	n  uint64
}

// give assigns the next request to a place, or puts it with the free ones; mu is held.
func (e *engine) give(to []given, at *place, now int64) []given {
	p, more := e.take(now)
	if !more {
		e.free = append(e.free, at)
		return to
	}
	e.assign(at, p)
	return append(to, given{at, p.n})
}

// send sends what was given; mu is not held.
func send(given []given) {
	for _, g := range given {
		g.at.line.send(g.at, g.n)
	}
}

// unconnected is the failure to open a connection; mu is held. Where others are
// open the request waits for them, else it has failed.
func (e *engine) unconnected(err error, now int64) {
	if ownLimit(err) && e.open > 0 {
		e.most = e.open
		e.failures["no more connections: "+reason(err)]++
		return
	}
	if e.open > 0 && e.plan.Mode == Open || e.over {
		return
	}
	if p, ok := e.take(now); ok {
		e.fail(p, 0, now, err)
	}
	if e.plan.Mode == Closed && !e.sealed {
		e.opening++
		e.readers.Add(1)
		time.AfterFunc(10*time.Millisecond, e.connect) // not a loop that only counts refusals
		return
	}
	e.grow()
}

// ownLimit says whether it is this machine that cannot have more connections.
func ownLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

// take is the next request for a connection; mu is held.
func (e *engine) take(now int64) (pending, bool) {
	if p, ok := e.waiting.pop(); ok {
		return p, true
	}
	if e.plan.Mode == Open || e.sealed {
		return pending{}, false
	}
	if e.closedUntil != 0 && now >= e.closedUntil || e.plan.Requests > 0 && e.offered >= uint64(e.plan.Requests) {
		e.seal()
		return pending{}, false
	}
	p := pending{n: e.offered, intended: now}
	e.offered++
	e.outstanding++
	return p, true
}

// answered ends the request a place had, with its answer or with an error that
// leaves the connection usable, and gives it the next; alive is false if the place
// is done with.
func (e *engine) answered(at *place, a answer, err error) (next pending, more, alive bool) {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ended(at, a, err, now)
}

// ended is answered; mu is held.
func (e *engine) ended(at *place, a answer, err error, now int64) (next pending, more, alive bool) {
	if !at.busy { // what it had was given up
		e.lose(at)
		return pending{}, false, false
	}
	at.busy = false
	if err != nil {
		e.unanswered(at, err, now)
	} else {
		e.answer(at, a, now)
	}
	if a.close || at.late || at.failure != nil || at.line.base().retired || e.over {
		e.lose(at)
		return pending{}, false, false
	}
	if next, more = e.take(now); more {
		e.assign(at, next)
	} else {
		e.free = append(e.free, at)
	}
	return next, more, true
}

// broken ends a connection and whatever its places had.
func (e *engine) broken(l line, err error) {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range l.base().places {
		if at.busy {
			at.busy = false
			e.unanswered(at, err, now)
		}
		e.lose(at)
	}
}

// retire lets a connection finish what it has and gives it nothing more.
func (e *engine) retire(l line) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := l.base()
	b.retired = true
	for _, at := range b.places {
		if !at.busy {
			e.lose(at)
		}
	}
	e.replace(b)
}

// unanswered ends a request that was sent and got no answer, unless it is sent anew; mu is held.
func (e *engine) unanswered(at *place, err error, now int64) {
	switch {
	case at.late:
		e.finish(at.current, at.sent.Load(), now, Row{Outcome: evidence.TimedOut})
	case e.stale(at, err):
		at.current.tries++
		e.waiting.unpop(at.current)
	default:
		if at.failure != nil {
			err = at.failure
		}
		e.fail(at.current, at.sent.Load(), now, err)
	}
}

func (e *engine) answer(at *place, a answer, now int64) {
	at.served++
	outcome := evidence.OK
	if a.status < 200 || a.status >= 400 {
		outcome = evidence.Failed
	}
	e.answers++
	e.lastAnswer = now
	e.usual += (now - at.sent.Load() - e.usual) / 16
	e.finish(at.current, at.sent.Load(), now, Row{Status: a.status, Bytes: a.bytes, Outcome: outcome})
}

// stale says whether the server never took up a request: it said so, or closed a
// connection that had served before just as the request was sent, which is nobody's
// failure (RFC 9112, 9.3.1).
func (e *engine) stale(at *place, err error) bool {
	if at.current.tries >= 16 || e.over {
		return false
	}
	gone := err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return errors.Is(err, errRefused) || gone && at.served > 0 && idempotent(e.plan.Method) && !at.line.begun(at)
}

// lose forgets a place, and with its last one the connection; mu is held.
func (e *engine) lose(at *place) {
	if at.at < 0 {
		return
	}
	last := len(e.places) - 1
	e.places[at.at] = e.places[last]
	e.places[at.at].at = at.at
	e.places = e.places[:last]
	at.at = -1
	if i := slices.Index(e.free, at); i >= 0 {
		e.free = slices.Delete(e.free, i, i+1)
	}
	b := at.line.base()
	if b.left--; b.left == 0 {
		e.replace(b)
		_ = at.line.Close() // by whoever reads it, or of one that nobody reads from
	}
}

// replace opens a connection in the place of one that takes nothing more: at once
// in a closed loop, else if it is needed; mu is held.
func (e *engine) replace(b *base) {
	if !b.open {
		return
	}
	b.open = false
	e.open--
	if e.plan.Mode == Closed && !e.sealed && !e.over {
		e.opening++
		e.readers.Add(1)
		go e.connect()
		return
	}
	e.grow()
}

// fail ends a request that got no answer; mu is held.
func (e *engine) fail(p pending, sent, now int64, err error) {
	e.failures[reason(err)]++
	if e.firstError == nil {
		e.firstError = err
		if e.answers == 0 && errors.Is(err, errNotHTTP) {
			e.stop(err)
		}
	}
	e.finish(p, sent, now, Row{Outcome: evidence.Failed})
}

// finish writes a request's row; mu is held.
func (e *engine) finish(p pending, sent, end int64, r Row) {
	r.Intended, r.Sent, r.End, r.Lag = p.intended, sent, end, p.lag
	r.Route = e.messages[p.n%uint64(len(e.messages))].route
	e.rows = append(e.rows, r)
	if e.outstanding--; e.outstanding == 0 && e.sealed {
		close(e.idle)
	}
}

// seal says that nothing more will be offered; mu is held.
func (e *engine) seal() {
	if e.sealed {
		return
	}
	if e.sealed = true; e.outstanding == 0 {
		close(e.idle)
	}
}

// expire gives up requests that were sent too long ago. It is called every few ms.
func (e *engine) expire() { send(e.expired()) }

// expired gives up what is too late, and returns what its places were given.
func (e *engine) expired() []given {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grow()
	now := e.now()
	before := now - int64(e.plan.Timeout)
	var anew []given
	for i := len(e.places) - 1; i >= 0; i-- { // backwards: some may be lost
		at := e.places[i]
		if !at.busy || at.late || at.sent.Load() >= before || !at.line.giveUp(at) {
			continue
		}
		at.busy = false
		e.finish(at.current, at.sent.Load(), now, Row{Outcome: evidence.TimedOut})
		if at.line.base().retired {
			e.lose(at)
		} else {
			anew = e.give(anew, at, now)
		}
	}
	return anew
}

// end gives up everything: what is under way or waits is unfinished.
func (e *engine) end() {
	e.hangUp()
	e.mu.Lock()
	e.seal()
	e.over = true
	now := e.now()
	for _, at := range e.places {
		if at.busy {
			at.busy = false
			e.finish(at.current, at.sent.Load(), now, Row{Outcome: evidence.Unfinished})
		}
	}
	for p, ok := e.waiting.pop(); ok; p, ok = e.waiting.pop() {
		e.finish(p, 0, now, Row{Outcome: evidence.Unfinished})
	}
	for _, at := range e.places { // of several places, more than once
		at.line.hangUp()
	}
	e.mu.Unlock()
	e.readers.Wait()
	e.stopLoops()
}

func (e *engine) stopLoops() {
	for _, l := range e.loops {
		l.stop()
	}
	e.loops = nil
}

// fifo is the queue of requests that wait for a connection.
type fifo struct {
	items []pending
	from  int
}

func (q *fifo) len() int       { return len(q.items) - q.from }
func (q *fifo) push(p pending) { q.items = append(q.items, p) }

func (q *fifo) pop() (pending, bool) {
	if q.len() == 0 {
		return pending{}, false
	}
	p := q.items[q.from]
	if q.from++; q.from == len(q.items) {
		q.items, q.from = q.items[:0], 0
	} else if q.from > 1024 && q.from > len(q.items)/2 {
		q.items, q.from = q.items[:copy(q.items, q.items[q.from:])], 0
	}
	return p, true
}

// unpop puts a request back to the head.
func (q *fifo) unpop(p pending) {
	if q.from > 0 {
		q.from--
		q.items[q.from] = p
		return
	}
	q.items = append(q.items, pending{})
	copy(q.items[1:], q.items)
	q.items[0] = p
}
