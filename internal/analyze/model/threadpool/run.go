package threadpool

import (
	"math/rand/v2"
)

// run is one run of a pool under a closed loop of connections: a discrete-event
// simulation of what the runtime, Kestrel and the clients do. Times are ns from the
// moment the load begins.
//
// Threads are alike and have no numbers: what one does is the chain of events that
// began with eventStart. A thread that waits is a mark at its connection.
type run struct {
	c       Case
	release int // of .NET: 3 … 10
	socket  bool
	random  *rand.Rand
	now     int64
	seq     int64
	events  events
	// happened counts events: what a run costs.
	happened int

	global     fifo // work items, in the order they came
	urgent     fifo // from 6 on: timers; from 7 on sockets, too
	native     fifo // before 6: the runtime's own items, which are timers
	nativeTurn bool // before 6 threads take the two by turns

	goal, min, max int
	existing       int // threads
	working        int
	starting       int
	idle           []int64 // since when; the last is used first
	climb          *hillClimb
	climbed        int64 // tick of the last sample of hill climbing
	climbFrom      int64 // the time of it
	climbNext      int64 // ns until the next one
	climbItems     int   // completed by then
	completed      int   // work items
	dequeued       int64 // when a thread last asked for work
	gate           gateThread

	cores   int // busy
	ready   []burst
	busy    int64   // ns of all cores
	cpu     float64 // share of all cores in the last period of the gate thread
	polling int     // threads in a sleep loop

	sent    []int64 // by the client of each connection
	began   []int64 // the wait of the connection's thread
	timers  []timerQueue
	io      []ioQueue
	sockets []int32 // from 6 on: connections with something to read
	reading bool    // an item for them is queued

	answers []answer // in time
}

type answer struct{ at, latency int64 }

// A timerQueue belongs to a processor. When its first timer is due, one work item
// fires all that are due: the first itself, each other as an item of its own.
type timerQueue struct {
	timers    []timer // ascending
	scheduled bool    // the timer thread knows of it, or the item is queued
}

type timer struct {
	at   int64
	conn int32
}

// An ioQueue is Kestrel's: one work item for all that waits in it.
type ioQueue struct {
	actions []ioAction
	queued  bool
}

type ioAction struct {
	conn  int32
	write bool
}

type eventKind uint8

const (
	eventArrive  eventKind = iota // a request reached the socket of connection n
	eventStart                    // a thread is there to take work
	eventBurst                    // what a thread had to compute is done, or its slice is
	eventDue                      // the first timer of queue n is due
	eventReply                    // the operation of connection n is complete: its socket can be read
	eventUnblock                  // a thread notices that what it waited for is complete
	eventGate                     // the gate thread wakes from sleep n
	eventIdle                     // a thread may have been idle for too long
)

type event struct {
	at, seq int64
	kind    eventKind
	n       int32
	burst   burst
}

// events is a heap by time, then by order.
type events []event

func (h events) isBefore(i, k int) bool {
	return h[i].at < h[k].at || h[i].at == h[k].at && h[i].seq < h[k].seq
}

func (h *events) push(e event) {
	*h = append(*h, e)
	v := *h
	for i := len(v) - 1; i > 0; {
		up := (i - 1) / 2
		if !v.isBefore(i, up) {
			break
		}
		v[i], v[up] = v[up], v[i]
		i = up
	}
}

func (h *events) pop() event {
	v := *h
	first := v[0]
	last := len(v) - 1
	v[0] = v[last]
	v = v[:last]
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < last; k++ {
			if v.isBefore(k, least) {
				least = k
			}
		}
		if least == i {
			break
		}
		v[i], v[least] = v[least], v[i]
		i = least
	}
	*h = v
	return first
}

// What things take that no recording shows, ns. They decide little: a starved pool is
// slow by what its threads wait for.
const (
	threadStart = 150_000   // until a new thread takes its first item
	threadWake  = 150_000   // until an idle or a waiting one goes on, where many wake at once
	gateLate    = 150_000   // the gate thread and timers come that much later than asked for
	smallItem   = 15_000    // CPU of a work item that only passes something on
	roundTrip   = 200_000   // from an answer at the socket to the next request there
	firstApart  = 20_000    // between two connections when the load begins
	cpuSlice    = 4_000_000 // a thread computes that long before another may on its core
	pollCost    = 13_500    // CPU of one look of a sleep loop: 125 loops at 10 ms used .17 cores on 3.1
	clockTick   = 4_000_000 // Environment.TickCount is CLOCK_MONOTONIC_COARSE: steps of 4 ms at HZ=250
	millisecond = 1_000_000
)

func newPoolRun(c Case, release int, socket bool, seed uint64) *run {
	r := &run{c: c, release: release, socket: socket, random: rand.New(rand.NewPCG(seed, 0)),
		min: c.Min, max: c.Max, sent: make([]int64, c.Connections), began: make([]int64, c.Connections),
		timers: make([]timerQueue, c.Cores), io: make([]ioQueue, min(c.Cores, 16))}
	r.goal = max(r.min, c.Threads)
	r.climb = newHillClimb(r.min, r.max, r.random)
	for i := range r.sent {
		r.scheduleEvent(int64(i)*firstApart, event{kind: eventArrive, n: int32(i)})
	}
	r.gate.activities = -r.random.Int64N(gatePeriod)
	r.sleepGate()
	return r
}

func (r *run) hasPortablePool() bool { return r.release >= 6 }

// tickCount returns what Environment.TickCount says, in ns.
func (r *run) tickCount() int64 { return r.now - r.now%clockTick }

func (r *run) scheduleEvent(d int64, e event) {
	r.seq++
	e.at, e.seq = r.now+max(d, 0), r.seq
	r.events.push(e)
}

// runUntil runs to the given time.
func (r *run) runUntil(t int64) {
	for len(r.events) > 0 && r.events[0].at <= t {
		e := r.events.pop()
		r.happened++
		r.now = e.at
		switch e.kind {
		case eventArrive:
			r.receiveRequest(e.n)
		case eventStart:
			r.starting--
			r.runNextItem(turn{fresh: true})
		case eventBurst:
			r.endSlice(e.burst)
		case eventDue:
			r.putItem(r.timerItems(), item{itemTimers, e.n})
		case eventReply:
			r.putItem(r.socketItems(), item{itemReply, e.n})
		case eventUnblock:
			r.resumeThread(e.n)
		case eventGate:
			r.wakeGate(e.n)
		case eventIdle:
			r.endIdleThreads()
		}
	}
	r.now = t
}
