package threaddump

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// JRockit, JDK 5 and 6, writes dumps of its own (print_threads, SIGQUIT): classes with slashes, the state in words behind the numbers, and what a thread
// waits for and holds in lines with arrows.
//
//	"[ACTIVE] ExecuteThread: '15'" id=109 idx=0x1a8 tid=10036 prio=5 alive, blocked, native_blocked, daemon
//	    -- Blocked trying to get lock: shop/Catalog@0x1C20D448[fat lock]
//	    at jrockit/vm/Locks.monitorEnter(Locks.java:2170)[optimized]
//	    at shop/Catalog.get(Catalog.java:58)
//	    ^-- Holding lock: shop/Prices@0x1C20D4A0[thin lock]
//	    -- end of trace
//
// https://docs.oracle.com/cd/E13150_01/jrockit_jvm/jrockit/geninfo/diagnos/using_threaddumps.html

// rockitStates are its words about what a thread does.
var rockitStates = []struct{ words, state string }{
	{", blocked", "BLOCKED"}, {", waiting", "WAITING"}, {", sleeping", "TIMED_WAITING (sleeping)"}, {", parked", "WAITING (parking)"}, {", in native", "RUNNABLE"},
}

// rockitState returns the state that a header tells; a thread of which nothing is told runs.
func rockitState(numbers string) string {
	_, words, ok := strings.Cut(numbers, " alive")
	if !ok {
		return ""
	}
	for _, s := range rockitStates {
		if strings.HasPrefix(words, s.words) {
			return s.state
		}
	}
	return "RUNNABLE"
}

// rockitLocks are its words before a lock.
var rockitLocks = []struct {
	words string
	use   evidence.LockUse
	held  bool
}{
	{"-- Blocked trying to get lock: ", evidence.ToLock, false},
	{"-- Waiting for notification on: ", evidence.WaitsOn, false},
	{"-- Parking to wait for: ", evidence.ToPark, false},
	{"^-- Holding lock: ", evidence.NoLock, true},
	{"^-- Lock released while waiting: ", evidence.NoLock, false},
	{"-- end of trace", evidence.NoLock, false},
}

// readRockit reads such a line about a lock; false of others.
func (p *parser) readRockit(text string) bool {
	for _, x := range rockitLocks {
		on, ok := strings.CutPrefix(text, x.words)
		if !ok {
			continue
		}
		on, _, _ = strings.Cut(on, "[")
		class, hash, named := strings.Cut(strings.TrimSpace(on), "@")
		if named && class != "" && hash != "" && !strings.ContainsAny(on, " \t\"<>") {
			k := lock{use: x.use, held: x.held, object: class + "@" + hash, class: strings.ReplaceAll(class, "/", ".")}
			if x.held || x.use != evidence.NoLock {
				p.addLock(k)
			}
			if x.use == evidence.ToLock { // its header may say that it is in native code, too
				p.now.state = "BLOCKED"
			}
		}
		return true
	}
	return false
}

// rockitFrame writes "at shop/Shop.price(Ljava/lang/String;II)V(Shop.java:26)[optimized]" as HotSpot does; other lines stay as they are.
func rockitFrame(text string) string {
	at, ok := strings.CutPrefix(text, "at ")
	if !ok || !strings.Contains(at, "/") || strings.Contains(at, "//") || strings.Contains(at, "$$Lambda") { // of HotSpot: "app//shop.Shop.price"
		return text
	}
	for _, way := range []string{"[optimized]", "[inlined]"} {
		at = strings.TrimSuffix(at, way)
	}
	open := strings.IndexByte(at, '(')
	last := strings.LastIndexByte(at, '(')
	dot := strings.LastIndexByte(at[:max(open, 0)], '.')
	slash := strings.LastIndexByte(at[:max(open, 0)], '/')
	if open <= 0 || dot <= 0 || slash <= 0 || strings.IndexByte(at[:slash], '.') >= 0 || dot < slash || strings.Count(at[slash:open], ".") != 1 { // "java.base/java.lang.Thread.run" has a module
		return text
	}
	return "at " + strings.ReplaceAll(at[:open], "/", ".") + at[last:]
}
