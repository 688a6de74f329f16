package serverlog

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// Readers of what game loops, fibers and greenlets log of being late.

const lateAdvice = "all work of this loop waited: a profile shows for which code; a GC log and top show whether a collection or a busy host stopped it"

// ticksBehind reads "Is the server overloaded? Running 5031ms or 100 ticks behind" and, up to 1.12, "… Running 2823ms behind, skipping 56 tick(s)". The server skips
// these ticks, so that the time of two lines is not the same.
func ticksBehind(t *told, _, after string) bool {
	_, rest, ok := strings.Cut(after, "Running ")
	ms, rest, ok2 := strings.Cut(rest, "ms ")
	t.took = parseWhole(ms) * 1e6
	return ok && ok2 && t.took > 0 && strings.Contains(rest, "behind")
}

// tickCollected reads "Tick #237" before the mark and "7 ms. (type = Young Gen)" behind it: what is short is told, too.
func tickCollected(t *told, before, after string) bool {
	ms, rest, ok := strings.Cut(after, " ms")
	v, err := strconv.ParseFloat(ms, 64)
	if !ok || err != nil || !(v >= 0 && v < 1e7) || !strings.Contains(before, "Tick #") || !strings.Contains(rest, "(type = ") {
		return false
	}
	if t.took = v * 1e6; t.took < longTick {
		t.calm = "collections of less than a tick"
	}
	return true
}

// durationWorded reads "30.699608032226564 milliseconds", "1.2 seconds" and "812ms" behind the mark.
func durationWorded(t *told, _, after string) bool {
	if t.took = durationOf(after); t.took == 0 {
		digits, unit, _ := strings.Cut(after, " ")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v > 0 && v < 1e7) {
			return false
		}
		switch {
		case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
			t.took = v * 1e6
		case strings.HasPrefix(unit, "s"):
			t.took = v * 1e9
		}
	}
	return t.took > 0
}

// delayReceived reads "350ms. Received 1126.05ms." of Kibana's metrics.
func delayReceived(t *told, _, after string) bool {
	_, got, ok := strings.Cut(after, " Received ")
	t.took = durationOf(got)
	return ok && t.took > 0
}

// threadStopped reads "WARNING! thread 16" before the mark and "2810 milliseconds" behind it, which HAProxy (2.9 on) says each 100 ms of a thread that does not come back.
func threadStopped(t *told, before, after string) bool {
	_, thread, ok := format.CutLast(before, "thread ")
	ms, _, ok2 := strings.Cut(after, " milliseconds")
	t.took, t.worker = parseWhole(ms)*1e6, thread
	return ok && ok2 && t.took > 0 && parseWhole(thread) > 0
}

// heartbeatLate reads "2345] ms ago, expected interval is [1000] ms." of a member of a cluster (Akka, Pekko).
func heartbeatLate(t *told, _, after string) bool {
	sent, rest, ok := strings.Cut(after, "] ms ago, expected interval is [")
	every, _, ok2 := strings.Cut(rest, "] ms")
	t.took = (parseWhole(sent) - parseWhole(every)) * 1e6
	return ok && ok2 && t.took > 0
}

// longTick (ns) is how long a tick of the game may take: twenty are to be done each second.
const longTick = 50e6

// tickLasted reads "Tick #412 lasted 152.33 ms. (204" before the mark.
func tickLasted(t *told, before, _ string) bool {
	_, rest, ok := format.CutLast(before, "Tick #")
	_, rest, ok2 := strings.Cut(rest, " lasted ")
	ms, _, ok3 := strings.Cut(rest, " ms. (")
	v, err := strconv.ParseFloat(ms, 64)
	t.took = v * 1e6
	return ok && ok2 && ok3 && err == nil && v > 0 && v < 1e7
}

// fiberLate reads "(such as a new connection, an upstream response, or a timer) was in excess of 100 milliseconds" of CpuStarvationCheck.scala, which looks
// once a second, and reports its limit, not the delay. A line that breaks off before the limit has the default one.
func fiberLate(t *told, _, after string) bool {
	t.took = 100e6
	if _, rest, ok := strings.Cut(after, " in excess of "); ok {
		ms, _, ok := strings.Cut(rest, " milliseconds")
		t.took = parseWhole(ms) * 1e6
		return ok && t.took > 0
	}
	return strings.HasPrefix(strings.TrimLeft(after, " "), "event (such as") || strings.TrimSpace(after) == ""
}

// greenletBlocks reads "2022-04-21 10:02:11 : Greenlet <Greenlet …>" before the mark: how long does not stand there, and the stack below shows where.
func greenletBlocks(_ *told, before, after string) bool {
	return strings.Contains(before, " : Greenlet <") && strings.TrimSpace(after) == ""
}

const heldAdvice = "all other work of this loop waited for it"

// asyncioTook reads what asyncio says in its debug mode (base_events.py, slow_callback_duration): "Task … coro=<serve() running at /srv/app.py:31> …>
// took 0.484 seconds", "Handle Protocol.data_received() … took 0.115 seconds".
func asyncioTook(t *told, _, after string) bool {
	what, rest, ok := format.CutLast(after, " took ")
	seconds, unit, ok2 := strings.Cut(strings.TrimSpace(rest), " ")
	v, err := strconv.ParseFloat(seconds, 64)
	if !ok || !ok2 || err != nil || !strings.HasPrefix(unit, "second") || !(v >= 0 && v < 1e6) {
		return false
	}
	t.took = v * 1e9
	_, name, task := strings.Cut(what, "coro=<")
	if !task {
		_, name, _ = strings.Cut(what, " ")
		if rest, timer := strings.CutPrefix(name, "when="); timer {
			_, name, _ = strings.Cut(rest, " ")
		}
	}
	if n := strings.IndexAny(name, "( "); n >= 0 {
		name = name[:n]
	}
	t.where = strings.ToValidUTF8(name[:min(len(name), mostName)], "?")
	return true
}

// vertxBlocked reads what the BlockedThreadChecker of Vert.x says, and so of Quarkus: "Thread Thread[vert.x-eventloop-thread-2,5,main" before the mark,
// "5103 ms, time limit is 2000" behind it. Threads for blocking work may block.
func vertxBlocked(t *told, before, after string) bool {
	_, thread, ok := format.CutLast(before, "Thread[")
	thread, _, _ = strings.Cut(thread, ",")
	ms, rest, ok2 := strings.Cut(after, " ms")
	v := parseWhole(ms)
	if !ok || !ok2 || v == 0 || !strings.HasPrefix(rest, ", time limit is ") || len(thread) > mostName {
		return false
	}
	t.took, t.worker = v*1e6, thread
	if !strings.Contains(thread, "eventloop-thread") {
		t.calm = "a thread for blocking work was held, which it may be"
	}
	return true
}

// blockedBefore reads "Blocked for 155.159ms" before the mark's rest, which blocked-at of Node.js prints above the stack that began the work.
func blockedBefore(t *told, before, _ string) bool {
	_, ms, ok := format.CutLast(before, "locked for ") // "Event loop blocked for" in what people log by it
	v, err := strconv.ParseFloat(ms, 64)
	if !ok || err != nil || !(v > 0 && v < 1e9) {
		return false
	}
	t.took = v * 1e6
	return true
}
