package goheap

import (
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model/queue"
)

// Program is a Go program that serves requests. Its processors are those of the scheduler (https://go.dev/src/runtime/proc.go): each
// has a queue of its own. A processor without work looks at the shared queue, then takes all requests that have arrived since any
// processor last looked, and only then half of another's queue. So requests are not served in order of arrival, and a few wait much
// longer than others. A request that has run for a quantum goes to the end of the shared queue, behind those that have arrived.
type Program struct {
	Processors int
	Quantum    float64 // ns; 0: Go's 10 ms
	Marking    Marking
}

// goQuantum is forcePreemptNS in https://go.dev/src/runtime/proc.go.
const goQuantum = 10e6

// Served is the result of running requests through a program.
type Served struct {
	Latency []int64 // ns, in the order of arrival
	// Unseen is the part of it, ns, until a processor looked and found the request. A trace of the program does not show it.
	Unseen []int64
	Cycles int          // begun
	Marks  []queue.Stop // when each cycle marked, ns
	Span   float64      // ns from the first arrival to the last end
	Marked float64      // ns in which a cycle marked
	// Marking by who does it, ns on processors: requests that allocate, workers with a quarter of the processors, idle processors.
	Assist, Workers, Idle float64
}

// Serve runs requests that arrive at fixed times (ns, ascending), each with the own work (ns on a processor) that it needs. Between two
// events everything continues at a constant pace: an event is an arrival, an end, a quantum, a beginning or an end of marking. It takes
// O(n·Processors) and no randomness.
func (p Program) Serve(arrive, work []int64) (Served, error) {
	return p.serveReusing(arrive, work, Served{})
}

// serveReusing is Serve that reuses the memory of another run.
func (p Program) serveReusing(arrive, work []int64, over Served) (Served, error) {
	switch {
	case p.Processors < 1:
		return Served{}, queue.ErrServers
	case len(arrive) != len(work):
		return Served{}, queue.ErrLengths
	case !slices.IsSorted(arrive):
		return Served{}, queue.ErrOrder
	case slices.ContainsFunc(work, func(v int64) bool { return v < 0 }):
		return Served{}, queue.ErrDemand
	}
	s := newServing(p, arrive, work, over)
	s.runToEnd()
	return s.out, nil
}

// serving is a program while it runs.
type serving struct {
	Program
	arrive, work []int64
	next         int // first arrival that no processor has found
	came         int // first arrival in the future
	now          float64

	procs     []processor
	shared    ring
	waiting   int     // requests in queues
	busy      int     // processors with a request
	dedicated int     // processors that a cycle takes completely: the last ones
	fraction  float64 // part of each other processor that a cycle takes

	marking bool
	since   float64 // own work since the last cycle began
	left    float64 // of this cycle's work
	runway  float64 // own work until the goal
	credit  float64 // marked ahead of what allocation owes
	stopped float64 // until then the world is stopped

	out Served
}

type processor struct {
	job   job
	runs  bool // a request
	queue ring
}

type job struct {
	row  int
	left float64 // own work
	ran  float64 // of its quantum
}

func newServing(p Program, arrive, work []int64, over Served) *serving {
	if p.Quantum <= 0 {
		p.Quantum = goQuantum
	}
	p.Marking.Slower = max(p.Marking.Slower, 1)
	s := &serving{Program: p, arrive: arrive, work: work, procs: make([]processor, p.Processors)}
	s.dedicated, s.fraction = markWorkers(p.Processors)
	s.out.Latency, s.out.Unseen, s.out.Marks = withLength(over.Latency, len(arrive)), withLength(over.Unseen, len(arrive)), over.Marks[:0]
	clear(s.out.Latency)
	clear(s.out.Unseen)
	if len(arrive) > 0 {
		s.now = float64(arrive[0])
	}
	s.since = p.Marking.Phase * p.Marking.Every
	s.passArrivals()
	return s
}

// passArrivals moves on to the first arrival after now.
func (s *serving) passArrivals() {
	for s.came < len(s.arrive) && float64(s.arrive[s.came]) <= s.now {
		s.came++
	}
}

// pace is the progress per ns until the next event.
type pace struct {
	own    float64 // own work of each running request
	assist float64 // marking of each running request
	must   float64 // marking of workers
	idle   float64 // marking of idle processors
	owed   float64 // marking that an ns of own work owes
	spends float64 // use of what was marked ahead
}

// usableProcessors returns how many processors requests may use.
func (s *serving) usableProcessors() int {
	if s.marking {
		return max(1, s.Processors-s.dedicated)
	}
	return s.Processors
}

// setPace writes the progress until the next event to p, which is reused because each request has several events.
func (s *serving) setPace(p *pace) {
	*p = pace{}
	switch {
	case s.now < s.stopped:
		return
	case !s.marking:
		p.own = 1
		return
	}
	n := float64(s.busy)
	free := 1 - s.fraction
	p.must = float64(s.Processors-s.usableProcessors()) + s.fraction*n
	p.idle = float64(s.usableProcessors()) - n
	p.own = free / s.Marking.Slower
	if s.Marking.Runway <= 0 || n == 0 {
		return
	}
	// What is left to mark, over the own work until the goal.
	p.owed = s.left / max(s.runway, 1e-3*s.Marking.Runway)
	debt, done := p.owed*n*p.own, p.must+p.idle
	if s.credit <= nothing && debt > done {
		// A part x of each request's time marks, so that debts are paid as they arise.
		x := (debt - done) / (debt + n*free)
		p.assist = x * free
		p.own *= 1 - x
	} else {
		p.spends = debt - done
	}
}

// longestStep, ns, while a cycle marks: what allocation owes changes on the way.
const longestStep = 2e5

func (s *serving) runToEnd() {
	var p pace
	for {
		s.assignWork()
		if s.next == len(s.arrive) && s.busy == 0 {
			break
		}
		s.setPace(&p)
		s.advanceBy(&p, max(s.nextStep(&p), 0))
	}
	if len(s.arrive) > 0 {
		s.out.Span = s.now - float64(s.arrive[0])
	}
}

// nextStep returns the time until the next change, ns.
func (s *serving) nextStep(p *pace) float64 {
	step := math.Inf(1)
	if s.came < len(s.arrive) && s.busy < s.usableProcessors() {
		step = float64(s.arrive[s.came]) - s.now
	}
	if s.now < s.stopped {
		return min(step, s.stopped-s.now)
	}
	for i := range s.procs {
		if j := &s.procs[i].job; s.procs[i].runs {
			left, quantum := j.left, s.Quantum-j.ran
			if s.marking { // else an ns is an ns of work
				left, quantum = left/p.own, quantum/(p.own+p.assist)
			}
			step = min(step, left, quantum)
		}
	}
	n := float64(s.busy)
	if !s.marking {
		if s.Marking.Every > 0 && n > 0 {
			step = min(step, (s.Marking.Every-s.since)/n)
		}
		return step
	}
	if p.spends > 0 {
		step = min(step, s.credit/p.spends)
	}
	if mark := p.must + p.idle + n*p.assist; mark > 0 {
		step = min(step, s.left/mark, longestStep)
	}
	return step
}

// assignWork gives work to processors that have none.
func (s *serving) assignWork() {
	if s.now < s.stopped {
		return
	}
	servers := s.usableProcessors()
	for i := servers; i < len(s.procs); i++ { // a cycle takes these
		q := &s.procs[i]
		if q.runs {
			s.shared.push(q.job)
			q.runs = false
			s.busy--
			s.waiting++
		}
		for q.queue.n > 0 {
			s.shared.push(q.queue.shift())
		}
	}
	for s.busy < servers && (s.waiting > 0 || s.came > s.next) {
		found := false
		for i := range s.procs[:servers] {
			if q := &s.procs[i]; !q.runs {
				if j, ok := s.findJob(i); ok {
					j.ran = 0
					q.job, q.runs, found = j, true, true
					s.busy++
				}
			}
		}
		if !found {
			return
		}
	}
}

// findJob finds what a processor without work runs next: from its own queue, the shared one, new
// arrivals, or another's queue.
func (s *serving) findJob(i int) (j job, ok bool) {
	q := &s.procs[i].queue
	switch {
	case q.n > 0:
		s.waiting--
		return q.shift(), true
	case s.shared.n > 0:
		s.waiting--
		return s.shared.shift(), true
	case s.came > s.next:
		// It runs the first, each idle processor gets one, and the rest is its own.
		idle := s.usableProcessors() - s.busy - 1
		for r := s.next; r < s.came; r++ {
			to := q
			if r > s.next && idle > 0 {
				to = &s.shared
				idle--
			}
			to.push(s.newJob(r))
		}
		s.waiting += s.came - s.next - 1
		s.next = s.came
		return q.shift(), true
	}
	for k := 1; k < len(s.procs); k++ {
		from := &s.procs[(i+k)%len(s.procs)].queue
		for n := from.n - from.n/2; n > 0; n-- {
			q.push(from.shift())
		}
		if q.n > 0 {
			s.waiting--
			return q.shift(), true
		}
	}
	return job{}, false
}

// newJob makes a job of an arrival that a processor finds now.
func (s *serving) newJob(row int) job {
	s.out.Unseen[row] = max(0, int64(math.Round(s.now))-s.arrive[row])
	return job{row: row, left: float64(s.work[row])}
}

// nothing is the largest value that counts as none, ns: times are sums of many parts.
const nothing = 1e-3

func (s *serving) advanceBy(p *pace, step float64) {
	n := float64(s.busy)
	s.now += step
	s.passArrivals()
	own := n * p.own * step
	s.since += own
	if s.marking {
		s.out.Marked += step
		s.out.Marks[len(s.out.Marks)-1].To = int64(s.now)
		s.out.Workers += p.must * step
		s.out.Idle += p.idle * step
		s.out.Assist += n * p.assist * step
		marked := (p.must + p.idle + n*p.assist) * step
		s.credit = max(0, s.credit+marked-p.owed*own)
		s.left -= marked
		s.runway -= own
	}
	for i := range s.procs {
		q := &s.procs[i]
		if !q.runs {
			continue
		}
		j := &q.job
		j.left -= p.own * step
		j.ran += (p.own + p.assist) * step
		switch {
		case j.left <= nothing:
			s.out.Latency[j.row] = int64(math.Round(s.now)) - s.arrive[j.row]
		case j.ran >= s.Quantum-nothing:
			// No processor looked for that long, so the monitor does, before the processor's next turn.
			for ; s.next < s.came; s.next++ {
				s.shared.push(s.newJob(s.next))
				s.waiting++
			}
			s.shared.push(*j)
			s.waiting++
		default:
			continue
		}
		q.runs = false
		s.busy--
	}
	s.switchCycle()
}

// ring is a queue of jobs.
type ring struct {
	jobs  []job // a power of two of them
	first int
	n     int
}

func (r *ring) push(j job) {
	if r.n == len(r.jobs) {
		jobs := make([]job, max(16, 2*r.n))
		for i := range r.n {
			jobs[i] = r.jobs[(r.first+i)%r.n]
		}
		r.jobs, r.first = jobs, 0
	}
	r.jobs[(r.first+r.n)&(len(r.jobs)-1)] = j
	r.n++
}

func (r *ring) shift() job {
	j := r.jobs[r.first]
	r.first = (r.first + 1) & (len(r.jobs) - 1)
	r.n--
	return j
}
