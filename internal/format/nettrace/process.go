package nettrace

import (
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// process is the state of one process of a stream.
type process struct {
	p     *parser
	b     *evidence.Builder
	pid   int32
	prior *process // the same one in the newest earlier stream that has it; nil: none

	first, last int64 // ns: events of the session, without the rundown at its end
	stopped     int64 // ns: the first event of that rundown, 0: there was none
	told        int64 // ns: its last event

	id          evidence.SubjectID
	version     string
	exe         string // its basename: what the kernel calls the process
	assembly    string // the one it was started with, without .dll
	command, os string
	arch        string

	symbols  symbols
	looks    looks
	allocs   allocations
	gc       collector
	survival survival
	snapshot snapshot
	pool     pool
	waits    waits
	counters counters
	requests requests
	calls    calls
	awaits   awaits
	kestrel  connections

	malformed map[string]int64 // events by provider whose payload was not understood
}

func newProcess(p *parser, pid int32) *process {
	q := &process{p: p, b: p.b, pid: pid, malformed: make(map[string]int64)}
	for before := p.prior; before != nil && q.prior == nil; before = before.prior {
		q.prior = before.processes[pid]
	}
	q.symbols.nameTable = p.tableOf(pid)
	q.id = q.symbols.subject
	q.symbols.processes = append(q.symbols.processes, q)
	q.looks.init()
	q.allocs.init()
	q.waits.init()
	q.counters.init()
	q.requests.init(p.b)
	q.calls.init()
	q.awaits.init()
	q.kestrel.init()
	if q.prior != nil {
		q.gc.resumeBackground(q.prior)
	}
	return q
}

func (q *process) noteSeen(e *eventpipe.Event, t *eventType) {
	if t.rundown {
		if t.stop {
			if q.stopped == 0 {
				q.stopped = e.Time
			}
			q.told = e.Time
		}
		return
	}
	if q.first == 0 {
		q.first = e.Time
	}
	q.last = max(q.last, e.Time)
}

// watchedUntil returns until when the session certainly recorded: its last event, or a little
// before the rundown at its end. Later ends of what goes on longer were not recorded.
func (q *process) watchedUntil() int64 {
	if q.first == 0 {
		return q.p.last
	}
	return max(q.last, q.stopped-ending)
}

// ending is how long (ns) no event of a session is written before its rundown. At its end a session
// is first removed from all providers, then waits for the thread that writes its stream, which
// sleeps for 100 ms between two checks, and only then the rundown begins (streaming_thread and
// ep_session_disable in https://github.com/dotnet/runtime/blob/main/src/native/eventpipe/ep-session.c;
// in 107 sessions of .NET Core 3.1 and .NET 9: 0.8 to 100.1 ms).
const ending = 100e6

// watchedSince returns when the session began: the moment in the stream's header.
func (q *process) watchedSince() int64 {
	first := q.p.first
	if q.first != 0 {
		first = q.first
	}
	if began := q.p.r.Header().SyncTime.UnixNano(); began > 0 {
		first = min(first, began)
	}
	return first
}

// countMalformed counts an event whose payload does not fit its version.
func (q *process) countMalformed(e *eventpipe.Event) { q.malformed[e.Meta.Provider]++ }

// runtimeStart reads RuntimeInformation (187): of the session's start from the
// runtime, of its end from the rundown.
func (q *process) runtimeStart(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	c.Skip(4) // instance, SKU
	major, minor, build := c.U16(), c.U16(), c.U16()
	c.Skip(2 + 8 + 4 + 1) // revision; version of the file; startup flags, mode
	command := c.UTF16()
	c.Skip(16)
	dll := c.UTF16()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.commandLine(command)
	switch v := frameworkVersion(dll); {
	case v != "":
		q.version = v
	case major >= 5: // earlier versions are those of the class library's file: 4.700
		q.version = strconv.Itoa(int(major)) + "." + strconv.Itoa(int(minor)) + "." + strconv.Itoa(int(build))
	}
}

// frameworkVersion returns the version in the path of a shared framework's runtime:
// …/shared/Microsoft.NETCore.App/3.1.2/libcoreclr.so. "" if it is not in one: a
// self-contained program has the runtime beside it.
func frameworkVersion(dll string) string {
	const framework = "Microsoft.NETCore.App/"
	dll = strings.ReplaceAll(dll, `\`, "/")
	i := strings.LastIndex(dll, framework)
	if i < 0 {
		return ""
	}
	v, _, ok := strings.Cut(dll[i+len(framework):], "/")
	if !ok || v == "" || v[0] < '0' || v[0] > '9' || len(v) > 40 {
		return ""
	}
	v, _, _ = strings.Cut(v, "-") // a preview's label
	return v
}

// processInfo reads ProcessInfo of the EventPipe provider, the first event of a
// session.
func (q *process) processInfo(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	command := c.UTF16()
	if !c.OK() {
		q.countMalformed(e)
		return
	}
	q.commandLine(command)
	q.os, q.arch = cleanText(c.UTF16()), cleanText(c.UTF16()) // from .NET 5 on
}

// processorCount reads ProcessorCount of System.Runtime (.NET 6+, keyword 2):
// Environment.ProcessorCount.
func (q *process) processorCount(e *eventpipe.Event) {
	c := q.p.r.Cursor(e.Payload())
	if n := c.I32(); c.OK() && n > 0 && n < 1<<16 {
		q.counters.processors = int(n)
	}
}

// commandLine splits a command line. It does not quote arguments with spaces;
// only the program and the assembly behind it are searched.
func (q *process) commandLine(command string) {
	if command == "" || q.command != "" {
		return
	}
	args := strings.Fields(command)
	if len(args) == 0 {
		return
	}
	for i, a := range args[:min(len(args), 8)] {
		if i == 0 {
			q.exe = baseName(a)
			continue
		}
		if strings.HasSuffix(strings.ToLower(a), ".dll") {
			q.assembly = strings.TrimSuffix(baseName(a), a[len(a)-4:])
			break
		}
	}
	if q.assembly == "" && q.exe != launcher {
		q.assembly = q.exe
	}
	q.command = cleanText(strings.Join(redact.Command(args), " "))
}

// launcher runs programs that have no executable of their own.
const launcher = "dotnet"

func baseName(file string) string {
	file = path.Base(strings.ReplaceAll(file, `\`, "/"))
	return strings.TrimSuffix(file, ".exe")
}

// maxText is how much of a text is kept, in bytes.
const maxText = 1 << 10

// cleanText removes characters that could move a terminal's cursor.
func cleanText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s), "")
}

// Facts of a .NET process.
const (
	factAssembly = "dotnet.assembly" // the entry assembly, without .dll
	factSystem   = "dotnet.os"       // "Linux x64"
)

func (q *process) describeProcess() {
	q.b.Describe(q.id, func(s *evidence.Subject) {
		switch {
		case q.exe == launcher && q.assembly != "": // named after the program that it runs
			s.Name = q.assembly
		case q.exe != "":
			s.Name = q.exe
		}
		if q.version != "" {
			s.Version = q.version
		}
		if n := q.availableProcessors(); n > 0 {
			s.CPUs = n
		}
	})
	if q.p.before > 0 { // streams that follow say the same
		return
	}
	for _, f := range []struct{ key, value string }{
		{evidence.FactCommand, q.command}, {factAssembly, q.assembly}, {factSystem, strings.TrimSpace(q.os + " " + q.arch)},
	} {
		if f.value != "" {
			q.addFact(f.key, f.value, math.NaN(), 0)
		}
	}
}

// availableProcessors returns Environment.ProcessorCount, which a quota of a container limits,
// if a meter showed it, else the number in the stream's header.
func (q *process) availableProcessors() int {
	if n := q.counters.processors; n > 0 {
		return n
	}
	return q.p.r.Header().Processors
}

func (q *process) addFact(key, value string, number float64, at int64) {
	q.b.Fact(evidence.Fact{Subject: q.id, Key: key, Value: value, Number: number, Origin: q.b.Origin(at)})
}

func (q *process) addCoverage(kind string, from, until, sampled int64) {
	t := q.symbols.nameTable
	t.covered = append(t.covered, evidence.Coverage{Subject: q.id, Kind: kind, From: from, Until: until, Lost: q.p.r.Lost(), Sampled: sampled})
}

// between is how long (ns) two consecutive sessions may be apart: the
// end of the first, its rundown, samples of threads in a session of their own, and the second's beginning.
const between = ending + 400e6

// emitCoverage emits the recorded time; sessions without a gap between them count as one.
func (s *nameTable) emitCoverage(b *evidence.Builder) {
	for i, c := range s.covered {
		last := slices.IndexFunc(s.covered[:i], func(e evidence.Coverage) bool {
			return e.Kind == c.Kind && c.Kind != evidence.CoverThreads && c.From >= e.From && c.From-e.Until <= between
		})
		if last >= 0 {
			s.covered[last].Until = max(s.covered[last].Until, c.Until)
			s.covered[last].Lost += c.Lost
			s.covered[i].Kind = ""
		}
	}
	for _, c := range s.covered {
		if c.Kind != "" {
			b.Cover(c)
		}
	}
	s.covered = nil
}

// finish emits the results that had to wait for the names of all methods.
func (q *process) finish() {
	q.describeProcess()
	q.symbols.sortMethods()
	q.looks.emit(q)
	q.allocs.emit(q)
	q.survival.emit(q)
	q.snapshot.emit(q)
	q.gc.emit(q)
	q.emitHolds()
	q.counters.emit(q)
	q.pool.emit(q)
	q.waits.emit(q)
	q.kestrel.emit(q)
	q.calls.emit(q)
	q.requests.emit(q)
	q.emitAwaits() // of requests that are written
	q.emitStreams()
	q.emitWarnings()
}

func (q *process) emitWarnings() {
	if n := q.symbols.unresolved; q.symbols.lacksNames() && !q.p.broken && q.p.before == 0 {
		q.b.Warnf(0, "the stream holds no method names (no rundown at its end): addresses shown as ?!?: %d. Record to the end, with rundown", n)
	}
	for _, provider := range slices.Sorted(maps.Keys(q.malformed)) {
		q.b.Warnf(0, "malformed events of %s, left out: %d", cleanText(provider), q.malformed[provider])
	}
}
