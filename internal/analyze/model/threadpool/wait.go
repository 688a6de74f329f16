package threadpool

// beginOperation starts the operation of a request. It says whether its thread waits for it.
func (r *run) beginOperation(conn int32) (waits bool) {
	service := int64(r.c.Service.Seconds * 1e9)
	switch {
	case r.c.Pattern == Call:
		r.scheduleEvent(service+threadWake, event{kind: eventUnblock, n: conn})
		return true
	case r.socket:
		r.scheduleEvent(service, event{kind: eventReply, n: conn})
	default:
		n := r.random.IntN(len(r.timers))
		q := &r.timers[n]
		q.timers = append(q.timers, timer{r.now + service, conn})
		r.scheduleTimers(int32(n))
	}
	switch r.c.Pattern {
	case TaskWait:
		r.threadBlocked()
		return true
	case SleepWait:
		r.polling++
		r.began[conn] = r.now
		return true
	}
	return false
}

// scheduleTimers tells the timer thread when a timer queue is due.
func (r *run) scheduleTimers(n int32) {
	if q := &r.timers[n]; !q.scheduled && len(q.timers) > 0 {
		q.scheduled = true
		r.scheduleEvent(q.timers[0].at-r.now+gateLate, event{kind: eventDue, n: n})
	}
}

// fireTimers is TimerQueue.FireNextTimers: the first timer that is due fires on this thread, each
// other becomes a work item
// (https://github.com/dotnet/runtime/blob/main/src/libraries/System.Private.CoreLib/src/System/Threading/Timer.cs).
func (r *run) fireTimers(n int32) (first int32, ok bool) {
	q := &r.timers[n]
	q.scheduled = false
	due := 0
	for due < len(q.timers) && q.timers[due].at <= r.now {
		due++
	}
	for _, t := range q.timers[min(1, due):due] {
		r.putItem(&r.global, item{itemTimer, t.conn})
	}
	if due > 0 {
		first, ok = q.timers[0].conn, true
	}
	q.timers = append(q.timers[:0], q.timers[due:]...)
	r.scheduleTimers(n)
	return first, ok
}

// completeOperation ends the operation of a request: what awaits it goes on on this thread, a
// thread that waits for it is woken or will find out.
func (r *run) completeOperation(conn int32, t turn) (goesOn bool) {
	switch r.c.Pattern {
	case TaskWait:
		r.scheduleEvent(threadWake, event{kind: eventUnblock, n: conn})
	case SleepWait:
		poll := int64(sleepPoll + gateLate)
		looks := (r.now - r.began[conn] + poll - 1) / poll
		r.scheduleEvent(r.began[conn]+looks*poll-r.now, event{kind: eventUnblock, n: conn})
	default:
		r.scheduleBurst(burst{left: smallItem + r.halfRequestCPU(), item: item{itemRequest, conn}, answer: true, turn: t})
		return true
	}
	return false
}

// sleepPoll is how long a loop that polls is assumed to sleep between two looks: an answer is late by a part of that.
const sleepPoll = 10 * millisecond

// resumeThread lets a thread go on with its request, long after it last asked for work.
func (r *run) resumeThread(conn int32) {
	switch r.c.Pattern {
	case TaskWait:
		r.threadUnblocked()
	case SleepWait:
		r.polling--
	}
	r.scheduleBurst(burst{left: smallItem + r.halfRequestCPU(), item: item{itemRequest, conn}, answer: true, turn: turn{since: r.tickCount() - quantum}})
}
