package gopprof

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goclass"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

// Listing is what pprof prints of a profile of CPU time or of waits for locks and channels ("Type: delay"), -top and -traces, and the same of the pprof of gperftools (-text), as people paste it:
//
//	Showing nodes accounting for 41.20s, 68.67% of 60s total
//	      flat  flat%   sum%        cum   cum%
//	    14.10s 23.50% 23.50%     31.20s 52.00%  runtime.scanobject
//
//	23.28s of 24.63s total (94.52%)                          before Go 1.9
//
//	Total: 4120 samples
//	    1203  29.2%  29.2%     1203  29.2% base::SpinLock::Lock
//
//	Showing nodes accounting for 6212, 99.94% of 6216 total    goroutines: counts, nearly all of them parked
//	      6212 99.94% 99.94%       6212 99.94%  runtime.gopark
//
// If the lines above the functions are missing, the time of a function and its share show the total.
// -top has no stacks: each function stands with its own time, and the rest belongs to no function. If Go's background mark
// worker is listed, all time below it is GC work, whatever functions are listed there. gperftools samples every 10 ms, unless CPUPROFILE_FREQUENCY
// was set: shares are right in any case.
var Listing = format.Format{
	Name:  "pprof-text",
	About: "what pprof prints of a CPU, mutex, block or goroutine profile: -top and -traces of Go's, -text of gperftools'",
	Match: func(head []byte) format.Confidence {
		headed := bytes.Contains(head, []byte("% of ")) || bytes.Contains(head, []byte("Total: ")) || bytes.Contains(head, []byte("Total samples = ")) || bytes.Contains(head, []byte("s total ("))
		traces := bytes.Contains(head, []byte("-----------+-")) && (bytes.Contains(head, []byte("Type: delay")) || bytes.Contains(head, []byte("Type: goroutine")))
		if !headed && !traces && !bytes.Contains(head[:min(len(head), mostBare)], []byte("%  runtime.")) && !bytes.Contains(head[:min(len(head), mostBare)], []byte("% |   runtime.")) {
			return format.No
		}
		var p listing
		for l := range bytes.Lines(head) {
			p.parseLine(string(bytes.TrimRight(l[:min(len(l), mostListed)], "\r\n")), 1)
			if headed && p.total > 0 && (len(p.rows) > 0 || len(p.traces) > 0) {
				return format.Sure
			}
			if !headed && p.isBareGoListing() || traces && len(p.traces) > 0 && (p.kind == kindDelay || p.kind == kindGoroutine) {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseListing,
}

// Bounds of what is read.
const (
	mostListed     = 4096 // of a line, bytes
	maxListedRows  = 100_000
	kindDelay      = "delay" // what pprof calls the time of waits
	samplePeriodMs = 10
	mostBare       = 64 << 10 // of a listing without the lines above it, within which its rows must begin
	leastBare      = 3        // rows of a listing, at least
)

// listed is a function with its own time and its time with callees, ns.
type listed struct {
	name      string
	flat, cum int64
	line      int64
}

// isPeek says whether a line is of -peek or -tree: figures, a bar, and a function, with callers and callees indented.
func isPeek(text string) bool {
	before, after, ok := strings.Cut(text, " | ")
	f := strings.Fields(before)
	return ok && strings.TrimSpace(after) != "" && (len(f) == 2 || len(f) == 5) && strings.HasSuffix(f[1], "%") || strings.HasSuffix(text, "|") && len(f) == 5
}

// parsePeek reads the function that a part of -peek is about. Its callers and callees are parts of
// its time.
func (p *listing) parsePeek(text string, line int64) {
	before, after, _ := strings.Cut(text, "|")
	f := strings.Fields(before)
	p.within = false
	if len(f) != 5 || !strings.HasSuffix(f[2], "%") || !strings.HasSuffix(f[4], "%") {
		return
	}
	flat, ok := timeOf(f[0])
	cum, ok2 := timeOf(f[3])
	name := strings.TrimSuffix(strings.TrimSpace(after), " (inline)")
	if i := strings.LastIndexByte(name, ' '); i > 0 && strings.Contains(name[i:], ".go:") { // its position
		name = name[:i]
	}
	if !ok || !ok2 || name == "" {
		return
	}
	if len(p.rows) == maxListedRows {
		p.over = true
		return
	}
	p.rows = append(p.rows, listed{clipText(name), flat, cum, line})
	if share, err := strconv.ParseFloat(strings.TrimSuffix(f[4], "%"), 64); err == nil && share > p.share && strings.HasSuffix(f[3], "s") {
		p.share, p.whole = share, int64(float64(cum)*100/share)
	}
}

// trace is a stack of -traces, innermost first.
type trace struct {
	ns    int64
	stack []string
	line  int64
}

type listing struct {
	total  int64 // ns
	bare   bool  // the total has no unit, and is not of gperftools: it is a count
	kind   string
	rows   []listed
	traces []trace
	within bool // in a block of -traces
	fresh  bool // it has no frame yet
	over   bool

	share float64 // the largest of a function with its callees
	whole int64   // the total by that, ns
}

func (p *listing) parseLine(text string, line int64) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return
	case strings.HasPrefix(trimmed, "Type: "):
		p.kind = strings.TrimSpace(trimmed[len("Type: "):])
		return
	case strings.Contains(trimmed, "Total samples = "):
		_, rest, _ := strings.Cut(trimmed, "Total samples = ")
		word, _, _ := strings.Cut(rest, " ")
		if v, ok := timeOf(word); ok {
			p.total = v
		}
		return
	case strings.Contains(trimmed, "s total (") && strings.HasSuffix(trimmed, "%)"):
		whole, _, _ := strings.Cut(trimmed, " total (")
		if f := strings.Fields(whole); len(f) == 3 && f[1] == "of" {
			if v, ok := timeOf(f[2]); ok {
				p.total = v
			}
		}
		return
	case strings.HasPrefix(trimmed, "Showing nodes accounting for "), strings.Contains(trimmed, " of ") && strings.HasSuffix(trimmed, " total") && strings.Contains(trimmed, "%"):
		f := strings.Fields(strings.TrimSuffix(strings.TrimSuffix(trimmed, " total"), " total)"))
		if v, ok := timeOf(f[len(f)-1]); ok {
			p.total, p.bare = v, strings.Trim(f[len(f)-1], "0123456789") == ""
		}
		return
	case strings.HasPrefix(trimmed, "Total: ") && strings.HasSuffix(trimmed, " samples"):
		if n, err := strconv.ParseInt(strings.TrimSuffix(trimmed[len("Total: "):], " samples"), 10, 40); err == nil && n > 0 {
			p.total = n * samplePeriodMs * 1e6
		}
		return
	case isPeek(trimmed):
		p.parsePeek(trimmed, line)
		return
	case strings.HasPrefix(trimmed, "-----------+-"):
		p.within, p.fresh = true, true
		return
	}
	f := strings.Fields(trimmed)
	if p.within {
		p.addFrame(f, line)
		return
	}
	if len(f) < 6 || !strings.HasSuffix(f[1], "%") || !strings.HasSuffix(f[2], "%") || !strings.HasSuffix(f[4], "%") {
		return
	}
	flat, ok := timeOf(f[0])
	cum, ok2 := timeOf(f[3])
	if !ok || !ok2 {
		return
	}
	if len(p.rows) == maxListedRows {
		p.over = true
		return
	}
	name := strings.TrimSuffix(strings.Join(f[5:], " "), " (inline)")
	p.rows = append(p.rows, listed{clipText(name), flat, cum, line})
	if share, err := strconv.ParseFloat(strings.TrimSuffix(f[4], "%"), 64); err == nil && share > p.share && strings.HasSuffix(f[3], "s") {
		p.share, p.whole = share, int64(float64(cum)*100/share)
	}
}

// isBareGoListing says whether rows without a heading are a listing of Go: at least three, one of
// them a function of the runtime.
func (p *listing) isBareGoListing() bool {
	if len(p.rows) < leastBare || p.whole <= 0 {
		return false
	}
	for _, x := range p.rows {
		if strings.HasPrefix(x.name, "runtime.") {
			return true
		}
	}
	return false
}

// addFrame adds a line of a block. The first line has the time.
func (p *listing) addFrame(f []string, line int64) {
	if p.fresh {
		if len(f) < 2 {
			return
		}
		v, ok := timeOf(f[0])
		if !ok {
			return
		}
		p.fresh = false
		if len(p.traces) == maxListedRows {
			p.over, p.within = true, false
			return
		}
		p.traces = append(p.traces, trace{v, []string{frameName(f[1:])}, line})
		return
	}
	if len(p.traces) == 0 {
		return
	}
	t := &p.traces[len(p.traces)-1]
	if len(t.stack) < maxFrames {
		t.stack = append(t.stack, frameName(f))
	}
}

// frameName joins the words of a frame, without its position, which -lines prints.
func frameName(f []string) string {
	if len(f) > 1 && f[len(f)-1] == "(inline)" {
		f = f[:len(f)-1]
	}
	if len(f) > 1 && strings.Contains(f[len(f)-1], ".go:") {
		f = f[:len(f)-1]
	}
	return clipText(strings.Join(f, " "))
}

// isOfLocks says whether functions that unlock mutexes have most of the time: they take none of a CPU's, and the listing is of a mutex profile.
func (p *listing) isOfLocks() bool {
	var locks int64
	for _, x := range p.rows {
		if strings.HasPrefix(x.name, "sync.(*Mutex).Unlock") || strings.HasPrefix(x.name, "sync.(*RWMutex).") && strings.HasSuffix(x.name, "Unlock") {
			locks += x.flat
		}
	}
	return p.total > 0 && locks > p.total/2
}

// timeOf reads "41.20s", "10ms", "1.5mins", "0" and samples as ns.
func timeOf(s string) (int64, bool) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(s[:n], 64)
	if err != nil || v > 1e12 {
		return 0, false
	}
	unit, ok := map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "mins": 60e9, "hrs": 3600e9, "": samplePeriodMs * 1e6}[s[n:]]
	return int64(v * unit), ok && v*unit < 1e18
}

func parseListing(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var p listing
	err := a.Lines(func(l format.Line) bool {
		p.parseLine(string(l.Text[:min(len(l.Text), mostListed)]), l.Number)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.rows) == 0 && len(p.traces) == 0 && err != nil:
		return err
	case len(p.rows) == 0 && len(p.traces) == 0:
		return errors.New("pprof-text: no function with its time in it")
	case p.kind != "" && p.kind != "cpu" && p.kind != "samples" && p.kind != kindDelay && p.kind != kindGoroutine:
		return errors.New("pprof-text: it is of " + clipText(p.kind) + ", not of CPU time: give the profile itself")
	case err != nil:
		b.Warnf(0, "the text is incomplete: %v", err)
		b.Cut()
	}
	if p.over {
		b.Warnf(0, "functions beyond the first %d were left out", maxListedRows)
	}
	if p.isOfGoroutines() {
		return p.emitGoroutines(ctx, b)
	}
	delays := p.kind == kindDelay || p.isOfLocks()
	if p.total == 0 && p.whole > 0 && !delays {
		p.total = p.whole
		b.Warnf(1, "the lines above the functions are missing: their times and shares tell that it is of %s of CPU time in all", units.Time(float64(p.whole)))
	}
	r, isGo := p.buildRecording()
	if delays {
		r.SampleType[0].Type = kindDelay
		r.kind, isGo = lockKind(r.Profile), true
		b.Warnf(1, "how long the program was profiled is not in it, so that its waits show where, and not how much of the time: a goroutine dump shows which goroutines wait now")
	}
	subject := evidence.Subject{Kind: evidence.Process}
	if isGo {
		subject.Runtime = "go"
	}
	if len(p.rows) > 0 {
		b.Warnf(p.rows[0].line, "a listing has no stacks: what each function took itself is known, and who called it is not")
	}
	return emitRecording(ctx, r, b, b.Subject(subject))
}

// buildRecording makes a profile of the listed functions. Functions below Go's mark worker count
// as the worker's.
func (p *listing) buildRecording() (r *recording, isGo bool) {
	r = &recording{Profile: &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}, kind: kindCPU}
	add := func(ns int64, line int64, stack ...string) {
		if ns <= 0 {
			return
		}
		s := &profile.Sample{Value: []int64{ns}}
		for _, name := range stack {
			isGo = isGo || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "main.")
			f := &profile.Function{Name: name}
			r.Function = append(r.Function, f)
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: f}}})
		}
		r.Sample = append(r.Sample, s)
		r.lines = append(r.lines, line)
	}
	known := int64(0)
	worker := int64(0)
	for _, x := range p.rows {
		if x.name == "runtime.gcBgMarkWorker" {
			worker = x.cum
		}
	}
	for _, x := range p.rows {
		if worker > 0 && strings.HasPrefix(goclass.RuleOf(x.name).Class(), goclass.Background) {
			continue
		}
		add(x.flat, x.line, x.name)
		known += max(0, x.flat)
	}
	if worker > 0 {
		add(worker, 1, "runtime.gcBgMarkWorker")
		known += worker
	}
	for _, t := range p.traces {
		add(t.ns, t.line, t.stack...)
		known += max(0, t.ns)
	}
	if p.total > known {
		add(p.total-known, 1, "")
		last := r.Sample[len(r.Sample)-1]
		last.Location = nil
	}
	return r, isGo
}
