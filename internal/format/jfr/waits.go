package jfr

import (
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// wait is one wait of a thread, with its beginning and end.
type wait struct {
	lane       evidence.LaneID
	start, end int64
	stack      evidence.StackID
}

// call is a method of the JDK whose frame may be missing from an event's stack: from JDK 24 on stacks omit it, and it
// was the only frame that said what is waited for.
type call struct {
	method string
	own    []string // the first frames of a stack that has it, or the functions that it calls
}

var calls = map[string]*call{
	"jdk.SocketRead":    {"java.net.Socket$SocketInputStream.read", []string{"java.net.", "sun.nio.ch."}},
	"jdk.SocketWrite":   {"java.net.Socket$SocketOutputStream.write", []string{"java.net.", "sun.nio.ch."}},
	"jdk.SocketConnect": {"java.net.Socket.connect", []string{"java.net.", "sun.nio.ch."}},
	"jdk.FileRead":      {"java.io.FileInputStream.read", []string{"java.io.FileInput", "java.io.RandomAccessFile", "sun.nio.ch."}},
	"jdk.FileWrite":     {"java.io.FileOutputStream.write", []string{"java.io.FileOutput", "java.io.RandomAccessFile", "sun.nio.ch."}},
	"jdk.FileForce":     {"sun.nio.ch.FileDispatcherImpl.force", []string{"java.io.FileDescriptor", "java.nio.", "sun.nio.ch."}},
	"jdk.ThreadSleep":   {"java.lang.Thread.sleep", []string{"java.lang.Thread", "java.lang.VirtualThread"}},
}

// maxWaits bounds the waits kept for states; a recording has one for each wait of 20 ms, or 10.
const maxWaits = 4 << 20

// addWait records a wait and returns it; its stack is 0 if its place is unknown.
func (p *parser) addWait(e *recording.Record, of lock) (w wait) {
	t := p.symbols.fieldThread(e, "eventThread")
	w = wait{lane: t.lane, start: e.Start(), stack: p.symbols.callStack(e, t, of, calls[e.Class.Name])}
	w.end = w.start + e.Duration()
	if w.stack == 0 || w.lane == 0 || w.end == w.start {
		return wait{}
	}
	if p.allWaits.Len()+len(p.waits) == maxWaits {
		p.moreWaits++
		return w
	}
	p.waits = append(p.waits, w)
	return w
}

// monitorEnter records a wait for a monitor that another thread holds: the last holder, as the JVM records it at the
// end of the wait (previousOwner).
func (p *parser) monitorEnter(e *recording.Record) {
	class := p.symbols.fieldClass(e, "monitorClass")
	if w := p.addWait(e, lock{evidence.ToLock, class}); w.stack != 0 {
		p.lockWait(w, class, p.symbols.fieldThread(e, "previousOwner").lane)
	}
}

// lockWait writes a wait for a lock.
func (p *parser) lockWait(w wait, class evidence.NameID, holder evidence.LaneID) {
	if holder == w.lane {
		holder = 0
	}
	p.locks = true
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: w.lane, Kind: evidence.LockWait, Start: w.start, End: w.end, Stack: w.stack, Cause: class,
		Holder: holder, Origin: p.b.Origin(p.number)})
}

// monitorWait records Object.wait, which releases the monitor.
func (p *parser) monitorWait(e *recording.Record) {
	p.addWait(e, lock{evidence.WaitsOn, p.symbols.fieldClass(e, "monitorClass")})
}

// threadPark records a wait of java.util.concurrent: for a lock, or for something else, by its
// stack.
func (p *parser) threadPark(e *recording.Record) {
	class := p.symbols.fieldClass(e, "parkedClass")
	of := lock{}
	if class != 0 {
		of = lock{evidence.ToPark, class}
	}
	if w := p.addWait(e, of); w.stack != 0 && p.isLock(w.stack) {
		p.lockWait(w, class, 0)
	}
}

// isLock says whether a thread that parks waits for a lock.
func (p *parser) isLock(stack evidence.StackID) bool {
	is, known := p.lockStacks[stack]
	if !known {
		frames := p.b.Frames(stack)
		names := make([]string, len(frames))
		for i, f := range frames {
			names[i] = p.b.Text(f.Func)
		}
		is = threadstack.JVM(threadstack.Stack{Frames: names, ThreadInfo: p.b.Info(stack)}, "").State == evidence.LockWait
		p.lockStacks[stack] = is
	}
	return is
}

// blockingCall records a wait whose stack shows its reason: a sleep, a read of a socket, a sync of a
// file.
func (p *parser) blockingCall(e *recording.Record) { p.addWait(e, lock{}) }

// threadPinned emits that a virtual thread waited and kept its carrier, as it was in synchronized
// or native code. The JDK up to 23 records those that parked; from 24 on, when synchronized no longer
// pins, it records the reason.
func (p *parser) threadPinned(e *recording.Record) {
	w := p.addWait(e, lock{})
	if w.stack == 0 {
		return
	}
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: w.lane, Kind: evidence.Pinned, Start: w.start, End: w.end, Stack: w.stack,
		Cause: p.b.Name(e.Text("pinnedReason")), Origin: p.b.Origin(p.number)})
}
