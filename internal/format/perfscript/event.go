package perfscript

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// event is the line above a stack.
type event struct {
	comm     []byte
	pid, tid int64 // pid 0: unknown
	cpu      int64 // -1 unknown
	at       int64 // ns
	timed    bool
	period   int64
	name     string
	tells    []byte // the text behind it
	line     int64
}

// gone is the id of a thread that has ended before its last switch is printed: perf prints -1.
const gone = -1

// eventOf reads "comm pid/tid [cpu] seconds.micros: period event: …", of which all but the command, the
// thread and the event may be missing. A command may hold blanks.
func eventOf(text []byte) (e event, ok bool) {
	if len(text) == 0 || text[0] == '\t' || text[0] == '#' {
		return e, false
	}
	f := bytes.Fields(text)
	for i := 1; i < len(f) && i < 12; i++ {
		if e, ok = parseAfterCommand(f[i:]); ok {
			e.comm = bytes.Clone(bytes.Join(f[:i], []byte(" ")))
			e.comm = e.comm[:min(len(e.comm), 64)]
			return e, true
		}
	}
	return event{}, false
}

// parseAfterCommand parses what follows the command.
func parseAfterCommand(f [][]byte) (e event, ok bool) {
	first, second, both := bytes.Cut(f[0], []byte("/"))
	if e.tid, ok = format.ParseDigits(first); !ok || e.tid > 1<<30 {
		return e, false
	}
	if both {
		e.pid = e.tid
		if e.tid, ok = format.ParseDigits(second); string(second) == "-1" {
			e.tid, ok = gone, true
		}
		if !ok || e.tid > 1<<30 {
			return e, false
		}
	}
	e.cpu, e.period = -1, 0
	f = f[1:]
	if len(f) > 0 && len(f[0]) > 2 && f[0][0] == '[' && f[0][len(f[0])-1] == ']' {
		if e.cpu, ok = format.ParseDigits(f[0][1 : len(f[0])-1]); !ok || e.cpu > 1<<16 {
			return e, false
		}
		f = f[1:]
	}
	if len(f) > 1 && len(f[0]) == 4 || len(f) > 1 && len(f[0]) == 5 { // "d..2.": irqs off, of trace events
		if _, is := parseSeconds(f[0]); !is && bytes.IndexByte(f[0], '.') >= 0 {
			f = f[1:]
		}
	}
	if len(f) > 0 {
		if e.at, e.timed = parseSeconds(f[0]); e.timed {
			f = f[1:]
		}
	}
	if len(f) > 1 {
		if n, is := format.ParseDigits(f[0]); is {
			e.period = n
			f = f[1:]
		}
	}
	if len(f) == 0 {
		return e, e.timed // -F without the event
	}
	name := string(f[0])
	if !strings.HasSuffix(name, ":") || len(name) < 3 || name[0] >= '0' && name[0] <= '9' || len(name) > 128 {
		return e, false
	}
	e.name = strings.TrimSuffix(name, ":")
	e.tells = bytes.Clone(bytes.Join(f[1:], []byte(" ")))
	return e, true
}

// parseSeconds parses "14782.137805:" as ns.
func parseSeconds(s []byte) (ns int64, ok bool) {
	s, ok = bytes.CutSuffix(s, []byte(":"))
	if !ok {
		return 0, false
	}
	a, b, point := bytes.Cut(s, []byte("."))
	n, ok := format.ParseDigits(a)
	if !ok || !point || len(b) == 0 || len(b) > 9 || n > 4e9 {
		return 0, false
	}
	m, ok := format.ParseDigits(b)
	for range 9 - len(b) {
		m *= 10
	}
	return n*1e9 + m, ok
}

// baseName returns the event without its modifiers: of "cpu-clock:pppH", "cycles:u",
// "cpu_core/cycles/P".
func (e *event) baseName() string {
	name := e.name
	if _, rest, ok := strings.Cut(name, "/"); ok {
		name, _, _ = strings.Cut(rest, "/")
	}
	name, _, _ = strings.Cut(name, ":")
	return name
}

// isClock says whether the period is ns of CPU time.
func (e *event) isClock() bool {
	return (e.baseName() == "cpu-clock" || e.baseName() == "task-clock") && e.period > 0 && e.period <= 10e9
}

// isCPUSample says whether the event comes in proportion to CPU time.
func (e *event) isCPUSample() bool {
	switch e.baseName() {
	case "cpu-clock", "task-clock", "cycles", "cpu-cycles", "ref-cycles", "bus-cycles":
		return true
	}
	return e.name == ""
}

func (e *event) isSwitch() bool { return strings.HasSuffix(e.name, "sched_switch") }

// parseSwitch parses "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2
// …" and the older "a:1 [120] S ==> b:2 [120]".
func (e *event) parseSwitch() (prev int64, state byte, next int64, ok bool) {
	a, b, ok := bytes.Cut(e.tells, []byte(" ==> "))
	if !ok {
		return 0, 0, 0, false
	}
	if from, told := parseField(a, "prev_pid="); told {
		to, told := parseField(b, "next_pid=")
		_, mode, is := bytes.Cut(a, []byte("prev_state="))
		if !told || !is || len(mode) == 0 {
			return 0, 0, 0, false
		}
		return from, mode[0], to, true
	}
	from, rest, ok := parseOldForm(a)
	if !ok || len(rest) == 0 {
		return 0, 0, 0, false
	}
	to, _, ok := parseOldForm(b)
	return from, rest[0], to, ok
}

func (e *event) isWakeup() bool { return strings.HasSuffix(e.name, "sched_wakeup") }

// parseWakeup parses "comm=a pid=1 prio=120 target_cpu=000" and the older "a:1 [120] success=1
// CPU:000", and returns the thread's id.
func (e *event) parseWakeup() (int64, bool) {
	if pid, ok := parseField(e.tells, " pid="); ok {
		return pid, true
	}
	pid, _, ok := parseOldForm(e.tells)
	return pid, ok
}

func parseField(s []byte, key string) (int64, bool) {
	_, rest, ok := bytes.Cut(s, []byte(key))
	digits, _, _ := bytes.Cut(rest, []byte(" "))
	n, is := format.ParseDigits(digits)
	return n, ok && is
}

// parseOldForm parses "comm:pid [prio] rest".
func parseOldForm(s []byte) (pid int64, rest []byte, ok bool) {
	before, after, ok := bytes.Cut(s, []byte(" ["))
	i := bytes.LastIndexByte(before, ':')
	if !ok || i < 0 {
		return 0, nil, false
	}
	pid, ok = format.ParseDigits(before[i+1:])
	_, rest, _ = bytes.Cut(after, []byte("] "))
	return pid, rest, ok
}

// frame is a line of a stack.
type frame struct {
	name, file []byte
	address    bool // it is printed
	high       bool // it is a kernel address
}

// frameOf reads "  ffffffff815f2af7 __x64_sys_munmap+0x17 ([kernel.kallsyms])", of which the address
// or the file may be missing, and the name unknown.
func frameOf(text []byte) (f frame, ok bool) {
	s := bytes.TrimSpace(text)
	if i := bytes.LastIndex(s, []byte(" (")); i > 0 && s[len(s)-1] == ')' {
		if in := s[i+2 : len(s)-1]; string(in) != "inlined" {
			f.file = in
		}
		s = bytes.TrimSpace(s[:i])
	}
	first, rest, more := bytes.Cut(s, []byte(" "))
	if isHexadecimal(first) && (more || len(first) > 3) {
		f.address, f.high, s = true, len(first) == 16 && first[0] == 'f', bytes.TrimSpace(rest)
	} else if more && len(f.file) == 0 && !bytes.ContainsAny(s, "(<") {
		return f, false // words that are no function
	}
	if i := bytes.LastIndex(s, []byte("+0x")); i > 0 && isHexadecimal(s[i+3:]) {
		s = s[:i]
	}
	if len(s) == 0 || string(s) == "[unknown]" {
		if s = f.file; len(s) == 0 || string(s) == "[unknown]" {
			s = []byte(evidence.UnknownFunction)
		} else {
			s = append([]byte("unknown, in "), s...)
		}
	}
	f.name = bytes.ToValidUTF8(s[:min(len(s), 512)], nil)
	f.file = bytes.ToValidUTF8(f.file, nil)
	return f, true
}

// isKernel says whether the function is the kernel's or a module's.
func (f *frame) isKernel() bool {
	switch file := string(f.file); {
	case file == "":
		return f.high
	case strings.HasPrefix(file, "[kernel") || strings.HasPrefix(file, "[guest.kernel"):
		return true
	case strings.HasPrefix(file, "[") && strings.HasSuffix(file, "]"): // a module; [vdso], [heap] and similar are the program's
		return f.high
	default:
		return strings.Contains(file, ".ko") && f.high || strings.HasSuffix(file, "/vmlinux")
	}
}

func isHexadecimal(s []byte) bool {
	if len(s) == 0 || len(s) > 16 {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
