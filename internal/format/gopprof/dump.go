package gopprof

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// goroutine is a goroutine of a dump.
type goroutine struct {
	id      int64
	state   string // "select", "IO wait", "chan receive (leaked)"
	minutes int64  // how long it has waited, 0: less than one
	line    int64
	stamp   int64 // of the log around it
	stack   []*profile.Location
	mutex   int64 // address of the mutex it waits for, 0: none, or unknown
	count   int64 // how many it stands for: those with one stack that a tool put together
	unnamed bool  // it was printed without a number
}

// goroutineHeader reads
//
//	goroutine 12 [select, 5 minutes, locked to thread]:
//	goroutine 12 gp=0xc000… m=3 mp=0xc000… [running]:          1.23–, GOTRACEBACK=system
//	goroutine 12 [chan receive (leaked) labels:{"a": "b"}]:    1.26–
//	48 goroutines [semacquire, 4 minutes]:                     those with one stack, put together by a tool
//
// Web pages that quote a dump indent it.
func goroutineHeader(line []byte) (goroutine, bool) {
	line = bytes.TrimSpace(line)
	if !bytes.HasSuffix(line, []byte("]:")) {
		return goroutine{}, false
	}
	rest, ok := bytes.CutPrefix(line, []byte("goroutine "))
	count, unnamed := int64(1), false
	if !ok {
		number, together, grouped := bytes.Cut(line, []byte(" goroutines "))
		n, err := strconv.ParseInt(string(number), 10, 32)
		if !grouped || err != nil || n <= 0 {
			return goroutine{}, false
		}
		count, unnamed, rest = n, true, append([]byte("0 "), together...)
	}
	number, rest, _ := bytes.Cut(rest, []byte(" "))
	id, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil || id < 0 {
		return goroutine{}, false
	}
	if bytes.HasPrefix(rest, []byte("gp=")) {
		i := bytes.IndexByte(rest, '[')
		if i < 0 {
			return goroutine{}, false
		}
		rest = rest[i:]
	}
	if len(rest) == 0 || rest[0] != '[' {
		return goroutine{}, false
	}
	state, _, _ := strings.Cut(clipText(string(rest[1:len(rest)-2])), " labels:{")
	state, more, _ := strings.Cut(state, ", ")
	g := goroutine{id: id, state: strings.TrimSuffix(state, " (scan)"), count: count, unnamed: unnamed}
	for part := range strings.SplitSeq(more, ", ") {
		if m, ok := strings.CutSuffix(part, " minutes"); ok {
			g.minutes, _ = strconv.ParseInt(m, 10, 32)
			g.minutes = max(0, g.minutes)
		}
	}
	return g, true
}

// dump is a run of goroutines without other text.
type dump struct {
	goroutines []goroutine
	count      int64 // of them, each as often as it stands for
	seen       map[int64]bool
	more       int64 // beyond maxRows, counted only
	empty      bool  // the last goroutine has no frames yet
	elided     int64 // line of the first elision by a user, 0: none
	headless   bool  // its goroutines have lost the lines above their stacks
}

// dumps collects the dumps of a text. Logs are full of single stacks, printed
// by handlers that recover from a panic; those are not dumps of a process. The dump
// with the most goroutines is kept, of equal ones the last.
type dumps struct {
	best    *dump
	seen    []sighting
	singles int64
	strange int64 // lines within goroutines that are not frames
	first   int64 // of them
	doubt   int64 // lines that are strange if a frame follows; else they are text after the dump

	deadlock int64 // line with which the runtime says that all goroutines wait, 0: none

	open      *dump
	lone      []byte // the last line, if it may be the first of a stack without a head
	made      int64  // numbers given to goroutines without one
	inside    bool   // in a goroutine's block
	zero      bool   // of goroutine 0, a thread's own stack
	told      bool   // its stack is unavailable
	call      string // the function whose position is on the next line
	mutex     int64  // the mutex of the innermost call that locks one
	frames    []*profile.Location
	key       []byte
	locations map[string]*profile.Location
	functions map[[2]string]*profile.Function
	stacks    map[string][]*profile.Location
}

// sighting is a line of the table of dumps.
type sighting struct{ line, goroutines int64 }

const (
	maxGoroutines = 1_000_000
	maxStacks     = 1 << 18
	maxSightings  = 20
)

// unnumbered is the first number for goroutines that were printed without one.
const unnumbered = 1 << 40

func (d *dumps) beginGoroutine(g goroutine, line, stamp int64) {
	d.endGoroutine()
	if g.unnamed {
		g.id = unnumbered + d.made
		d.made++
	}
	if d.open != nil && g.id != 0 && d.open.seen[g.id] {
		d.endDump()
	}
	if d.open == nil {
		d.open = &dump{seen: make(map[int64]bool)}
	}
	d.inside, d.zero = true, g.id == 0
	if d.zero {
		return
	}
	g.line, g.stamp = line, stamp
	if len(d.open.goroutines) == maxGoroutines {
		d.open.more += g.count
		d.zero = true // its frames are skipped too
		return
	}
	d.open.seen[g.id] = true
	d.open.goroutines = append(d.open.goroutines, g)
	d.open.count += g.count
}

// endOpen ends the open goroutine and dump, because other text follows.
func (d *dumps) endOpen() {
	d.endGoroutine()
	d.endDump()
}

func (d *dumps) parseLine(text []byte, number int64) {
	blank := len(bytes.TrimSpace(text)) == 0
	if d.readHeadless(text, number) {
		return
	}
	switch {
	case d.open != nil && isElision(text):
		if d.open.elided == 0 {
			d.open.elided = number
		}
	case !d.inside && !blank:
		d.endDump()
	case !d.inside:
	case blank:
		d.endGoroutine()
	case d.zero:
	default:
		d.frameLine(text, number)
	}
}

// frameLine reads the two lines of a frame.
//
//	net/http.(*conn).serve(0xc0001, {0x7f…, 0xc0002})
//		/usr/local/go/src/net/http/server.go:2092 +0x5f0
//	created by net/http.(*Server).Serve in goroutine 1
//
// The position is indented by a tab, and in pasted text by spaces or not at all.
func (d *dumps) frameLine(text []byte, number int64) {
	bare := bytes.TrimSpace(text)
	switch {
	case isPosition(bare) || text[0] == '\t' && d.call != "":
		if d.call != "" {
			d.addFrame(d.call, string(bare))
			d.call = ""
		} else {
			d.told = true
		}
	case bytes.HasPrefix(bare, []byte("created by ")), bytes.HasPrefix(bare, []byte("[originating from")):
		d.call = "" // the creator is not a frame of its stack
	case bytes.HasPrefix(bare, []byte("...")): // "...additional frames elided..."
	case bare[len(bare)-1] == ')' && findArguments(bare) > 0:
		i := findArguments(bare)
		d.call = clipText(restoreStars(string(bare[:i])))
		if d.mutex == 0 && evidence.LocksMutex(d.call) {
			d.mutex = firstAddress(bare[i+1 : len(bare)-1])
		}
	case findBrokenCall(bare) > 0: // the rest of its arguments is no frame
		d.call = clipText(restoreStars(string(bare[:findBrokenCall(bare)])))
		if d.mutex == 0 && evidence.LocksMutex(d.call) {
			d.mutex = firstAddress(bare[findBrokenCall(bare)+1:])
		}
	case text[0] == '\t', bytes.HasPrefix(bare, []byte("goroutine running on other thread")): // its stack is unavailable
		d.told = true
	default:
		if d.doubt++; d.doubt > 3 {
			d.endOpen()
		} else if d.first == 0 {
			d.first = number
		}
		return
	}
	d.strange += d.doubt // another thread wrote in between
	d.doubt = 0
}

// findBrokenCall is where the arguments begin of a call that a terminal broke within them, "net.(*conn).Read(0xc0001, 0x10"; 0 of anything else.
func findBrokenCall(bare []byte) int {
	i := max(bytes.LastIndex(bare, []byte("(0x")), bytes.LastIndex(bare, []byte("({0x")))
	if i <= 0 || bytes.IndexByte(bare[i:], ')') >= 0 || bytes.IndexByte(bare[:i], ' ') >= 0 || bytes.IndexByte(bare[:i], '.') < 0 {
		return 0
	}
	return i
}

// restoreStars writes "sync.(*Mutex).Lock" where Markdown took two stars for emphasis and a page writes it "sync.(_Mutex).Lock": only the receiver of
// a method stands in brackets, and only if it is a pointer.
func restoreStars(function string) string {
	return strings.Replace(function, ".(_", ".(*", 1)
}

// isPosition recognises "/src/main.go:12 +0x5f0", also with further text behind it.
func isPosition(bare []byte) bool {
	place, _, _ := bytes.Cut(bare, []byte(" +0x"))
	place = bytes.TrimSuffix(place, []byte(" +")) // broken right there
	file, line, ok := cutLast(place, ':')
	if !ok || len(line) == 0 || bytes.IndexByte(file, '.') < 0 && file[0] != '<' {
		return false
	}
	for _, c := range line {
		if c < '0' || c > '9' {
			return false
		}
	}
	return bytes.HasSuffix(file, []byte(".go")) || bytes.HasSuffix(file, []byte(".s")) || bytes.HasSuffix(file, []byte(".c")) || bytes.HasSuffix(file, []byte(".goc")) || file[0] == '<'
}

func cutLast(b []byte, sep byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(b, sep)
	if i <= 0 {
		return b, nil, false
	}
	return b[:i], b[i+1:], true
}

// firstAddress returns the first of a call's arguments if it is an address, else 0. Since Go 1.17
// a "?" behind it says that it may be out of date: the argument of a blocked call is not.
func firstAddress(arguments []byte) int64 {
	first, _, _ := bytes.Cut(arguments, []byte(","))
	hex, ok := bytes.CutPrefix(bytes.TrimSuffix(first, []byte("?")), []byte("0x"))
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(hex), 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// isElision says whether a line stands for others: "...", "(truncated)", "[snip]".
func isElision(text []byte) bool {
	words := bytes.Trim(text, " \t.…-*[](){}<>")
	if len(words) > len("output truncated") {
		return false
	}
	switch string(bytes.ToLower(words)) {
	case "truncated", "snip", "snipped", "omitted", "cut", "more", "output truncated":
		return true
	case "":
		return bytes.Contains(text, []byte("...")) || bytes.Contains(text, []byte("…"))
	}
	return false
}

// findArguments finds the parenthesis that opens a call's arguments: the last one
// at depth 0. A log line that ends in one too has a space before it.
func findArguments(text []byte) int {
	depth := 0
	for i := len(text) - 1; i > 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if bytes.IndexByte(text[:i], ' ') >= 0 && bytes.IndexByte(text[:i], '[') < 0 {
					return -1
				}
				return i
			}
		}
	}
	return -1
}

func (d *dumps) addFrame(call, position string) {
	if len(d.frames) == maxFrames {
		return
	}
	position, _, _ = strings.Cut(position, " +0x")
	position, _, _ = strings.Cut(position, " fp=0x")
	position = strings.TrimSuffix(position, " +")
	key := call + "\t" + position
	l, ok := d.locations[key]
	if !ok {
		if len(d.locations) == maxTextLocations || len(key) > 4*maxString {
			return
		}
		file, line := fileLine(position)
		if d.locations == nil {
			d.locations = make(map[string]*profile.Location)
			d.functions = make(map[[2]string]*profile.Function)
			d.stacks = make(map[string][]*profile.Location)
		}
		name := [2]string{call, clipText(file)}
		f, ok := d.functions[name]
		if !ok {
			f = &profile.Function{Name: name[0], Filename: name[1]}
			d.functions[name] = f
		}
		l = &profile.Location{ID: uint64(len(d.locations)), Line: []profile.Line{{Function: f, Line: line}}}
		d.locations[key] = l
	}
	d.frames = append(d.frames, l)
}

func (d *dumps) endGoroutine() {
	if d.inside && !d.zero {
		g := &d.open.goroutines[len(d.open.goroutines)-1]
		g.stack = d.internStack()
		if evidence.WaitsForMutex(g.state) {
			g.mutex = d.mutex
		}
		d.open.empty = len(g.stack) == 0 && !d.told
	}
	if d.doubt > 0 {
		d.doubt = 0
		defer d.endDump()
	}
	d.inside, d.zero, d.told, d.call, d.mutex, d.frames = false, false, false, "", 0, d.frames[:0]
}

// internStack returns the frames just read. Goroutines in the same place share one stack.
func (d *dumps) internStack() []*profile.Location {
	if len(d.frames) == 0 {
		return nil
	}
	d.key = d.key[:0]
	for _, l := range d.frames {
		d.key = append(d.key, byte(l.ID), byte(l.ID>>8), byte(l.ID>>16))
	}
	s, ok := d.stacks[string(d.key)]
	if !ok && len(d.stacks) < maxStacks {
		s = append([]*profile.Location(nil), d.frames...)
		d.stacks[string(d.key)] = s
	}
	return s
}

func (d *dumps) endDump() {
	o := d.open
	d.open = nil
	switch {
	case o == nil || len(o.goroutines) == 0:
		return
	case d.best != nil && (d.best.continues(o) || d.best.headless && o.headless):
		if !d.best.isWholeProcess() && !d.best.headless && d.singles > 0 {
			d.singles-- // it was no panic's
		}
		d.best.goroutines = append(d.best.goroutines, o.goroutines...)
		d.best.count += o.count
		for id := range o.seen {
			d.best.seen[id] = true
		}
		if d.best.elided == 0 {
			d.best.elided = o.elided
		}
		return
	case o.headless:
	case !o.isWholeProcess():
		d.singles++
	case len(d.seen) < maxSightings:
		d.seen = append(d.seen, sighting{o.goroutines[0].line, o.goroutineCount()})
	}
	if d.best == nil || o.goroutineCount() >= d.best.goroutineCount() {
		d.best = o
	}
}

// mostExcerpt is how many goroutines somebody picks out of a dump to show them one by one, with words between.
const mostExcerpt = 16

// continues says whether next shows further goroutines of the same dump: each is of a few that have waited for a minute and more, as no panic's is, and none is
// of both.
func (d *dump) continues(next *dump) bool {
	if d.count+next.count > mostExcerpt || !d.hasWaited() || !next.hasWaited() {
		return false
	}
	for id := range next.seen {
		if d.seen[id] {
			return false
		}
	}
	return true
}

// hasWaited says whether each goroutine has waited for a minute or more.
func (d *dump) hasWaited() bool {
	for i := range d.goroutines {
		if d.goroutines[i].minutes < 1 {
			return false
		}
	}
	return true
}

// isWholeProcess says whether these are all goroutines of a process, and not the one that panicked or
// logged its stack. A single goroutine proves it only if it writes the goroutine profile.
func (d *dump) isWholeProcess() bool {
	if d.headless {
		return false
	}
	if d.count > 1 {
		return true
	}
	for _, l := range d.goroutines[0].stack {
		if functionName(l.Line[0]) == "runtime/pprof.writeGoroutineStacks" {
			return true
		}
	}
	return false
}

func (d *dump) goroutineCount() int64 { return d.count + d.more }

// finishDumps ends the last dump and warns about what was left out.
func (d *dumps) finishDumps(b *evidence.Builder) {
	d.endOpen()
	if d.best == nil {
		return
	}
	at := d.best.goroutines[0].line
	if d.singles > 0 {
		b.Warnf(at, "single goroutine stacks: %d; a panic prints its own goroutine only; GOTRACEBACK=all or /debug/pprof/goroutine?debug=2 prints all", d.singles)
	}
	if len(d.seen) > 1 {
		b.Warnf(at, "there are %d goroutine dumps in one file: only the largest is used", len(d.seen))
	}
	if d.best.more > 0 {
		b.Warnf(at, "the dump has more than %d goroutines: the rest is counted, not read", maxGoroutines)
	}
	if d.best.headless {
		b.Warnf(at, "goroutines without the line that tells their state, found by the lock that they wait for: %d; the others of the process are missing", d.best.goroutineCount())
	}
	if d.best.elided > 0 {
		b.Warnf(d.best.elided, "the goroutine dump was shortened when it was copied: goroutines and frames are missing")
		b.Cut()
	}
	if d.best.empty && d.best.goroutineCount() > 1 {
		b.Warnf(at, "the goroutine dump is incomplete: net/http/pprof gives only the first 64 MiB")
		b.Cut()
	}
	if d.strange > 0 {
		b.Warnf(d.first, "lines within goroutine stacks that do not belong to them: %d", d.strange)
	}
}

// emitGoroutines writes the best dump.
func (d *dumps) emitGoroutines(ctx context.Context, b *evidence.Builder, subject evidence.SubjectID) error {
	if d.best == nil {
		return nil
	}
	// A log may have stamps; a dump by itself has no time.
	at, clock := d.best.goroutines[0].stamp, b.Clock()
	if *clock = (evidence.Clock{Name: "unix"}); at == 0 {
		*clock = evidence.Clock{Name: "undated", Error: evidence.Unanchored}
	}
	if d.best.isWholeProcess() {
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverGoroutines, From: at, Until: at, Origin: b.Origin(d.best.goroutines[0].line)})
		f := facts{b: b, subject: subject, from: at, until: at}
		f.addFact(evidence.FactProfileKind, "goroutine dump", math.NaN())
		f.addNumber("goroutines", float64(d.best.goroutineCount()))
	}
	if d.deadlock > 0 && d.deadlock < d.best.goroutines[0].line {
		b.FactAt(subject, evidence.FactGoDeadlock, d.best.commonestPlace(), float64(d.best.goroutineCount()), d.deadlock)
	}
	var (
		frames       []evidence.Frame
		names        = make(map[*profile.Function]evidence.Frame)
		typ, count   = b.Name("goroutine"), b.Name("count")
		waiting, ns  = b.Name(evidence.SampleWaiting), b.Name("nanoseconds")
		mutex, where = b.Name(evidence.SampleMutex), b.Name("address")
		nsPerMinutes = int64(60e9)
	)
	for i, g := range d.best.goroutines {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		frames = stackOf(frames[:0], g.stack, b, names)
		s := evidence.Sample{Subject: subject, Time: g.stamp, Lane: evidence.LaneID(g.id), Stack: b.Stack(frames), Type: typ, Unit: count,
			Class: b.Name(g.state), Value: g.count, Origin: b.Origin(g.line)}
		b.Sample(s)
		if g.minutes > 0 {
			s.Type, s.Unit, s.Value = waiting, ns, g.minutes*nsPerMinutes
			b.Sample(s)
		}
		if g.mutex > 0 {
			s.Type, s.Unit, s.Value = mutex, where, g.mutex
			b.Sample(s)
		}
	}
	for _, t := range d.buildTables() {
		b.Table(t)
	}
	return nil
}
