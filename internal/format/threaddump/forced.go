package threaddump

import (
	"bytes"
	"strings"
)

// What jstack -F and jhsdb jstack print reads the memory of a JVM that does not answer:
//
//	Thread 23318: (state = BLOCKED)
//	 - java.lang.Thread.sleep(long) @bci=0 (Interpreted frame)
//	 - shop.Shop.run() @bci=4, line=22 (Compiled frame; information may be imprecise)
//
// The state is that of the thread within the JVM: BLOCKED is any wait, of a sleep or for a
// connection as well as for a monitor.
// https://github.com/openjdk/jdk/blob/master/src/jdk.hotspot.agent/share/classes/sun/jvm/hotspot/tools/StackTrace.java
var (
	forcedThread = []byte("Thread ")
	forcedState  = []byte(": (state = ")
)

// isForced says whether a line begins a thread there.
func isForced(l []byte) bool {
	rest, ok := bytes.CutPrefix(l, forcedThread)
	id, _, told := bytes.Cut(rest, forcedState)
	return ok && told && parseNumber(string(id)) > 0
}

// forcedHeader reads such a line.
func forcedHeader(l []byte) (h header, ok bool) {
	id, _, ok := bytes.Cut(bytes.TrimPrefix(l, forcedThread), forcedState)
	return header{native: parseNumber(string(id)), cpu: -1, stateless: true}, ok
}

// forcedFrame reads a frame there, written as in other dumps.
func forcedFrame(text string) (at string, ok bool) {
	call, where, ok := strings.Cut(text, " @bci=")
	if !ok {
		return "", false
	}
	call = strings.TrimLeft(strings.TrimPrefix(call, "-"), " ")
	function, _, _ := strings.Cut(call, "(")
	if _, line, told := strings.Cut(where, "line="); told {
		line, _, _ = strings.Cut(line, " ")
		return function + "(Unknown Source:" + line + ")", true
	}
	return function + "(Unknown Source)", true
}
