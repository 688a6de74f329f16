package threaddump

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// jstack of OpenJ9, and programs that print java.lang.management.ThreadInfo, write the state of a thread and the lock it waits for into its first line:
//
//	"Thread-1" prio=5 Id=13 BLOCKED on java.lang.Object@3551a94 owned by "main" Id=1
//		at com.example.Report.append(Report.java:182)
//		-  blocked on java.lang.Object@3551a94
//
// https://docs.oracle.com/en/java/javase/21/docs/api/java.management/java/lang/management/ThreadInfo.html#toString()

// infoStates are the states of a thread there.
var infoStates = []string{"BLOCKED", "WAITING", "TIMED_WAITING", "RUNNABLE", "NEW", "TERMINATED"}

// isInfo says whether a line is the first of a thread there.
func isInfo(l []byte) bool {
	if !bytes.Contains(l, []byte(" Id=")) {
		return false
	}
	h, ok := readHeader(l)
	return ok && stateOf(h.said) != ""
}

// stateOf returns the state that words begin with, "" if none.
func stateOf(said string) string {
	word, _, _ := strings.Cut(said, " ")
	for _, s := range infoStates {
		if word == s {
			return s
		}
	}
	return ""
}

// takeSaid takes the state and the lock of a thread's first line.
func (p *parser) takeSaid(said string) {
	if p.now.state = stateOf(said); p.now.state == "" {
		return
	}
	_, on, ok := strings.Cut(said, " on ")
	if !ok {
		return
	}
	on, _, _ = strings.Cut(on, " ")
	use := evidence.ToPark
	if p.now.state == "BLOCKED" {
		use = evidence.ToLock
	}
	if k, ok := infoObject(on); ok {
		k.use = use
		p.now.wait = k
	}
}

// infoLock reads "-  locked java.lang.Object@3551a94" and "-  blocked on java.lang.Object@3551a94".
func infoLock(text string) (k lock, ok bool) {
	rest := strings.TrimLeft(strings.TrimPrefix(text, "-"), " ")
	for words, use := range map[string]evidence.LockUse{"locked ": evidence.NoLock, "blocked on ": evidence.ToLock, "waiting on ": evidence.WaitsOn} {
		if on, is := strings.CutPrefix(rest, words); is {
			k, ok = infoObject(on)
			k.use, k.held = use, use == evidence.NoLock
			return k, ok
		}
	}
	return k, false
}

// infoObject reads "java.lang.Object@3551a94".
func infoObject(s string) (k lock, ok bool) {
	class, hash, ok := strings.Cut(s, "@")
	if !ok || class == "" || hash == "" || strings.ContainsAny(s, "<> \t\"") || strings.Trim(hash, "0123456789abcdef") != "" {
		return k, false
	}
	return lock{object: s, class: class}, true
}
