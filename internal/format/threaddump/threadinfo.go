package threaddump

import (
	"bytes"
	"slices"
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

// The metrics library of Dropwizard prints the same with a line for the owner, and the lock's hash in the form of an address:
//
//	"refresh-77" id=271 state=BLOCKED
//	    - waiting to lock <0x6a1f03c8> (a shop.Catalog)
//	     owned by events id=296
//	    at shop.Catalog.get(Catalog.java:438)
//
// https://github.com/dropwizard/metrics/blob/release/4.2.x/metrics-jvm/src/main/java/io/dropwizard/metrics/jvm/ThreadDump.java
//
// FullThreadDump, an example of the JDK which many have copied, writes "in" before the state, and other numbers:
//
//	"exec-3" tid=0x10f in BLOCKED on lock=shop.Catalog@5d1b2c7f
//	     owned by exec-11 tid=0x11a
//
// Who owns a lock is told by name where what the owner holds is not: ThreadInfo prints eight frames and the locks between them.

// infoStates are the states of a thread there.
var infoStates = []string{"BLOCKED", "WAITING", "TIMED_WAITING", "RUNNABLE", "NEW", "TERMINATED"}

// isInfo says whether a line is the first of a thread there.
func isInfo(l []byte) bool {
	if !bytes.Contains(l, []byte(" Id=")) && !bytes.Contains(l, []byte(" state=")) && !bytes.Contains(l, []byte(" in ")) && !bytes.Contains(l, []byte(" idx=0x")) {
		return false
	}
	h, ok := readHeader(l)
	return ok && stateOf(h.said) != ""
}

// stateWithin returns `BLOCKED on shop.Catalog@5d1b2c7f` of ` tid=0x10f in BLOCKED on lock=shop.Catalog@5d1b2c7f`, "" of other words.
func stateWithin(numbers string) string {
	_, said, ok := strings.Cut(numbers, " in ")
	if !ok || stateOf(said) == "" {
		return ""
	}
	return strings.Replace(said, " on lock=", " on ", 1)
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
	on, by, _ := strings.Cut(on, " ")
	use := evidence.ToPark
	if p.now.state == "BLOCKED" {
		use = evidence.ToLock
	}
	if k, ok := infoObject(on); ok {
		k.use = use
		k.owner = ownerOf(by)
		p.now.wait = k
	}
}

// ownerOf reads `owned by "main" Id=1` and "owned by main id=1".
func ownerOf(text string) string {
	name, ok := strings.CutPrefix(text, "owned by ")
	if !ok {
		return ""
	}
	if i := strings.LastIndex(name, " (0x"); i > 0 && strings.HasSuffix(name, ")") { // the number again, as Jenkins prints it
		name = name[:i]
	}
	for _, number := range []string{" Id=", " id=", " tid=", " t@"} {
		if i := strings.LastIndex(name, number); i > 0 && parseNumber(name[i+len(number):]) > 0 {
			name = name[:i]
			break
		}
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, `"`), `"`)
	return name[:min(len(name), maxName)]
}

// readOwner takes the owner of the lock that the open thread waits for, from a line of its own; false of other lines.
func (p *parser) readOwner(text string) bool {
	name := ownerOf(text)
	if name == "" || p.now.wait.use == evidence.NoLock {
		return false
	}
	p.now.wait.owner = name
	return true
}

// findOwners gives the owners that are known by name the locks that others wait for, where their own stacks do not show these.
func (p *parser) findOwners() {
	var names map[string]int
	held := make(map[string]bool)
	for i := range p.dump {
		for _, o := range p.dump[i].held {
			held[o] = held[o] || o != p.dump[i].wait.object
		}
	}
	for i := range p.dump {
		w := &p.dump[i].wait
		if w.owner == "" || w.object != "" && held[w.object] {
			continue
		}
		if names == nil {
			names = make(map[string]int, len(p.dump))
			for n := range slices.Backward(p.dump) { // of a thread that is shown twice, the first counts
				names[p.dump[n].name] = n
			}
		}
		n, ok := names[w.owner]
		if !ok || n == i {
			continue
		}
		if w.object == "" {
			w.object = "of " + w.owner + " " + w.class
		}
		if t := &p.dump[n]; len(t.held) < maxHeld {
			t.held = append(t.held, w.object)
			held[w.object] = true
			if w.use == evidence.ToLock && w.object != t.wait.object && w.class != "" {
				t.kept = append(t.kept, w.class)
			}
		}
	}
}

// infoLock reads "-  locked java.lang.Object@3551a94" and "-  blocked on java.lang.Object@3551a94".
func infoLock(text string) (k lock, ok bool) {
	rest := strings.TrimLeft(strings.TrimPrefix(text, "-"), " ")
	if k, ok = infoObject(rest); ok { // of the synchronizers that a thread owns
		k.held = true
		return k, true
	}
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
