package threaddump

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/java"
)

// thread is a thread of a dump.
type thread struct {
	header
	line    int64
	state   string // "BLOCKED (on object monitor)"
	wait    lock
	held    []string // objects
	waiter  string   // the function that waits to be notified
	classes []string // of the objects in held
	kept    []string // classes of locks that others wait for and say it has, where it does not show them
	loader  lock     // of a class loader, held while it loads
	frames  []evidence.Frame
	stack   evidence.StackID
	deep    bool

	bare      bool   // without a stack, in a file that shows each thread's
	unmounted bool   // a virtual thread that has not run yet
	outermost string // function
}

// section is the part of a dump that the lines belong to.
type section uint8

const (
	outside    section = iota
	inThread           // its state, its stack
	afterwards         // after its stack: the synchronizers it owns
	deadlock           // the threads of a deadlock
	toFile             // of Thread.dump_to_file
	worded             // of programs that print threads in their own words
	core               // of a core dump of OpenJ9
)

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	typ     evidence.NameID
	count   evidence.NameID
	line    int64
	section section

	at, stamped int64 // of the dump: by its own time, by the collector of the log
	date        int64 // a line that is only a time, which may be the next dump's
	dateLine    int64
	about       evidence.Subject

	now       thread
	loops     map[string]loop // event loops that wait in a call that blocks, by place
	open      bool
	dump      []thread
	begun     int64 // line
	circle    []string
	holders   map[string]string // of the circle: which thread has what a thread waits for
	told      [][]string        // circles the JVM found in this dump
	found     [][]string        // circles reported so far, in all dumps
	monitor   debugged
	coreName  string // of the next thread of a core dump
	listed    bool   // the circle has been printed, its stacks follow
	stacks    bool   // these stacks are all that was copied
	headless  bool   // threads are copied without their first lines
	deadlocks int64  // that the JVM found

	dumps, threads, more, deep int64
	odd, oddLine               int64
	emitted
}

func newParser(b *evidence.Builder) *parser {
	return &parser{b: b, subject: b.Subject(evidence.Subject{Runtime: "jvm"}), typ: b.Name(evidence.SampleThread), count: b.Name("count")}
}

func parseTime(layout, s string) (int64, error) {
	t, err := time.Parse(layout, s)
	if err == nil && (t.Year() < 1970 || t.Year() > 2200) {
		return 0, bytes.ErrTooLarge
	}
	return t.UnixNano(), err
}

// parseLine reads a line.
func (p *parser) parseLine(l format.Line) {
	text := bytes.TrimRight(l.Text, " \t")
	trimmed := bytes.TrimLeft(text, " \t")
	switch {
	case len(trimmed) == 0:
		p.endParagraph()
	case bytes.Contains(text, title):
		p.beginDump(l, text)
	case isHeader(trimmed):
		p.parseHeader(trimmed, l)
	case bytes.Contains(trimmed, []byte(isWaitingToLock)) && len(p.dump) < maxSentences && p.sentence(trimmed, l.Number):
	case p.readDebugged(trimmed, l.Number):
	case p.readCore(trimmed, l):
	case p.toFile(text):
	case p.readWorded(trimmed, l):
	case p.section == outside && isDeadlock(trimmed): // only this part was copied
		p.beginDump(l, nil)
		p.section, p.listed = deadlock, false
	case p.section == outside && isListed(trimmed): // or only its stacks
		p.beginDump(l, nil)
		p.stacks = true
	case (p.section == outside || p.headless && p.section == afterwards) && isHeadless(trimmed):
		p.startHeadless(trimmed, l)
	case p.section == outside:
		p.parsePreamble(text)
	case p.section == deadlock:
		p.inCircle(trimmed)
	case bytes.HasPrefix(trimmed, stateLine):
		p.now.state = strings.TrimSpace(string(trimmed[len(stateLine):]))
	case bytes.HasPrefix(trimmed, []byte("Mounted virtual thread #")):
		p.startMounted(trimmed)
	case bytes.HasPrefix(trimmed, []byte("Found ")) && bytes.Contains(trimmed, []byte("deadlock")):
		p.endThread()
		p.section = deadlock
	case bytes.HasPrefix(trimmed, []byte("JNI global ref")), bytes.HasPrefix(trimmed, []byte("Heap")) && len(trimmed) == 4:
		p.endThread()
		p.section = outside
		if trimmed[0] == 'J' { // deadlocks come after it
			p.section = afterwards
		}
	default:
		p.parseThreadLine(string(trimmed[:min(len(trimmed), maxFrame+3)]))
	}
}

// beginDump starts a dump.
func (p *parser) beginDump(l format.Line, text []byte) {
	p.endDump()
	p.dumps++
	p.begun = l.Number
	p.section, p.stacks = afterwards, false
	p.at, p.stamped = 0, l.Stamp
	if p.date != 0 && p.dateLine+1 == l.Number {
		p.at = p.date
	}
	// Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):
	if _, rest, ok := bytes.Cut(text, []byte(" VM (")); ok {
		if v := java.Version(string(rest[:min(len(rest), 100)])); v != "" {
			p.about.Version = v
		}
	}
}

// parsePreamble reads what comes before a dump: jcmd's first line, and the time.
func (p *parser) parsePreamble(text []byte) {
	if at, ok := parseStamp(text); ok {
		p.date, p.dateLine = at, p.line
		return
	}
	if rest, ok := bytes.CutPrefix(text, []byte("Attaching to process ID ")); ok && p.dumps == 0 {
		id, _, _ := bytes.Cut(rest, []byte(","))
		p.about.PID = int(parseNumber(string(id)))
		return
	}
	if pid, ok := bytes.CutSuffix(text, []byte(":")); ok && len(pid) <= 8 && p.dumps == 0 {
		p.about.PID = int(parseNumber(string(pid)))
	}
}

func (p *parser) endParagraph() {
	switch p.section {
	case inThread:
		p.section = afterwards
	case toFile:
		p.endThread()
	}
}

// isHeadless says whether a line begins a thread whose first line was not copied: its state, or the lock that it waits for or has.
func isHeadless(text []byte) bool {
	if bytes.HasPrefix(text, stateLine) {
		return true
	}
	for _, words := range []string{"- waiting to lock <", "- parking to wait for ", "- locked <"} {
		if bytes.HasPrefix(text, []byte(words)) {
			k, ok := readLock(string(text[:min(len(text), maxFrame)]))
			return ok && k.object != "" && k.class != ""
		}
	}
	return false
}

// startHeadless opens a thread without a name.
func (p *parser) startHeadless(text []byte, l format.Line) {
	p.endThread()
	if p.section == outside {
		p.beginDump(l, nil)
	}
	p.headless, p.section = true, inThread
	p.startThread(header{name: "thread", cpu: -1})
	if state, ok := bytes.CutPrefix(text, stateLine); ok {
		p.now.state = strings.TrimSpace(string(state))
		return
	}
	p.parseThreadLine(string(text[:min(len(text), maxFrame+3)]))
	if p.now.wait.use == evidence.ToLock {
		p.now.state = "BLOCKED (on object monitor)"
	}
}

func (p *parser) parseHeader(text []byte, l format.Line) {
	p.headless = false
	h, ok := readHeader(text)
	if name, named := bytes.CutSuffix(text, []byte(`":`)); !ok && p.stacks && named && len(name) > 1 {
		h, ok = header{name: string(name[1:min(len(name), maxName)]), cpu: -1}, true
	}
	switch {
	case !ok && p.section == deadlock:
		p.inCircle(text)
		return
	case !ok && p.section == outside:
		return
	case !ok:
		p.countUnparsed()
		return
	}
	p.endThread()
	if p.section == outside { // its title was cut off
		p.beginDump(l, nil)
	}
	p.section = inThread
	p.startThread(h)
	p.takeSaid(h.said)
}

// startThread opens a thread, which [parser.endThread] ends.
func (p *parser) startThread(h header) {
	p.now = thread{header: h, line: p.line, frames: p.now.frames[:0], held: p.now.held[:0], classes: p.now.classes[:0]}
	p.open = true
}

// parseThreadLine reads a line of a thread.
func (p *parser) parseThreadLine(text string) {
	text = rockitFrame(text)
	if dashed, ok := dashOf(text); ok { // a page made a list of it, which ends the paragraph of the stack
		if text = dashed; p.section == afterwards && p.open && text != "- None" {
			p.section = inThread
		}
	}
	switch {
	case strings.HasPrefix(text, "at "):
		if at, ok := parseStamp([]byte(text)); p.section != inThread || p.now.stateless || ok && at != 0 || !p.addFrame(strings.TrimSpace(text[3:])) {
			p.countUnparsed() // of jstack -F, "at" are frames of an exception of its own
		}
	case p.section == inThread && p.readSummarised(text):
	case strings.HasPrefix(text, "-"):
		if text == "- None" || p.readRockit(text) {
			return
		}
		if k, ok := infoLock(text); ok {
			p.addLock(k)
			return
		}
		if at, ok := forcedFrame(text); ok {
			if !p.addFrame(at) {
				p.countUnparsed()
			}
			return
		}
		if k, ok := readLock(text); ok {
			p.addLock(k)
			return
		}
		if !strings.Contains(text, "<") {
			p.countUnparsed() // "- waiting to lock <no object reference available>" is none
		}
	case p.section == afterwards && p.atDate(text):
	case strings.HasPrefix(text, "waiting for ") && p.section == inThread:
		k, ok := ideLock(text)
		if !ok {
			p.countUnparsed()
			return
		}
		p.addLock(k)
	case p.section == inThread && (p.readOwner(text) || p.readRockit(text)):
	case isKnown(text):
	default:
		p.countUnparsed()
	}
}

// atDate keeps a time that may be the next dump's.
func (p *parser) atDate(text string) bool {
	at, ok := parseStamp([]byte(text))
	if ok {
		p.date, p.dateLine = at, p.line
	}
	return ok
}

// isKnown says whether a line of a dump is known and not about a thread's stack.
func isKnown(text string) bool {
	for _, s := range []string{"Locked ownable synchronizers:", "Locked synchronizers:", "No compile task", "Compiling:", "Carrying virtual thread #", "Threads class SMR info:",
		"Blocked: ", "User CPU: ", "_java_thread_list=", "_to_delete_list=", "0x0", "0x", "}", "JNI global", "|", "VM state:", "Number of locked synchronizers", "blocks "} {
		if strings.HasPrefix(text, s) {
			return true
		}
	}
	return false
}

// countUnparsed counts a line within a dump that is no part of it: other threads of the program
// continue to write.
func (p *parser) countUnparsed() {
	if p.odd++; p.oddLine == 0 {
		p.oddLine = p.line
	}
}

func (p *parser) addFrame(text string) bool {
	function, file, line, ok := readFrame(text)
	switch {
	case !ok:
		return false
	case !p.open:
	case len(p.now.frames) == maxFrames:
		p.now.deep = true
	default:
		if p.now.waiter == "" && p.now.outermost == objectWait && function != objectWait {
			p.now.waiter = function
		}
		p.now.outermost = function
		p.now.frames = append(p.now.frames, evidence.Frame{Func: p.b.Name(function), File: p.b.Name(file), Line: line})
	}
	return true
}

func (p *parser) addLock(k lock) {
	if !p.open {
		return
	}
	switch {
	case k.held:
		if k.object != "" && len(p.now.held) < maxHeld {
			if k.class != "" && !slices.Contains(p.now.held, k.object) {
				p.now.classes = append(p.now.classes, k.class)
			}
			p.now.held = append(p.now.held, k.object)
			if p.now.outermost == loadClass {
				p.now.loader = k
			}
		}
	case k.use == evidence.ToRelock: // below the frame that waited, and was notified if it is blocked
		if strings.HasPrefix(p.now.state, "BLOCKED") {
			p.now.wait = lock{use: evidence.ToLock, object: k.object, class: k.class}
		}
	case k.use != evidence.NoLock:
		if k.owner == "" && k.object == p.now.wait.object {
			k.owner = p.now.wait.owner
		}
		if k.use == evidence.WaitsOn && strings.HasSuffix(p.now.outermost, ".Unsafe.park") {
			k.use = evidence.ToPark // ThreadInfo has the same words for a thread that is parked
		}
		if len(p.now.frames) <= 1 { // only the innermost frame counts: further down, it waited earlier
			p.now.wait = k
		}
	}
}

// startMounted ends the thread that carries a virtual one, and opens the virtual one (JDK 24 and
// later).
func (p *parser) startMounted(text []byte) {
	p.endThread()
	_, id, _ := bytes.Cut(text, []byte("#"))
	p.startThread(header{name: virtual, java: parseNumber(string(id)), cpu: -1, virtual: true})
}

// virtual is the name for virtual threads, most of which have none.
const virtual = "virtual"

// objectWait is the function that waits to be notified.
const objectWait = "java.lang.Object.wait"

// firstOfVirtual is the first function of a virtual thread.
const firstOfVirtual = "java.lang.VirtualThread.run"

// inCircle reads the threads of a deadlock: their names, and their stacks again.
func (p *parser) inCircle(text []byte) {
	name, named := bytes.CutSuffix(text, []byte(`":`))
	if joined, _, ok := bytes.Cut(text, []byte(`": waiting to lock monitor `)); ok && !named { // a page joined the two lines
		name, named = joined, true
	}
	switch {
	case named && name[0] == '"' && !p.listed:
		if len(p.circle) < maxHeld {
			p.circle = append(p.circle, circleName(name[1:]))
		}
	case bytes.HasPrefix(text, []byte("which is held by ")) && len(p.circle) > 0 && !p.listed:
		by := text[len("which is held by "):]
		if by, ok := bytes.CutPrefix(by, []byte{'"'}); ok {
			if by, ok := bytes.CutSuffix(by, []byte{'"'}); ok {
				if p.holders == nil {
					p.holders = make(map[string]string)
				}
				p.holders[p.circle[len(p.circle)-1]] = circleName(by)
			}
		}
	case bytes.HasPrefix(text, []byte("Java stack information")):
		p.emitDeadlock()
		p.listed = true
	case bytes.HasPrefix(text, []byte("Found one")):
		p.listed = false
	case bytes.HasPrefix(text, []byte("Found ")):
		if !p.listed { // jstack -F prints no stacks for them
			p.emitDeadlock()
		}
		p.section, p.listed = outside, false
	}
}

func circleName(name []byte) string {
	return strings.ToValidUTF8(string(redact.Value(name[:min(len(name), maxName)])), "?")
}

// closeCircle leaves out the threads that wait behind the circle: the JVM follows the locks from any thread that waits, and lists all that it
// comes by.
func (p *parser) closeCircle() {
	holders := p.holders
	p.holders = nil
	passed := make(map[string]int, len(p.circle))
	var way []string
	for name := p.circle[0]; ; name = holders[name] {
		if !slices.Contains(p.circle, name) {
			return // not told of each
		}
		if from, again := passed[name]; again {
			if way = way[from:]; len(way) > 1 {
				behind := slices.DeleteFunc(slices.Clone(p.circle), func(name string) bool { return slices.Contains(way, name) })
				if p.circle = way; len(behind) > 0 {
					p.b.Warnf(p.line, "more threads wait behind a deadlock: \"%s\"", strings.Join(behind, `", "`))
				}
			}
			return
		}
		passed[name] = len(way)
		way = append(way, name)
	}
}

func (p *parser) emitDeadlock() {
	if len(p.circle) == 0 {
		return
	}
	p.closeCircle()
	value := `"` + strings.Join(p.circle, `", "`) + `"`
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactDeadlock, Value: value, Number: float64(len(p.circle)), Origin: p.b.Origin(p.line)})
	p.b.Warnf(p.line, "the JVM found a deadlock: %s wait for each other and never continue", value)
	p.told = append(p.told, slices.Clone(p.circle))
	p.deadlocks++
	p.circle = p.circle[:0]
}
