package load

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/unstall/unstall/evidence"
)

// engine is one run: a schedule that offers requests, connections that take
// them, and a queue of those that wait for a connection.
type engine struct {
	plan     Plan
	messages []message
	fixed    [][]byte // the messages that are always the same, nil of the others
	dial     func(context.Context) (net.Conn, error)
	begin    time.Time
	readers  sync.WaitGroup
	stop     context.CancelCauseFunc // ends the run early: nobody answers HTTP there
	dialing  context.Context         // of connections being opened
	hangUp   context.CancelFunc

	mu          sync.Mutex
	conns       []*conn
	free        []*conn // the one used last is taken first: few stay in use
	opening     int
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
		c := e.free[k-1]
		e.free = e.free[:k-1]
		c.assign(p)
		e.mu.Unlock()
		c.send(p.n)
		return
	}
	e.waiting.push(p)
	e.grow()
	e.mu.Unlock()
}

// grow opens a connection for each request that waits; mu is held. Beyond a few
// hundred it takes its time: thousands of connections in a moment are a load of
// their own, to a server that has just stalled the last thing it needs, and to
// the generator, too.
func (e *engine) grow() {
	const (
		atOnce = 64
		freely = 256
		gap    = int64(time.Millisecond)
	)
	for e.waiting.len() > e.opening && len(e.conns)+e.opening < e.most && e.opening < atOnce && !e.over {
		now := e.now()
		if e.stalled(now) {
			return
		}
		if len(e.conns)+e.opening >= freely {
			if now-e.grown < gap {
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
	return len(e.conns) > 0 && e.lastAnswer != 0 && silent > max(least, 4*e.usual) && silent < most
}

// connect opens a connection and gives it what waits.
func (e *engine) connect() {
	raw, err := e.dial(e.dialing)
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
		raw.Close()
		e.readers.Done()
		return
	}
	c := e.adopt(raw)
	p, more := e.take(now)
	if more {
		c.assign(p)
	} else {
		e.free = append(e.free, c)
	}
	e.mu.Unlock()
	go c.serve()
	if more {
		c.send(p.n)
	}
}

// adopt registers a connection; mu is held.
func (e *engine) adopt(raw net.Conn) *conn {
	c := &conn{Conn: raw, e: e, in: newResponses(raw), at: len(e.conns)}
	e.conns = append(e.conns, c)
	return c
}

// unconnected is the failure to open a connection; mu is held. Where others are
// open the request waits for them, else it has failed.
func (e *engine) unconnected(err error, now int64) {
	if ownLimit(err) && len(e.conns) > 0 {
		e.most = len(e.conns)
		e.failures["no more connections: "+reason(err)]++
		return
	}
	if len(e.conns) > 0 && e.plan.Mode == Open || e.over {
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

// answered ends the request a connection had and gives it the next; alive is
// false if the connection is done with.
func (e *engine) answered(c *conn, a answer, err error) (next pending, more, alive bool) {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !c.busy { // closed while idle, or what it had was given up
		e.remove(c)
		return pending{}, false, false
	}
	c.busy = false
	switch {
	case err == nil:
		e.answer(c, a, now)
	case c.late:
		e.finish(c.current, c.sent, now, Row{Outcome: evidence.TimedOut})
	case e.stale(c, err):
		c.current.tries++
		e.waiting.unpop(c.current)
	default:
		if c.failure != nil {
			err = c.failure
		}
		e.fail(c.current, c.sent, now, err)
	}
	if err == nil && !a.close && c.failure == nil && !e.over {
		if next, more = e.take(now); more {
			c.assign(next)
		} else {
			e.free = append(e.free, c)
		}
		return next, more, true
	}
	e.remove(c)
	if e.plan.Mode == Closed && !e.sealed && !e.over {
		e.opening++
		e.readers.Add(1)
		go e.connect()
	} else {
		e.grow()
	}
	return pending{}, false, false
}

func (e *engine) answer(c *conn, a answer, now int64) {
	c.served++
	outcome := evidence.OK
	if a.status < 200 || a.status >= 400 {
		outcome = evidence.Failed
	}
	e.answers++
	e.lastAnswer = now
	e.usual += (now - c.sent - e.usual) / 16
	e.finish(c.current, c.sent, now, Row{Status: a.status, Bytes: a.bytes, Outcome: outcome})
}

// stale says whether a connection that had served before was closed by the
// server just as a request was sent, which is nobody's failure (RFC 9112, 9.3.1).
func (e *engine) stale(c *conn, err error) bool {
	gone := err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return gone && c.served > 0 && c.current.tries < 16 && !e.over && idempotent(e.plan.Method) && c.in.from == c.in.to
}

// remove forgets a connection; mu is held.
func (e *engine) remove(c *conn) {
	if c.at < 0 {
		return
	}
	last := len(e.conns) - 1
	e.conns[c.at] = e.conns[last]
	e.conns[c.at].at = c.at
	e.conns = e.conns[:last]
	c.at = -1
	for i, f := range e.free {
		if f == c {
			e.free = append(e.free[:i], e.free[i+1:]...)
			break
		}
	}
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
func (e *engine) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.grow()
	before := e.now() - int64(e.plan.Timeout)
	for _, c := range e.conns {
		if c.busy && !c.late && c.sent < before {
			c.late = true
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
	}
}

// end gives up everything: what is under way or waits is unfinished.
func (e *engine) end() {
	e.hangUp()
	e.mu.Lock()
	e.seal()
	e.over = true
	now := e.now()
	for _, c := range e.conns {
		if c.busy {
			c.busy = false
			e.finish(c.current, c.sent, now, Row{Outcome: evidence.Unfinished})
		}
	}
	for p, ok := e.waiting.pop(); ok; p, ok = e.waiting.pop() {
		e.finish(p, 0, now, Row{Outcome: evidence.Unfinished})
	}
	for _, c := range e.conns {
		c.Close()
	}
	e.mu.Unlock()
	e.readers.Wait()
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
