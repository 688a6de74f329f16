package threaddump

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/java"
)

var stateLine = []byte("java.lang.Thread.State:")

// header is the line of a thread.
type header struct {
	name    string
	java    int64 // as the program numbers it: #59, 0 unknown
	native  int64 // as the system does: nid=0x58d7 (decimal from JDK 21 on), 0 unknown
	address string
	said    string  // its state, in the words of java.lang.management.ThreadInfo: "BLOCKED on java.lang.Object@3551a94 owned by …"
	cpu     float64 // ms since it began, -1 unknown: JDK 11 and later

	stateless bool // nothing says whether it waits for a monitor: JDK 21's Thread.dump_to_file
	virtual   bool // the dump says so: text files, and JSON of JDK 24 on
}

// afterName is what may come after a thread's name: the VM's threads have neither a
// number nor, from JDK 9 on, a priority; VisualVM and Spring Boot's actuator number threads
// t@59.
var afterName = []string{`" #`, `" daemon `, `" prio=`, `" os_prio=`, `" cpu=`, `" tid=`, `" nid=`, `" - Thread t@`, `" Id=`, `" id=`}

// isHeader says whether a line may be a thread's: its name stands in quotes, of which a user
// may have lost one or both when pasting.
func isHeader(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	return l[0] == '"' || isForced(l) || bytes.Contains(l, []byte(" tid=0x")) && bytes.Contains(l, []byte(" nid="))
}

// readHeader reads "name" #59 [22743] daemon prio=5 os_prio=0 cpu=18.53ms elapsed=1.71s
// tid=0x… nid=0x58d7 waiting for monitor entry [0x…].
func readHeader(l []byte) (h header, ok bool) {
	if !isHeader(l) {
		return h, false
	}
	if isForced(l) {
		return forcedHeader(l)
	}
	text := string(l[:min(len(l), 4096)])
	name, quoted := strings.CutPrefix(text, `"`)
	end := -1
	for _, s := range afterName {
		i := strings.Index(name, s)
		if i < 0 && !quoted {
			i = strings.Index(name, s[1:]) // without the quote
		}
		if i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	if end < 0 || end == 0 && !quoted || strings.Contains(name[end:], " idx=0x") && !strings.Contains(name[end:], " alive") {
		return h, false // the last are of JRockit's chains of locks, which repeat threads
	}
	h.name = name[:end]
	h.cpu = -1
	if _, after, ok := strings.Cut(name[end:], " Id="); ok {
		_, h.said, _ = strings.Cut(after, " ")
		h.said = behindGroup(h.said)
	}
	if in := stateWithin(name[end:]); in != "" {
		h.said = in
	}
	for _, f := range strings.Fields(strings.TrimPrefix(name[end:], `"`)) {
		key, value, is := strings.Cut(f, "=")
		switch {
		case f[0] == '#':
			h.java = parseNumber(f[1:])
		case strings.HasPrefix(f, "t@"):
			h.java = parseNumber(f[2:])
		case f[0] == '[' && strings.HasSuffix(f, "]") && h.native == 0:
			h.native = parseNumber(f[1 : len(f)-1]) // the thread that carries a virtual one has its number only here
		case !is:
		case key == "nid":
			h.native = parseNumber(value)
		case key == "tid":
			h.address = value
		case (key == "Id" || key == "id") && h.java == 0: // behind it stands the owner's of the lock
			h.java = parseNumber(value)
		case key == "state" && stateOf(value) != "":
			h.said = value
		case key == "idx" && h.said == "": // of JRockit: "id=1 idx=0x4 tid=4184 prio=5 alive, in native, daemon"
			h.said = rockitState(name[end:])
		case key == "cpu":
			if ms, err := strconv.ParseFloat(strings.TrimSuffix(value, "ms"), 64); err == nil && ms >= 0 {
				h.cpu = ms
			}
		}
	}
	return h, true
}

// behindGroup leaves out the group of threads before the state, "Group=main TIMED_WAITING on …", as Jenkins prints it.
func behindGroup(said string) string {
	if !strings.HasPrefix(said, "Group=") {
		return said
	}
	for rest := said; rest != ""; { // the name of a group may have blanks
		_, rest, _ = strings.Cut(rest, " ")
		if stateOf(rest) != "" {
			return rest
		}
	}
	return said
}

// parseNumber reads a positive number, decimal or 0x…; 0 of anything else.
func parseNumber(s string) int64 {
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = hex, 16
	}
	n, err := strconv.ParseUint(s, base, 63)
	if err != nil {
		return 0
	}
	return int64(n)
}

// readFrame reads "at java.lang.Thread.sleep(java.base@11.0.13/Native Method)", and
// java.base/java.lang.Thread.sleep(Thread.java:540) of dump_to_file.
func readFrame(text string) (function, file string, line int32, ok bool) {
	text = text[:min(len(text), maxFrame)]
	open := strings.LastIndexByte(text, '(')
	if open <= 0 || text[len(text)-1] != ')' {
		return "", "", 0, false
	}
	function, file = text[:open], text[open+1:len(text)-1]
	if strings.ContainsAny(function, " \t\"") {
		return "", "", 0, false
	}
	if i := strings.LastIndexByte(file, '/'); i >= 0 { // module and version
		file = file[i+1:]
	}
	if f, n, has := strings.Cut(file, ":"); has {
		file = f
		if v, err := strconv.ParseInt(n, 10, 32); err == nil && v > 0 {
			line = int32(v)
		}
	}
	if file == "Native Method" || file == "Unknown Source" {
		file = ""
	}
	function = java.Stable(function)
	dot := strings.LastIndexByte(function, '.')
	return function, file, line, dot > 0 && dot+1 < len(function)
}

// lock is a line about one.
type lock struct {
	use    evidence.LockUse // NoLock: the thread has it, or it was eliminated
	held   bool
	object string // where it lies, "" unknown
	class  string
	owner  string // the name of the thread that has it, "" not told
}

// waits are what HotSpot says of a lock that a thread waits for.
var waits = []evidence.LockUse{evidence.ToLock, evidence.ToRelock, evidence.WaitsOn, evidence.ToPark}

// initialization stands for the lock under which a class is initialized, which is no object's.
const initialization = "class initialization of "

// readLock reads "- waiting to lock <0x00000000fef00960> (a java.lang.Object)", and
// "- waiting to lock <java.lang.Object@16bbc117>" of dump_to_file; "- <0x…> (a …)" of the
// synchronizers that a thread owns.
func readLock(text string) (k lock, ok bool) {
	rest, ok := strings.CutPrefix(text, "-")
	if !ok {
		return k, false
	}
	rest = strings.TrimLeft(rest, " \t")
	if class, is := strings.CutPrefix(rest, "waiting on the Class initialization monitor for "); is {
		return lock{use: evidence.ToLock, class: initialization + class}, true
	}
	rest, eliminated := strings.CutPrefix(rest, "eliminated")
	k.held = !eliminated
	for _, use := range waits {
		if after, is := strings.CutPrefix(rest, use.String()); is {
			k.use, k.held, rest = use, false, after
			break
		}
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "locked"), " ")
	rest, ok = strings.CutPrefix(rest, "<")
	end := strings.IndexByte(rest, '>')
	if !ok || end < 0 {
		return k, false
	}
	object := rest[:end]
	if class, _, at := strings.Cut(object, "@"); at {
		k.object, k.class = object, class
	} else if strings.HasPrefix(object, "0x") || isAddress(object) {
		k.object = object
	}
	if class, is := strings.CutPrefix(strings.TrimLeft(rest[end+1:], " "), "(a "); is {
		class, owner, _ := strings.Cut(class, ")")
		k.class, _, _ = strings.Cut(class, " for ") // of a class: "java.lang.Class for shop.Shop"
		k.owner = ownerOf(strings.TrimSpace(owner)) // of VisualVM
	}
	return k, true
}

// bulleted are the words behind the dash of a line about a lock.
var bulleted = []string{"waiting on ", "waiting to lock ", "waiting to re-lock ", "locked ", "parking to wait ", "eliminated ", "None"}

// dashOf writes "*   locked <0x…> (a shop.Pool)", as a page in Markdown shows a line about a lock, with the dash of a dump.
func dashOf(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "*")
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	for _, w := range bulleted {
		if strings.HasPrefix(rest, w) {
			return "- " + rest, true
		}
	}
	return "", false
}

// isAddress says whether a word is an address without 0x: "<7f44e2110>" of JDK 6 on a Mac, "<02EC2C28>" of JDK 1.4 on Windows.
func isAddress(s string) bool {
	return len(s) >= 8 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// ideLock reads what IntelliJ IDEA's debugger says of a thread that is blocked: "waiting for http-nio-8080-exec-5@10411 to release lock on
// <0x2a3f> (a shop.Pool)". What it says of the one that blocks it, "blocks http-nio-8080-exec-3@10401", follows from that.
//
// It puts threads that wait alike together, and then writes <merged> for the object.
func ideLock(text string) (lock, bool) {
	owner, on, ok := strings.Cut(strings.TrimPrefix(text, "waiting for "), " to release lock on <")
	if !ok {
		return lock{}, false
	}
	k, ok := readLock("- waiting to lock <" + on)
	k.owner = owner[:min(len(owner), maxName)]
	return k, ok
}

// parseStamp reads "2026-11-21 13:40:43" alone on a line, as ns since the epoch in the zone of
// the host, which it does not name.
func parseStamp(l []byte) (at int64, ok bool) {
	const layout = "2006-01-02 15:04:05"
	l = bytes.TrimSpace(l)
	if len(l) != len(layout) || l[4] != '-' || l[10] != ' ' {
		return 0, false
	}
	t, err := parseTime(layout, string(l))
	return t, err == nil
}
