package journey

import (
	"container/heap"
	"context"
	"crypto/tls"
	"crypto/x509"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/load/pace"
)

// Options are the settings of a run beside the script.
type Options struct {
	For   time.Duration  // end then, with any user under way; 0: when the last user has finished
	Roots *x509.CertPool // accepted certificate authorities; nil: the system's
}

// Run sends the users of a script and waits until they have finished. The end of the context ends it early, with the result so far. An error wraps
// [load.ErrPlan] or [load.ErrUnreachable]; with the latter there is a result as well.
func Run(ctx context.Context, s *Script, opt Options, o load.Observer) (*load.Result, error) {
	plan := s.Plan()
	if opt.For > 0 {
		plan.Pattern = load.Pattern{{For: opt.For}}
	}
	tally, err := load.NewTally(plan, o)
	if err != nil {
		return nil, err
	}
	r := &runner{script: s, opt: opt, tally: tally, begin: time.Now(), tickets: tls.NewLRUClientSessionCache(1024), roots: opt.Roots, http2: http2Transport(),
		failures: map[string]int64{}, users: map[*user]struct{}{}, idle: make(chan struct{}),
		pages: pages{seed: maphash.MakeSeed(), of: map[uint64]*parsedPage{}}}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.cancel(nil)
	r.counts = make([]load.Users, len(s.Journeys))
	for _, j := range s.Journeys {
		for _, step := range j.Named {
			r.steps = append(r.steps, newStepCounts(step))
		}
	}
	r.runUsers(ctx)
	result := r.buildResult()
	if result.Completed == 0 && r.firstError != nil {
		return result, load.Unreachable(plan, r.firstError)
	}
	return result, nil
}

// runner is one run.
type runner struct {
	script  *Script
	opt     Options
	tally   *load.Tally
	begin   time.Time
	pacer   *pace.Pacer
	ctx     context.Context // of requests
	cancel  context.CancelCauseFunc
	tickets tls.ClientSessionCache
	roots   *x509.CertPool
	http2   *http.Transport
	oneOnly sync.Map // addresses without HTTP/2
	pages   pages

	over                              atomic.Bool // users take no further step
	offered, underWay, waiting, conns atomic.Int64

	mu         sync.Mutex
	rows       []load.Row
	byStep     []*Step // of rows
	ends       []stepEnd
	failures   map[string]int64
	firstError error

	umu     sync.Mutex
	users   map[*user]struct{}
	asleep  sleepers
	next    int64 // ns: time until which the pacer sleeps
	arrived int64
	sealed  bool // no more users arrive
	ended   bool // no user takes another step
	most    int64
	idle    chan struct{} // closed when sealed and no user is left

	counts    []load.Users  // by journey; umu is held
	steps     []*stepCounts // by their place in the file; of the goroutine that follows
	mostConns int64
}

// nowNanos returns ns since the epoch on a clock that is not set back.
func (r *runner) nowNanos() int64 { return r.begin.UnixNano() + int64(time.Since(r.begin)) }

// timeAt returns a time in ns since the epoch with its monotonic reading.
func (r *runner) timeAt(ns int64) time.Time {
	return r.begin.Add(time.Duration(ns - r.begin.UnixNano()))
}

func (r *runner) runUsers(ctx context.Context) {
	r.pacer = pace.New()
	defer r.pacer.Close()
	r.tally.Start(r.nowNanos())
	done, counted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(counted)
		r.followRun(done)
	}()
	interrupted := ctx.Done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var over <-chan time.Time
	if r.opt.For > 0 {
		over = time.After(time.Until(r.begin.Add(r.opt.For)))
	}
	paced := make(chan struct{})
	go func() { // its thread is changed, and ends with it
		defer close(paced)
		r.paceUsers(ctx)
	}()
	select {
	case <-r.idle:
	case <-over:
		stop()
		r.endUsers(interrupted, r.script.longestTimeout())
	case <-ctx.Done():
		r.endUsers(interrupted, time.Second)
	}
	r.pacer.Poke()
	<-paced
	r.tally.End(r.nowNanos())
	close(done)
	<-counted
}

// endUsers lets no user take another step, waits for what is under way, at most a second once the
// run is interrupted, and gives up the rest.
func (r *runner) endUsers(interrupted <-chan struct{}, patience time.Duration) {
	r.umu.Lock()
	r.ended = true
	r.stopArrivals()
	asleep := slices.Clone(r.asleep)
	r.asleep = nil
	r.umu.Unlock()
	for _, s := range asleep {
		close(s.user.wake)
	}
	select {
	case <-r.idle:
		return
	case <-time.After(patience):
	case <-interrupted:
		select {
		case <-r.idle:
			return
		case <-time.After(min(patience, time.Second)):
		}
	}
	r.over.Store(true)
	r.cancel(errClosed)
	r.umu.Lock()
	here := slices.Collect(maps.Keys(r.users))
	r.umu.Unlock()
	for _, u := range here {
		u.web.close()
	}
	<-r.idle
}

// stopArrivals marks that no more users arrive; umu is held.
func (r *runner) stopArrivals() {
	if !r.sealed {
		r.sealed = true
		if len(r.users) == 0 {
			close(r.idle)
		}
	}
}

// arrivals is the schedule of one scenario.
type arrivals struct {
	scenario *Scenario
	times    *load.Schedule
	choose   *rand.Rand
	next     int64 // ns since the epoch
}

// chooseJourney picks a journey by the weights.
func (a *arrivals) chooseJourney() *Journey {
	var sum float64
	for _, c := range a.scenario.Choices {
		sum += c.Weight
	}
	at := a.choose.Float64() * sum
	for _, c := range a.scenario.Choices {
		if at -= c.Weight; at < 0 {
			return c.Journey
		}
	}
	return a.scenario.Choices[len(a.scenario.Choices)-1].Journey
}

// paceUsers sends users at their times and wakes those whose time to think is over.
func (r *runner) paceUsers(ctx context.Context) {
	r.pacer.Take()
	start := r.nowNanos()
	var all []*arrivals
	for i, c := range r.script.Scenarios {
		a := &arrivals{scenario: c, times: c.Arrivals.Schedule(c.Random, r.script.Seed+uint64(i), 0), choose: rand.New(rand.NewPCG(r.script.Seed, uint64(i)))}
		if at, ok := a.times.Next(); ok {
			a.next = start + at
			all = append(all, a)
		}
	}
	for {
		now := r.nowNanos()
		sooner := now + int64(time.Second)
		for i := 0; i < len(all); i++ {
			a := all[i]
			for a.next <= now && ctx.Err() == nil {
				r.startUser(a.chooseJourney(), a.next)
				at, ok := a.times.Next()
				if !ok {
					all = slices.Delete(all, i, i+1)
					i--
					break
				}
				a.next = start + at
			}
			if i >= 0 && i < len(all) && all[i] == a {
				sooner = min(sooner, a.next)
			}
		}
		r.umu.Lock()
		if len(all) == 0 {
			r.stopArrivals()
		}
		for len(r.asleep) > 0 && r.asleep[0].due <= now {
			s := heap.Pop(&r.asleep).(sleeper)
			s.user.wake <- struct{}{}
		}
		if len(r.asleep) > 0 {
			sooner = min(sooner, r.asleep[0].due)
		}
		r.next = sooner
		nobody := r.sealed && len(r.users) == 0
		r.umu.Unlock()
		if nobody || ctx.Err() != nil {
			return
		}
		if wait := sooner - r.nowNanos(); wait > 0 {
			r.pacer.Sleep(time.Duration(wait))
		}
	}
}

func (r *runner) startUser(j *Journey, due int64) {
	u := newUser(r, uint64(r.arrived), j)
	r.umu.Lock()
	if r.sealed {
		r.umu.Unlock()
		return
	}
	r.arrived++
	r.users[u] = struct{}{}
	r.most = max(r.most, int64(len(r.users)))
	c := &r.counts[j.at]
	c.Arrived++
	c.Most = max(c.Most, c.Arrived-c.Finished-c.Failed-c.Cut)
	r.umu.Unlock()
	go u.runJourney(due)
}

// How a user's journey ended.
const (
	finished = iota
	left
	cutOff
)

func (r *runner) removeUser(u *user, how int) {
	r.umu.Lock()
	defer r.umu.Unlock()
	delete(r.users, u)
	c := &r.counts[u.journey.at]
	switch how {
	case finished:
		c.Finished++
	case left:
		c.Failed++
	default:
		c.Cut++
	}
	if r.sealed && len(r.users) == 0 {
		close(r.idle)
	}
}

// sleeper is a thinking user.
type sleeper struct {
	due  int64
	user *user
}

type sleepers []sleeper

func (s sleepers) Len() int           { return len(s) }
func (s sleepers) Less(i, j int) bool { return s[i].due < s[j].due }
func (s sleepers) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sleepers) Push(x any)        { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// sleepUntil lets a user think until a moment; false if the run is over.
func (r *runner) sleepUntil(u *user, due int64) bool {
	r.umu.Lock()
	if r.ended {
		r.umu.Unlock()
		return false
	}
	if due <= r.nowNanos() {
		r.umu.Unlock()
		return true
	}
	heap.Push(&r.asleep, sleeper{due, u})
	poke := due < r.next
	if poke {
		r.next = due
	}
	r.umu.Unlock()
	if poke {
		r.pacer.Poke()
	}
	_, ok := <-u.wake
	return ok
}
