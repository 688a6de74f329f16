package threaddump

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Programs that print java.lang.management.ThreadInfo in words of their own: Hadoop and what is built on it (ReflectionUtils.printThreadInfo, /stacks), and
// the watchdogs of Bukkit's servers, whose lines have a logger's prefix.
//
//	Thread 219 (resultReporter):                                   [ERROR]: Current Thread: Server thread
//	  State: BLOCKED                                               [ERROR]: 	PID: 12 | Suspended: false | Native: false | State: RUNNABLE
//	  Blocked count: 12
//	  Waited count: 1
//	  Blocked on org.example.Journal@6f0cb5a1
//	  Blocked by 25 (flusher)
//	  Stack:                                                       [ERROR]: 	Stack:
//	    org.example.Journal.append(Journal.java:88)                [ERROR]: 		net.minecraft.server.World.a(World.java:1325)
//
// Ignite and GridGain write the state into the first line, and the lock with its owner below it:
//
//	Thread [name="sys-stripe-3-#4", id=31, state=WAITING, blockCnt=2, waitCnt=6121]
//	    Lock [object=java.util.concurrent.CountDownLatch$Sync@2967a826, ownerName=null, ownerId=-1]
//	        at java.base@17.0.7/java.lang.Object.wait(Native Method)
//
// https://github.com/apache/ignite/blob/master/modules/core/src/main/java/org/apache/ignite/internal/util/IgniteUtils.java (printThreadInfo),
// https://github.com/apache/hadoop/blob/trunk/hadoop-common-project/hadoop-common/src/main/java/org/apache/hadoop/util/ReflectionUtils.java

// trimLogPrefix removes a logger's prefix, "[08:19:58] [Watchdog/ERROR]: ", from a line.
func trimLogPrefix(l []byte) []byte {
	if len(l) > 0 && l[0] == '[' {
		if i := bytes.Index(l[:min(len(l), maxName)], []byte("]: ")); i > 0 {
			return bytes.TrimLeft(l[i+len("]: "):], " \t")
		}
	}
	return l
}

// wordedHead reads the line that begins a thread there: its number, 0 not told, and its name.
func wordedHead(l []byte) (number int64, name string, ok bool) {
	l = bytes.TrimRight(trimLogPrefix(l), " \t\r\n")
	if after, is := bytes.CutPrefix(l, []byte("Current Thread: ")); is && len(after) > 0 {
		return 0, string(after[:min(len(after), maxName)]), true
	}
	if after, is := bytes.CutPrefix(l, []byte(`Thread [name="`)); is {
		named, rest, is := bytes.Cut(after, []byte(`", id=`))
		digits, _, is2 := bytes.Cut(rest, []byte(","))
		number = parseNumber(string(digits[:min(len(digits), 20)]))
		return number, string(named[:min(len(named), maxName)]), is && is2 && number > 0 && headState(l) != ""
	}
	after, is := bytes.CutPrefix(l, []byte("Thread "))
	digits, after, is2 := bytes.Cut(after, []byte(" ("))
	after, is3 := bytes.CutSuffix(after, []byte("):"))
	number = parseNumber(string(digits[:min(len(digits), 20)]))
	if !is || !is2 || !is3 || number == 0 || len(after) == 0 {
		return 0, "", false
	}
	return number, string(after[:min(len(after), maxName)]), true
}

// headState reads the state in the line that begins a thread of Ignite; "" of other lines.
func headState(l []byte) string {
	_, state, _ := bytes.Cut(l, []byte(", state="))
	state, _, _ = bytes.Cut(state, []byte(","))
	return stateOf(string(state[:min(len(state), 40)]))
}

// lockOfIgnite reads "Lock [object=java.lang.ref.ReferenceQueue$Lock@2967a826, ownerName=null, ownerId=-1]".
func (p *parser) lockOfIgnite(text []byte) bool {
	on, ok := bytes.CutPrefix(text, []byte("Lock [object="))
	if !ok {
		return false
	}
	object, owner, _ := bytes.Cut(on, []byte(", ownerName="))
	if k, ok := infoObject(string(object[:min(len(object), maxFrame)])); ok {
		if k.use = evidence.ToPark; p.now.state == "BLOCKED" {
			k.use = evidence.ToLock
		}
		if by, _, _ := bytes.Cut(owner, []byte(", ownerId=")); string(by) != "null" {
			k.owner = string(by[:min(len(by), maxName)])
		}
		p.now.wait = k
	}
	return true
}

// wordedState reads the state of a thread there, in the line below its head.
func wordedState(l []byte) string {
	_, state, ok := bytes.Cut(trimLogPrefix(l), []byte("State: "))
	if !ok {
		return ""
	}
	return stateOf(string(bytes.TrimSpace(state[:min(len(state), 40)])))
}

// readWorded reads a line of such a dump; false of others.
func (p *parser) readWorded(trimmed []byte, l format.Line) bool {
	if number, name, ok := wordedHead(trimmed); ok {
		p.endThread()
		if p.section == outside {
			p.beginDump(l, nil)
		}
		p.section = worded
		p.startThread(header{name: name, java: number, cpu: -1})
		p.now.state = headState(trimLogPrefix(trimmed))
		return true
	}
	if p.section != worded {
		return false
	}
	text := trimLogPrefix(trimmed)
	if p.lockOfIgnite(text) {
		return true
	}
	if state := wordedState(text); state != "" {
		p.now.state = state
		return true
	}
	for words, use := range map[string]evidence.LockUse{"Blocked on ": evidence.ToLock, "Waiting on ": evidence.ToPark} {
		if on, ok := bytes.CutPrefix(text, []byte(words)); ok {
			if k, ok := infoObject(string(on[:min(len(on), maxFrame)])); ok {
				k.use = use
				p.now.wait = k
			}
			return true
		}
	}
	if by, ok := bytes.CutPrefix(text, []byte("Blocked by ")); ok {
		_, name, _ := bytes.Cut(bytes.TrimSuffix(by, []byte(")")), []byte(" ("))
		p.now.wait.owner = string(name[:min(len(name), maxName)])
		return true
	}
	text = bytes.TrimPrefix(text, []byte("at "))
	switch frame := string(text[:min(len(text), maxFrame)]); {
	case p.addFrame(frame):
		if len(p.now.frames) == 1 && p.now.outermost == objectWait && p.now.wait.use == evidence.ToPark {
			p.now.wait.use = evidence.WaitsOn
		}
	case len(p.now.frames) > 0: // below the stack
		p.endThread()
		p.section = afterwards
		return bytes.HasPrefix(text, []byte("---"))
	}
	return true
}
