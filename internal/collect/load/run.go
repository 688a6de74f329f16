package load

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/load/pace"
)

// Observer is called as a run progresses, by one goroutine at a time.
type Observer interface {
	// Progress is called about once a second.
	Progress(Snapshot)

	// Rows receives every request once, roughly in the order of their ends. The slice is reused. After an error it is not called again, and the run's
	// result has a warning.
	Rows([]Row) error
}

// Run carries out a plan and waits for the answers. The end of the context ends it early, with the result so far. An error wraps [ErrPlan] or
// [ErrUnreachable]. With the latter there may be a result as well, of a run without any answer.
func Run(ctx context.Context, p Plan, o Observer) (*Result, error) {
	p, u, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	messages, err := buildMessages(&p, u)
	if err != nil {
		return nil, err
	}
	e := &engine{plan: p, url: u, messages: messages, dial: newDialer(&p, u), most: p.Connections,
		failures: map[string]int64{}, idle: make(chan struct{})}
	for i := range messages {
		e.fixed = append(e.fixed, messages[i].fixedBytes())
	}
	if p.HTTP2 {
		if e.streams, err = streamedHeads(&p, u, messages, false); err != nil {
			return nil, err
		}
	}
	if u.Scheme == "http" && !p.HTTP2 {
		e.loops = newLoops(e)
	}
	ctx, e.stop = context.WithCancelCause(ctx)
	defer e.stop(nil)
	e.dialing, e.hangUp = context.WithCancel(context.WithoutCancel(ctx))
	defer e.hangUp()
	if err := e.openFirst(ctx); err != nil {
		e.stopLoops()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, unreachableError(&p, u, err)
	}
	t := newTally(&p, u, o)
	e.runPlan(ctx, t)
	r := t.buildResult(int64(e.offered), e.failures)
	if p.HTTP2 && p.Mode == Closed && e.fewest < p.Streams {
		r.addWarning("the server allows %s at a time on a connection, not %d", units.Plural(e.fewest, "request"), p.Streams)
	}
	if cause := context.Cause(ctx); errors.Is(cause, errNotHTTP) {
		return nil, unreachableError(&p, u, cause)
	}
	if r.Completed == 0 && e.firstError != nil {
		return r, unreachableError(&p, u, e.firstError)
	}
	return r, nil
}

// openFirst opens the connections that the first moments need, the first one before the others, so that a missing service is reported at once.
func (e *engine) openFirst(ctx context.Context) error {
	n := e.plan.Connections
	e.begin = time.Now()
	first, err := e.dialLine(ctx)
	if err != nil {
		return err
	}
	e.addFirstLine(first)
	if e.plan.Mode == Open { // 5 ms worth of requests
		n = min(n, max(1, int(math.Ceil(e.plan.Pattern[0].From/200/float64(e.fewest)))), 64)
	}
	var all sync.WaitGroup
	places := make(chan struct{}, 64)
	for range n - 1 {
		all.Add(1)
		places <- struct{}{}
		go func() {
			defer all.Done()
			if c, err := e.dialLine(ctx); err == nil {
				e.addFirstLine(c)
			}
			<-places
		}()
	}
	all.Wait()
	return nil
}

func (e *engine) addFirstLine(l line) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.registerLine(l)
	e.free = append(e.free, l.lineBase().places...)
	e.first = append(e.first, l)
	e.readers.Add(1)
}

func (e *engine) runPlan(ctx context.Context, t *tally) {
	runtime.GC() // so that it does not run in the first second of the load
	e.begin = time.Now()
	t.start(e.nowNanos())
	for _, l := range e.first {
		go l.readAnswers()
	}
	e.first = nil
	counted := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(counted)
		t.followRun(e, done)
	}()
	if e.plan.Mode == Open {
		paced := make(chan struct{})
		go func() { // its thread is changed, and ends with it
			defer close(paced)
			e.offerOnSchedule(ctx)
		}()
		<-paced
	} else {
		e.runClosedLoop(ctx)
	}
	t.endSchedule(e.nowNanos())
	e.awaitOutstanding(ctx)
	e.giveUpAll()
	t.cpu.stop()
	close(done)
	<-counted
}

// offerOnSchedule offers each request of the schedule at its time.
func (e *engine) offerOnSchedule(ctx context.Context) {
	p := pace.New()
	defer p.Close()
	p.Take()
	s := e.plan.Pattern.Schedule(e.plan.Arrivals, e.plan.Seed, e.plan.Requests)
	start := e.nowNanos()
	for {
		at, ok := s.Next()
		if !ok {
			break
		}
		for {
			wait := start + at - e.nowNanos()
			if wait <= 0 {
				break
			}
			if ctx.Err() != nil {
				return
			}
			p.Sleep(time.Duration(min(wait, int64(50*time.Millisecond))))
		}
		if ctx.Err() != nil {
			return
		}
		e.offerRequest(start + at)
	}
	end := start + int64(e.plan.Pattern.Duration())
	if e.plan.Requests > 0 {
		return
	}
	for ; e.nowNanos() < end && ctx.Err() == nil; p.Sleep(time.Duration(min(max(end-e.nowNanos(), 0), int64(50*time.Millisecond)))) {
	}
}

// runClosedLoop starts every connection of a closed loop and waits until its time is over.
func (e *engine) runClosedLoop(ctx context.Context) {
	e.mu.Lock()
	now := e.nowNanos()
	if e.plan.Duration > 0 {
		e.closedUntil = now + int64(e.plan.Duration)
	}
	free := e.free
	e.free = nil
	var first []given
	for _, at := range free {
		first = e.giveNext(first, at, now)
	}
	e.mu.Unlock()
	sendGiven(first)
	var over <-chan time.Time
	if e.plan.Duration > 0 {
		over = time.After(e.plan.Duration)
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-e.idle:
	}
	e.mu.Lock()
	e.stopOffering()
	e.mu.Unlock()
}

// awaitOutstanding waits for the requests under way: as long as a request may take, or a second
// after an interrupt.
func (e *engine) awaitOutstanding(ctx context.Context) {
	e.mu.Lock()
	e.stopOffering()
	e.mu.Unlock()
	select {
	case <-e.idle:
		return
	case <-ctx.Done():
	case <-time.After(e.plan.Timeout + e.plan.Timeout/10):
		return
	}
	select {
	case <-e.idle:
	case <-time.After(min(e.plan.Timeout, time.Second)):
	}
}
