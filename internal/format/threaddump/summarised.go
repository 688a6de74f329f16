package threaddump

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Dumpling and pages about its reports show of a thread only the locks that matter for a deadlock:
//
//	"exec-50" daemon prio=10 tid=47168539664384 nid=5776
//		Blocked by <0x4033105e0> (a hudson.model.Hudson)
//		Acquired * <0x40e73a1c8> (a hudson.model.ListView)
//
// The star marks a lock that another thread of the report waits for.
// https://github.com/olivergondza/dumpling/blob/master/core/src/main/java/com/github/olivergondza/dumpling/query/Deadlocks.java
const (
	blockedBy = "Blocked by <"
	acquired  = "Acquired "
)

// isSummarised says whether a line is one of these about a lock.
func isSummarised(l []byte) bool {
	l = bytes.TrimLeft(l, " \t")
	return bytes.HasPrefix(l, []byte(blockedBy)) && bytes.Contains(l, []byte("> (a "))
}

// readSummarised reads such a line; false of others.
func (p *parser) readSummarised(text string) bool {
	if on, ok := strings.CutPrefix(text, blockedBy); ok {
		k, ok := readLock("- waiting to lock <" + on)
		if ok {
			p.now.state = "BLOCKED"
			k.use = evidence.ToLock
			p.addLock(k)
		}
		return ok
	}
	if held, ok := strings.CutPrefix(text, acquired); ok {
		k, ok := readLock("- locked " + strings.TrimLeft(held, " *\t"))
		if ok {
			p.addLock(k)
		}
		return ok
	}
	return false
}

// Profilers and IDEs write a deadlock in sentences:
//
//	pool-1 is waiting to lock java.awt.Component$AWTTreeLock@1caee107 which is held by AWT-EventQueue-0
const (
	isWaitingToLock = " is waiting to lock "
	maxSentences    = 1000 // threads of a dump among which those of sentences are found by name
	whichIsHeldBy   = " which is held by "
)

// parseSentence reads such a sentence.
func parseSentence(text []byte) (waiter, object, holder string, ok bool) {
	before, after, ok := bytes.Cut(text, []byte(isWaitingToLock))
	on, by, held := bytes.Cut(after, []byte(whichIsHeldBy))
	if !ok || !held || len(before) == 0 || len(before) > maxName || len(by) == 0 || len(by) > maxName || bytes.IndexByte(on, ' ') >= 0 || bytes.IndexByte(on, '@') <= 0 {
		return "", "", "", false
	}
	return string(before), string(on), string(by), true
}

// sentence takes a thread of such a sentence, which has no stack, and its holder.
func (p *parser) sentence(text []byte, line int64) bool {
	waiter, object, holder, ok := parseSentence(text)
	if !ok {
		return false
	}
	if p.section == outside {
		p.endDump()
		p.dumps++
		p.begun, p.section = line, afterwards
	}
	p.endThread()
	w := p.named(waiter)
	class, _, _ := strings.Cut(object, "@")
	p.blockThread(w, lock{use: evidence.ToLock, object: object, class: class})
	if h := p.named(holder); len(p.dump[h].held) < maxHeld {
		p.dump[h].held = append(p.dump[h].held, object)
	}
	return true
}

// blockThread lets a thread of the dump without a stack wait for a lock.
func (p *parser) blockThread(i int, on lock) {
	t := &p.dump[i]
	t.state, t.wait = "BLOCKED", on
	t.stack = p.b.ThreadStack(nil, t.threadInfo())
}

// named returns the index of a thread of the dump by its name.
func (p *parser) named(name string) int {
	for i := range p.dump {
		if p.dump[i].name == name {
			return i
		}
	}
	p.startThread(header{name: name, cpu: -1})
	p.endThread()
	return len(p.dump) - 1
}

// The debugger of OpenJ9 (jdmpview, !monitors) lists monitors with their owner and with who waits for them:
//
//	Object monitor for !j9object 0xdf85930
//		Owner:	!j9vmthread 0x1a52a00	"Thread-9771"
//		Blocking (Enter Waiter):
//			!j9vmthread 0x1a5a600	"Thread-9795"
const debuggedMonitor = "Object monitor for !j9object "

// debugged is the monitor of the list that is being read.
type debugged struct {
	object   string
	blocking bool // its waiters follow
}

// readDebugged reads a line of that list; false of others.
func (p *parser) readDebugged(text []byte, line int64) bool {
	if rest, ok := bytes.CutPrefix(text, []byte(debuggedMonitor)); ok {
		address, _, _ := bytes.Cut(rest[:min(len(rest), maxName)], []byte("\t"))
		p.monitor = debugged{object: "j9object@" + string(bytes.TrimSpace(address))}
		return true
	}
	if p.monitor.object == "" {
		return false
	}
	_, name, ok := bytes.Cut(text, []byte{'"'})
	name, _, ok2 := bytes.Cut(name, []byte{'"'})
	switch {
	case bytes.HasPrefix(text, []byte("Blocking (")):
		p.monitor.blocking = true
	case bytes.HasPrefix(text, []byte("Waiting (")):
		p.monitor.blocking = false
	case bytes.HasPrefix(text, []byte("!j9vmthread ")) && ok && ok2:
		if len(name) == 0 || len(name) > maxName || len(p.dump) >= maxSentences {
			break
		}
		if p.section == outside {
			p.endDump()
			p.dumps++
			p.begun, p.section = line, afterwards
		}
		p.endThread()
		w := p.named(string(name))
		if p.monitor.blocking { // what its owner does is not told
			p.blockThread(w, lock{use: evidence.ToLock, object: p.monitor.object, class: "j9object"})
		}
	default:
		return false
	}
	return true
}
