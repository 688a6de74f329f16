package threadpool

// itemKind is what a work item does. A request is several work items, all in one queue: what arrived at its socket, the
// input queue of its connection, the request itself, and the output queue that writes
// the answer. Each stands behind all that came before it, which is why a starved pool
// answers next to nothing even after operations are complete. So it is in Kestrel on
// Linux from 3.1 to 10:
// https://github.com/dotnet/aspnetcore/blob/main/src/Servers/Kestrel/Transport.Sockets/src/Internal/IOQueue.cs
type itemKind uint8

const (
	itemSocket  itemKind = iota // before .NET 6: data arrived at the socket of connection n; from 6 on: at any connection's socket
	itemIO                      // run what waits in input and output queue n
	itemRequest                 // the request of connection n, until it waits
	itemTimers                  // fire the due timers of timer queue n
	itemTimer                   // the timer of connection n fired: its operation is complete
	itemReply                   // the reply that connection n waits for arrived: its operation is complete
)

type item struct {
	kind itemKind
	n    int32
}

// fifo is a queue of work items.
type fifo struct {
	items []item
	head  int
}

func (f *fifo) put(i item) { f.items = append(f.items, i) }

func (f *fifo) take() (i item, ok bool) {
	if f.head == len(f.items) {
		return item{}, false
	}
	i = f.items[f.head]
	if f.head++; f.head > 1024 && f.head*2 > len(f.items) {
		f.items = append(f.items[:0], f.items[f.head:]...)
		f.head = 0
	}
	return i, true
}

func (f *fifo) len() int { return len(f.items) - f.head }

// turn is a thread's time since it last asked the pool for work.
type turn struct {
	since int64 // tick
	fresh bool  // it asks now
}

// burst is CPU time that a thread needs (ns), and the item that it finishes then.
type burst struct {
	left   int64
	item   item
	answer bool // the operation is complete: finish the request of connection item.n
	turn   turn
}

// quantum is ThreadPoolWorkQueue.DispatchQuantumMs: after it a thread asks for work again, which
// the gate thread takes for progress.
const quantum = 30 * millisecond

// timerItems returns the queue of timers' items: the runtime's native queue before .NET 6, from 6 on the urgent queue,
// which is taken from first.
func (r *run) timerItems() *fifo {
	if r.hasPortablePool() {
		return &r.urgent
	}
	return &r.native
}

// socketItems returns the queue of sockets' items: the urgent queue from .NET 7 on, the global one before.
func (r *run) socketItems() *fifo {
	if r.release >= 7 {
		return &r.urgent
	}
	return &r.global
}

func (r *run) countQueued() int { return r.global.len() + r.urgent.len() + r.native.len() }

func (r *run) putItem(q *fifo, i item) {
	q.put(i)
	r.wakeThread()
}

// wakeThread asks for more threads: before .NET 7 for as many as there are processors, from 7 on for one
// at a time. A thread that finds work asks again.
func (r *run) wakeThread() {
	most := r.c.Cores
	if r.release >= 7 {
		most = 1
	}
	for r.starting < min(most, r.countQueued()) && r.working < r.goal {
		r.working++
		r.starting++
		if n := len(r.idle); n > 0 {
			r.idle = r.idle[:n-1]
			r.scheduleEvent(threadWake, event{kind: eventStart})
		} else {
			r.existing++
			r.scheduleEvent(threadStart, event{kind: eventStart})
		}
	}
}

// runNextItem lets a thread take its next item, or stop.
func (r *run) runNextItem(t turn) {
	if r.working > r.goal {
		r.stopThread()
		return
	}
	i, ok := r.dequeueItem(&t)
	if !ok {
		r.stopThread()
		return
	}
	r.wakeThread()
	b := burst{left: smallItem, item: i, turn: t}
	switch i.kind {
	case itemSocket:
		b.left *= int64(max(1, len(r.sockets)))
	case itemIO:
		b.left *= int64(max(1, len(r.io[i.n].actions)))
	case itemRequest:
		b.left += r.halfRequestCPU()
	}
	r.scheduleBurst(b)
}

// dequeueItem is ThreadPoolWorkQueue.Dequeue, preceded before .NET 6 by the choice between managed and
// native items
// (https://github.com/dotnet/coreclr/blob/release/3.1/src/vm/threadpoolrequest.cpp).
func (r *run) dequeueItem(t *turn) (i item, ok bool) {
	expired := r.tickCount()-t.since >= quantum
	if t.fresh || expired && r.release != 6 { // 6 goes on in its loop without asking
		*t = turn{since: r.tickCount(), fresh: true}
		r.dequeued = r.tickCount()
	}
	if !r.hasPortablePool() {
		return r.takeNative(t)
	}
	t.fresh = false
	if expired {
		t.since = r.tickCount()
	}
	if r.release > 6 || expired { // 6 looks at timers after a quantum, or when nothing else is left
		if i, ok = r.urgent.take(); ok {
			return i, true
		}
	}
	if i, ok = r.global.take(); ok {
		return i, true
	}
	return r.urgent.take()
}

// takeNative takes items before .NET 6: a thread that asks takes managed items for a quantum, or one native item;
// the two alternate.
func (r *run) takeNative(t *turn) (i item, ok bool) {
	if t.fresh && r.nativeTurn {
		if i, ok = r.native.take(); ok {
			r.nativeTurn = false
			return i, true // and it asks again
		}
	}
	if i, ok = r.global.take(); ok {
		if t.fresh {
			r.nativeTurn = true
		}
		t.fresh = false
		return i, true
	}
	t.fresh = true
	r.nativeTurn = false
	return r.native.take()
}

func (r *run) stopThread() {
	r.working--
	r.idle = append(r.idle, r.now)
	r.scheduleEvent(idleTimeout, event{kind: eventIdle})
}

// idleTimeout is after how long an idle thread ends.
const idleTimeout = 20_000 * millisecond

// endIdleThreads ends threads that were idle for too long.
func (r *run) endIdleThreads() {
	for len(r.idle) > 0 && r.now-r.idle[0] >= idleTimeout {
		r.idle = r.idle[1:]
		r.existing--
		r.goal = max(r.min, min(r.existing, r.goal))
		r.climb.forceGoal(r.goal)
	}
}

// halfRequestCPU returns the CPU time (ns) that a request's own code needs before its wait, and the same after it.
func (r *run) halfRequestCPU() int64 { return max(0, int64(r.c.CPU*1e9)-5*smallItem) / 2 }

func (r *run) scheduleBurst(b burst) {
	if r.cores == r.c.Cores {
		r.ready = append(r.ready, b)
		return
	}
	r.cores++
	d := min(b.left, cpuSlice)
	b.left -= d
	r.busy += d
	r.scheduleEvent(d, event{kind: eventBurst, burst: b})
}

// endSlice frees the core of a burst whose slice has passed, and goes on with the next burst.
func (r *run) endSlice(b burst) {
	r.cores--
	if b.left > 0 {
		r.ready = append(r.ready, b)
	}
	if len(r.ready) > 0 {
		first := r.ready[0]
		r.ready = r.ready[1:]
		r.scheduleBurst(first)
	}
	if b.left == 0 {
		r.finishItem(b)
	}
}

// finishItem does what an item does once its thread has computed.
func (r *run) finishItem(b burst) {
	n := b.item.n
	switch {
	case b.answer:
		r.queueAction(ioAction{n, true})
	case b.item.kind == itemSocket && r.hasPortablePool():
		conns := r.sockets
		r.sockets, r.reading = nil, false
		for _, conn := range conns {
			r.queueAction(ioAction{conn, false})
		}
	case b.item.kind == itemSocket:
		r.queueAction(ioAction{n, false})
	case b.item.kind == itemIO:
		r.passOn(n)
	case b.item.kind == itemRequest:
		if r.beginOperation(n) {
			return // its thread waits
		}
	case b.item.kind == itemTimers:
		if conn, ok := r.fireTimers(n); ok && r.completeOperation(conn, b.turn) {
			return // its thread goes on with the request
		}
	default:
		if r.completeOperation(n, b.turn) {
			return
		}
	}
	r.completeItem(b.turn)
}

// completeItem counts a work item as complete, which hill climbing may want to know, and lets the
// thread go on.
func (r *run) completeItem(t turn) {
	r.completed++
	r.sampleClimb()
	r.runNextItem(t)
}

// receiveRequest queues the item of a socket that a request reached.
func (r *run) receiveRequest(conn int32) {
	r.sent[conn] = r.now - roundTrip/2
	switch {
	case !r.hasPortablePool():
		r.putItem(&r.global, item{itemSocket, conn})
	default:
		r.sockets = append(r.sockets, conn)
		if !r.reading {
			r.reading = true
			r.putItem(r.socketItems(), item{itemSocket, -1})
		}
	}
}

// queueAction adds an action to the input and output queue of a connection.
func (r *run) queueAction(a ioAction) {
	n := int(a.conn) % len(r.io)
	q := &r.io[n]
	q.actions = append(q.actions, a)
	if !q.queued {
		q.queued = true
		r.putItem(&r.global, item{itemIO, int32(n)})
	}
}

// passOn runs the actions that wait in an input and output queue.
func (r *run) passOn(n int32) {
	q := &r.io[n]
	actions := q.actions
	q.actions, q.queued = nil, false
	for _, a := range actions {
		if !a.write {
			r.putItem(&r.global, item{itemRequest, a.conn})
			continue
		}
		r.answers = append(r.answers, answer{r.now, r.now + roundTrip/2 - r.sent[a.conn]})
		r.scheduleEvent(roundTrip, event{kind: eventArrive, n: a.conn})
	}
}
