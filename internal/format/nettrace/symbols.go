package nettrace

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// symbols are the methods of a process by address, and the stacks of a stream with their
// names.
type symbols struct {
	*nameTable
	stacks []evidence.StackID // index 2*stack+native; 0: not looked up
	frames []evidence.Frame   // of one, reused
}

// nameTable has the methods of a process, for all streams of a file. Most names come at the end of a session
// (rundown), so addresses are looked up after the file's end. Names stay encoded until an address uses them.
type nameTable struct {
	loaded      rowBlocks[method] // as they came; sortMethods moves them into methods
	entries     rowBlocks[method] // likewise, into entryPoints
	methods     []method
	entryPoints []method // of precompiled code, whose length is unknown
	unloads     []unload
	modules     map[uint64]string
	text        textStore
	sorted      bool
	offered     bool // offerCode has passed the table on

	names      map[place]evidence.NameID
	recent     []resolved       // by an address's hash: addresses that had the same method at all times
	unresolved int64            // addresses
	functions  map[int32]string // by method: what functionAt returned

	subject evidence.SubjectID
	covered []evidence.Coverage // by streams, in their order

	processes []*process // of streams one after the other
	streams   *streams   // nil: not looked for yet
}

type method struct {
	start, module uint64
	size          uint32
	from, until   int64 // ns: while it was at this address
	name          textAt
	id            evidence.NameID // of name, 0: not looked up yet
}

// unload says that a method left its address, which may be another's from then on.
type unload struct {
	start uint64
	at    int64
}

type place struct {
	address uint64
	method  int32 // of two consecutive methods at one address; -1 unknown
}

type resolved struct {
	address uint64
	name    evidence.NameID
}

const recentBits = 12 // of an address's hash

// maxMethods is how many methods' names are kept; a large program has 200,000.
const maxMethods = 4 << 20

// tableOf returns the names that the streams of one process share.
func (p *parser) tableOf(pid int32) *nameTable {
	n := p.names[pid]
	if n == nil {
		n = &nameTable{modules: make(map[uint64]string), names: make(map[place]evidence.NameID),
			subject: p.b.Subject(evidence.Subject{Kind: evidence.Process, PID: int(pid), Runtime: "dotnet"})}
		p.names[pid] = n
	}
	return n
}

func (s *nameTable) lacksNames() bool { return s.unresolved > 0 && len(s.methods) == 0 }

// methodLoad reads MethodLoadVerbose (143): a method was compiled, or loaded and
// is not precompiled.
func (q *process) methodLoad(e *eventpipe.Event) { q.addMethod(e, e.Time, false) }

// methodRundown reads MethodDCStart/StopVerbose: a method that exists, perhaps since the process's start.
// Its block has little else, so names stay in it.
func (q *process) methodRundown(e *eventpipe.Event) { q.addMethod(e, math.MinInt64, true) }

func (q *process) addMethod(e *eventpipe.Event, from int64, keepBlock bool) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(8) // its id
	m := method{module: c.U64(), start: c.U64(), size: c.U32(), from: from, until: math.MaxInt64}
	c.Skip(8) // token, flags
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	s := q.symbols.nameTable
	if m.size == 0 || s.loaded.n == maxMethods {
		return
	}
	if names := c.Rest(); keepBlock { // namespace, name, signature and what newer versions add
		m.name = s.text.keepInBlock(e, names)
	} else {
		m.name = s.text.keepText(names)
	}
	*s.loaded.add() = m
}

// methodUnload reads MethodUnload (142) and MethodUnloadVerbose (144).
func (q *process) methodUnload(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(16)
	start := c.U64()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if s := q.symbols.nameTable; len(s.unloads) < maxMethods {
		s.unloads = append(s.unloads, unload{start, e.Time})
	}
}

// entryPoint reads R2RGetEntryPoint (159): precompiled code was looked up. The event has only
// the beginning of the code.
func (q *process) entryPoint(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(8)
	names := c.Rest()
	c.SkipUTF16()
	c.SkipUTF16()
	c.SkipUTF16()
	names = names[:len(names)-c.Len()]
	start := c.U64()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if s := q.symbols.nameTable; s.entries.n < maxMethods {
		*s.entries.add() = method{start: start, from: math.MinInt64, until: math.MaxInt64, name: s.text.keepText(names)}
	}
}

// moduleLoad reads ModuleLoad and ModuleDCStart/Stop.
func (q *process) moduleLoad(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	id := c.U64()
	c.Skip(16) // assembly, flags, reserved
	il, native := c.UTF16(), c.UTF16()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	if il == "" {
		il = native
	}
	if len(q.symbols.modules) < maxMethods {
		q.symbols.modules[id] = moduleName(il)
	}
}

// moduleName returns a module's file without folder and extension, as stacks show it.
func moduleName(file string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	for _, extension := range []string{".dll", ".exe", ".ni", ".il"} {
		if n := len(file) - len(extension); n > 0 && strings.EqualFold(file[n:], extension) {
			file = file[:n]
		}
	}
	return cleanText(file)
}

// sortMethods is called after the last method.
func (s *nameTable) sortMethods() {
	if s.sorted {
		return
	}
	s.sorted = true
	s.methods, s.entryPoints = sortByAddress(&s.loaded), sortByAddress(&s.entries)
	for _, u := range s.unloads {
		i, _ := slices.BinarySearchFunc(s.methods, u, func(m method, u unload) int {
			if m.start < u.start || m.start == u.start && m.from < u.at {
				return -1
			}
			return 1
		})
		if i > 0 && s.methods[i-1].start == u.start {
			s.methods[i-1].until = min(s.methods[i-1].until, u.at)
		}
	}
	s.unloads = nil
	// Methods compiled in the session also exist at its end.
	s.methods = slices.CompactFunc(s.methods, func(a, b method) bool {
		return a.start == b.start && a.size == b.size && a.module == b.module && min(a.until, b.until) == math.MaxInt64
	})
}

// sortByAddress returns methods by address, then by when they were loaded, then by size, then as they came, and leaves none in rows. It sorts keys
// of a quarter of their size, and then moves each method once.
func sortByAddress(rows *rowBlocks[method]) []method {
	keys := make([]addressed, rows.n)
	for i := range keys {
		keys[i] = addressed{rows.at(i).start, int32(i)}
	}
	new(addressSorter).sortKeys(keys)
	for i := 0; i < len(keys); {
		end := i + 1
		for end < len(keys) && keys[end].address == keys[i].address {
			end++
		}
		if end-i > 1 {
			slices.SortFunc(keys[i:end], func(x, y addressed) int {
				a, b := rows.at(int(x.row)), rows.at(int(y.row))
				return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.size, b.size), cmp.Compare(x.row, y.row))
			})
		}
		i = end
	}
	methods := make([]method, len(keys))
	for i := range keys {
		methods[i] = *rows.at(int(keys[i].row))
	}
	*rows = rowBlocks[method]{}
	return methods
}

// overlaps is how many methods that begin before an address are checked: more
// than one fits only if code was unloaded and its memory reused.
const overlaps = 8

// methodAt finds the method at an address and a time, -1 if there is none. It is sure if there
// never was another one.
func (s *nameTable) methodAt(address uint64, time int64) (index int32, sure bool) {
	i, _ := slices.BinarySearchFunc(s.methods, address, func(m method, a uint64) int {
		if m.start <= a {
			return -1
		}
		return 1
	})
	found, candidates := int32(-1), 0
	for k := max(0, i-overlaps); k < i; k++ {
		m := &s.methods[k]
		if address-m.start >= uint64(m.size) {
			continue
		}
		candidates++
		if now := m.from <= time && time < m.until; now || found < 0 {
			found = int32(k)
		}
	}
	return found, candidates < 2
}

// offerCode lets other artifacts name addresses of the process. sortMethods must have run.
func (s *nameTable) offerCode(b *evidence.Builder) {
	if s.offered || len(s.methods)+len(s.entryPoints) == 0 {
		return
	}
	s.offered = true
	subject := s.subject
	s = &nameTable{methods: s.methods, entryPoints: s.entryPoints, text: s.text, modules: s.modules} // nothing else is kept for it
	var asked sync.Mutex
	b.Code(evidence.Code{Subject: subject, At: func(address uint64, time int64) string {
		asked.Lock()
		defer asked.Unlock()
		if index, _ := s.methodAt(address, time); index >= 0 {
			return string(s.text.formatFrame(&s.methods[index], s.modules))
		}
		if m := s.entryAt(address); m != nil {
			return string(s.text.formatFrame(m, s.modules))
		}
		return ""
	}})
}

// unknownFrame is the text of dotnet-stack and PerfView for an unknown method.
const unknownFrame = "?!?"

// frameAt names the method at an address.
func (q *process) frameAt(address uint64, time int64) (id evidence.NameID, sure bool) {
	s := q.symbols.nameTable
	if s.recent == nil {
		s.recent = make([]resolved, 1<<recentBits)
	}
	recent := &s.recent[address*0x9e3779b97f4a7c15>>(64-recentBits)]
	if recent.address == address && recent.name != 0 {
		return recent.name, true
	}
	if id, sure = q.lookUp(address, time); sure {
		*recent = resolved{address, id}
	}
	return id, sure
}

func (q *process) lookUp(address uint64, time int64) (id evidence.NameID, sure bool) {
	s := q.symbols.nameTable
	index, sure := s.methodAt(address, time)
	at := place{address, index}
	if id, ok := s.names[at]; ok {
		return id, sure
	}
	if at.method >= 0 {
		id = q.methodName(&s.methods[at.method])
	} else if m := s.entryAt(address); m != nil {
		id = q.methodName(m)
	} else {
		s.unresolved++
		id = q.b.Name(unknownFrame)
	}
	s.names[at] = id
	return id, sure
}

func (q *process) methodName(m *method) evidence.NameID {
	if m.id == 0 {
		m.id = q.b.NameBytes(q.symbols.text.formatFrame(m, q.symbols.modules))
	}
	return m.id
}

// entryReach is how far behind an entry point its code is assumed to reach.
const entryReach = 4 << 10

// entryAt finds precompiled code by its beginning: a stack holds return addresses, which are
// within the code.
func (s *nameTable) entryAt(address uint64) *method {
	i, _ := slices.BinarySearchFunc(s.entryPoints, address, func(m method, a uint64) int {
		if m.start <= a {
			return -1
		}
		return 1
	})
	if i == 0 || address-s.entryPoints[i-1].start >= entryReach {
		return nil
	}
	return &s.entryPoints[i-1]
}

// nativeFrame ends stacks of threads that were not in managed code, as dotnet-stack
// prints it.
const nativeFrame = "[Native Frames]"

// stackAt returns the frames of a stack that was seen at a time. A thread that was in native code
// has one more.
func (q *process) stackAt(id eventpipe.StackID, native bool, time int64) evidence.StackID {
	at := 2 * int(id)
	if native {
		at++
	}
	if at >= len(q.symbols.stacks) { // all stacks have been read by now
		q.symbols.stacks = append(q.symbols.stacks, make([]evidence.StackID, max(2*(q.p.r.Stacks()+1), at+1)-len(q.symbols.stacks))...)
	}
	if known := q.symbols.stacks[at]; known != 0 {
		return known
	}
	frames := q.symbols.frames[:0]
	addresses := q.p.r.Addresses(id)
	if native && len(addresses) > 0 {
		frames = append(frames, evidence.Frame{Func: q.b.Name(nativeFrame)})
	}
	always := true // every address had one method at all times
	for _, a := range addresses[:min(len(addresses), maxFrames)] {
		name, sure := q.frameAt(a, time)
		frames = append(frames, evidence.Frame{Func: name})
		always = always && sure
	}
	q.symbols.frames = frames
	stack := q.b.Stack(frames)
	if always {
		q.symbols.stacks[at] = stack
	}
	return stack
}

// maxFrames is how many frames of a stack are kept, the innermost.
const maxFrames = 1024
