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

// engine is one run: a schedule that offers requests, places on connections that take them, and a queue of requests that wait for a place.
type engine struct {
	plan     Plan
	url      *url.URL
	messages []message
	fixed    [][]byte       // the messages that never change, nil for the others
	streams  []streamedHead // the messages in the form of HTTP/2, if it is spoken
	dial     func(context.Context) (net.Conn, error)
	begin    time.Time
	readers  sync.WaitGroup
	stop     context.CancelCauseFunc // ends the run early: nothing answers HTTP there
	loops    []*loop                 // read connections for which the kernel reports data
	dialing  context.Context         // context of connections being opened
	hangUp   context.CancelFunc

	turn        atomic.Int64 // next loop to use
	first       []line       // opened before the run begins
	mu          sync.Mutex
	places      []*place
	free        []*place // the last used one is taken first, so that few stay in use
	open        int      // connections that take requests
	opening     int
	fewest      int   // least requests at once on any connection, 0: none yet
	grown       int64 // ns: when a connection beyond the first hundreds was last opened
	most        int   // connections
	waiting     fifo
	offered     uint64
	outstanding int64 // offered requests without a row
	sealed      bool  // no more requests are offered
	over        bool  // no more answers are awaited
	closedUntil int64 // closed loop: ns, 0 no limit
	rows        []Row
	failures    map[string]int64
	firstError  error
	answers     int64
	lastAnswer  int64         // ns, 0: none yet
	usual       int64         // moving mean of the time from sending to the answer, ns
	idle        chan struct{} // closed when sealed and nothing is outstanding
}

// nowNanos returns ns since the epoch on a clock that is not set back.
func (e *engine) nowNanos() int64 { return e.begin.UnixNano() + int64(time.Since(e.begin)) }

// offerRequest sends a request whose time has come, or lets it wait for a connection.
func (e *engine) offerRequest(intended int64) {
	now := e.nowNanos()
	e.mu.Lock()
	p := pending{n: e.offered, intended: intended, lag: now - intended}
	e.offered++
	e.outstanding++
	if k := len(e.free); k > 0 {
		at := e.free[k-1]
		e.free = e.free[:k-1]
		e.assignRequest(at, p)
		e.mu.Unlock()
		at.line.sendRequest(at, p.n)
		return
	}
	e.waiting.push(p)
	e.growConnections()
	e.mu.Unlock()
}

// growConnections opens connections for the requests that wait; mu is held. Independent clients do
// not wait for each other's answers, and the server cannot see a request that waits in the
// generator. Beyond a few hundred connections it opens them slowly: thousands at once are a load
// of their own, which neither a server that has just stalled nor the generator can afford.
func (e *engine) growConnections() {
	const (
		atOnce = 64
		freely = 256
		gap    = int64(time.Millisecond)
	)
	each := max(1, e.fewest)
	for e.waiting.len() > e.opening*each && e.open+e.opening < e.most && e.opening < atOnce && !e.over {
		if e.open+e.opening >= freely {
			now := e.nowNanos()
			if e.isStalled(now) || now-e.grown < gap {
				return
			}
			e.grown = now
		}
		e.opening++
		e.readers.Add(1)
		go e.openConnection()
	}
}

// isStalled reports whether a server that answered fast has not answered anything for a while; mu is held. More connections would not get more
// answers, and the server would have to recover from them, too. After 5 s the connections themselves may be stuck, and new ones are tried.
func (e *engine) isStalled(now int64) bool {
	const least, most = int64(10 * time.Millisecond), int64(5 * time.Second)
	silent := now - e.lastAnswer
	return e.open > 0 && e.lastAnswer != 0 && silent > max(least, 4*e.usual) && silent < most
}

// openConnection opens a connection and gives it requests that wait.
func (e *engine) openConnection() {
	l, err := e.dialLine(e.dialing)
	now := e.nowNanos()
	e.mu.Lock()
	e.opening--
	if err != nil {
		e.failConnection(err, now)
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
	e.registerLine(l)
	var given []given
	for _, at := range l.lineBase().places {
		given = e.giveNext(given, at, now)
	}
	e.mu.Unlock()
	go l.readAnswers()
	sendGiven(given)
}

// dialLine opens a connection that is ready for requests.
func (e *engine) dialLine(ctx context.Context) (line, error) {
	raw, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	if !e.plan.HTTP2 {
		if l, ok := e.newPolled(raw); ok {
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

// registerLine registers a connection; mu is held.
func (e *engine) registerLine(l line) {
	b := l.lineBase()
	b.left, b.open = len(b.places), true
	if e.open++; e.fewest == 0 || b.left < e.fewest {
		e.fewest = b.left
	}
	for _, at := range b.places {
		at.at = len(e.places)
		e.places = append(e.places, at)
	}
}

// assignRequest gives a place a request; mu is held. The caller sends it after unlocking. The
// clock is read here, because waiting for the lock takes time, too.
func (e *engine) assignRequest(at *place, p pending) {
	at.busy, at.current, at.late, at.failure = true, p, false, nil
	at.sent.Store(e.nowNanos())
}

// given is a request that was assigned to a place and must be sent.
type given struct {
	at *place
	n  uint64
}

// giveNext assigns the next request to a place, or puts the place with the free ones; mu is held.
func (e *engine) giveNext(to []given, at *place, now int64) []given {
	p, more := e.takeNext(now)
	if !more {
		e.free = append(e.free, at)
		return to
	}
	e.assignRequest(at, p)
	return append(to, given{at, p.n})
}

// sendGiven sends the requests that were assigned to places; mu is not held.
func sendGiven(given []given) {
	for _, g := range given {
		g.at.line.sendRequest(g.at, g.n)
	}
}

// failConnection records that a connection could not be opened; mu is held. If other connections
// are open, the request waits for them; else it has failed.
func (e *engine) failConnection(err error, now int64) {
	if ownLimit(err) && e.open > 0 {
		e.most = e.open
		e.failures["no more connections: "+shortReason(err)]++
		return
	}
	if e.open > 0 && e.plan.Mode == Open || e.over {
		return
	}
	if p, ok := e.takeNext(now); ok {
		e.failRequest(p, 0, now, err)
	}
	if e.plan.Mode == Closed && !e.sealed {
		e.opening++
		e.readers.Add(1)
		time.AfterFunc(10*time.Millisecond, e.openConnection) // delayed, so that it does not become a loop of refusals
		return
	}
	e.growConnections()
}

// ownLimit says whether this machine cannot open more connections.
func ownLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

// takeNext returns the next request for a connection; mu is held.
func (e *engine) takeNext(now int64) (pending, bool) {
	if p, ok := e.waiting.pop(); ok {
		return p, true
	}
	if e.plan.Mode == Open || e.sealed {
		return pending{}, false
	}
	if e.closedUntil != 0 && now >= e.closedUntil || e.plan.Requests > 0 && e.offered >= uint64(e.plan.Requests) {
		e.stopOffering()
		return pending{}, false
	}
	p := pending{n: e.offered, intended: now}
	e.offered++
	e.outstanding++
	return p, true
}

// endRequest ends the request of a place, with its answer or with an error that leaves the
// connection usable, and gives the place the next request; alive is false if the place takes no
// more.
func (e *engine) endRequest(at *place, a answer, err error) (next pending, more, alive bool) {
	now := e.nowNanos()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.endRequestLocked(at, a, err, now)
}

// endRequestLocked is endRequest; mu is held.
func (e *engine) endRequestLocked(at *place, a answer, err error, now int64) (next pending, more, alive bool) {
	if !at.busy { // its request was given up
		e.forgetPlace(at)
		return pending{}, false, false
	}
	at.busy = false
	if err != nil {
		e.endUnanswered(at, err, now)
	} else {
		e.endAnswered(at, a, now)
	}
	if a.close || at.late || at.failure != nil || at.line.lineBase().retired || e.over {
		e.forgetPlace(at)
		return pending{}, false, false
	}
	if next, more = e.takeNext(now); more {
		e.assignRequest(at, next)
	} else {
		e.free = append(e.free, at)
	}
	return next, more, true
}

// breakLine ends a connection and the requests of all its places.
func (e *engine) breakLine(l line, err error) {
	now := e.nowNanos()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, at := range l.lineBase().places {
		if at.busy {
			at.busy = false
			e.endUnanswered(at, err, now)
		}
		e.forgetPlace(at)
	}
}

// retireLine lets a connection finish its requests and gives it no more.
func (e *engine) retireLine(l line) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := l.lineBase()
	b.retired = true
	for _, at := range b.places {
		if !at.busy {
			e.forgetPlace(at)
		}
	}
	e.replaceLine(b)
}

// endUnanswered ends a request that was sent and got no answer, unless it is sent again; mu is
// held.
func (e *engine) endUnanswered(at *place, err error, now int64) {
	switch {
	case at.late:
		e.finishRequest(at.current, at.sent.Load(), now, Row{Outcome: evidence.TimedOut})
	case e.canResend(at, err):
		at.current.tries++
		e.waiting.pushFront(at.current)
		if len(e.free) > 0 {
			e.readers.Add(1)
			go e.sendWaiting()
		}
	default:
		if at.failure != nil {
			err = at.failure
		}
		e.failRequest(at.current, at.sent.Load(), now, err)
	}
}

// sendWaiting gives requests that wait to places that are free.
func (e *engine) sendWaiting() {
	defer e.readers.Done()
	now := e.nowNanos()
	var all []given
	e.mu.Lock()
	for k := len(e.free); k > 0 && e.waiting.len() > 0 && !e.over; k = len(e.free) {
		at := e.free[k-1]
		e.free = e.free[:k-1]
		all = e.giveNext(all, at, now)
	}
	e.mu.Unlock()
	sendGiven(all)
}

func (e *engine) endAnswered(at *place, a answer, now int64) {
	at.served++
	outcome := evidence.OK
	if a.status < 200 || a.status >= 400 {
		outcome = evidence.Failed
	}
	e.answers++
	e.lastAnswer = now
	e.usual += (now - at.sent.Load() - e.usual) / 16
	e.finishRequest(at.current, at.sent.Load(), now, Row{Status: a.status, Bytes: a.bytes, Outcome: outcome})
}

// canResend reports whether the server never processed a request. Either it said so, or it closed a kept connection just as the request was
// sent, which is no failure (RFC 9112, 9.3.1).
func (e *engine) canResend(at *place, err error) bool {
	if at.current.tries >= 16 || e.over {
		return false
	}
	gone := err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return errors.Is(err, errRefused) || gone && at.served > 0 && isIdempotent(e.plan.Method) && !at.line.hasBegun(at)
}

// forgetPlace removes a place, and with its last place the connection; mu is held.
func (e *engine) forgetPlace(at *place) {
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
	b := at.line.lineBase()
	if b.left--; b.left == 0 {
		e.replaceLine(b)
		_ = at.line.Close() // if a goroutine reads the connection, that one closes it
	}
}

// replaceLine opens a connection in place of one that takes no more requests: at once in a closed
// loop, else if it is needed; mu is held.
func (e *engine) replaceLine(b *base) {
	if !b.open {
		return
	}
	b.open = false
	e.open--
	if e.plan.Mode == Closed && !e.sealed && !e.over {
		e.opening++
		e.readers.Add(1)
		go e.openConnection()
		return
	}
	e.growConnections()
}

// failRequest ends a request that got no answer; mu is held.
func (e *engine) failRequest(p pending, sent, now int64, err error) {
	e.failures[shortReason(err)]++
	if e.firstError == nil {
		e.firstError = err
		if e.answers == 0 && errors.Is(err, errNotHTTP) {
			e.stop(err)
		}
	}
	e.finishRequest(p, sent, now, Row{Outcome: evidence.Failed})
}

// finishRequest writes a request's row; mu is held.
func (e *engine) finishRequest(p pending, sent, end int64, r Row) {
	r.Intended, r.Sent, r.End, r.Lag = p.intended, sent, end, p.lag
	r.Route = e.messages[p.n%uint64(len(e.messages))].route
	e.rows = append(e.rows, r)
	if e.outstanding--; e.outstanding == 0 && e.sealed {
		close(e.idle)
	}
}

// stopOffering marks that no more requests are offered; mu is held.
func (e *engine) stopOffering() {
	if e.sealed {
		return
	}
	if e.sealed = true; e.outstanding == 0 {
		close(e.idle)
	}
}

// expireRequests gives up requests that were sent too long ago. It is called every few ms.
func (e *engine) expireRequests() { sendGiven(e.giveUpLate()) }

// giveUpLate gives up requests that are too late, and returns the requests then assigned to their places.
func (e *engine) giveUpLate() []given {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.growConnections()
	now := e.nowNanos()
	before := now - int64(e.plan.Timeout)
	var anew []given
	for i := len(e.places) - 1; i >= 0; i-- { // backwards: some may be lost
		at := e.places[i]
		if !at.busy || at.late || at.sent.Load() >= before || !at.line.giveUp(at) {
			continue
		}
		at.busy = false
		e.finishRequest(at.current, at.sent.Load(), now, Row{Outcome: evidence.TimedOut})
		if at.line.lineBase().retired {
			e.forgetPlace(at)
		} else {
			anew = e.giveNext(anew, at, now)
		}
	}
	return anew
}

// giveUpAll gives up all requests: those under way or waiting are unfinished.
func (e *engine) giveUpAll() {
	e.hangUp()
	e.mu.Lock()
	e.stopOffering()
	e.over = true
	now := e.nowNanos()
	for _, at := range e.places {
		if at.busy {
			at.busy = false
			e.finishRequest(at.current, at.sent.Load(), now, Row{Outcome: evidence.Unfinished})
		}
	}
	for p, ok := e.waiting.pop(); ok; p, ok = e.waiting.pop() {
		e.finishRequest(p, 0, now, Row{Outcome: evidence.Unfinished})
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

// pushFront puts a request back to the head.
func (q *fifo) pushFront(p pending) {
	if q.from > 0 {
		q.from--
		q.items[q.from] = p
		return
	}
	q.items = append(q.items, pending{})
	copy(q.items[1:], q.items)
	q.items[0] = p
}
