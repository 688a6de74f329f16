package gopprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// header is the first line of a text profile.
type header struct {
	kind     string
	name     string // custom: what its program calls it
	total    int64  // count profiles
	period   int64  // heap: bytes per sample
	anothers bool   // a heap profile of C++'s tcmalloc, which begins in the same way
}

// sectionHeader reads
//
//	goroutine profile: total 12
//	heap profile: 3: 1234 [5: 6789] @ heap/1048576
//	--- mutex:
//	--- contention:
//	--- contentionz 1 ---                               of C++: gperftools
//
// The number behind heap/ is twice the sampling rate.
func sectionHeader(line []byte) (header, bool) {
	switch {
	case string(line) == "--- mutex:":
		return header{kind: kindMutex}, true
	case string(line) == "--- contention:":
		return header{kind: kindBlock}, true
	case isPageOfCpp(line):
		return header{kind: kindBlock, anothers: true}, true
	case bytes.HasPrefix(line, []byte("heap profile:")):
		_, sampling, ok := bytes.Cut(line, []byte("] @ "))
		if !ok {
			return header{}, false
		}
		rate, ok := bytes.CutPrefix(sampling, []byte("heap/"))
		n, err := strconv.ParseInt(string(rate), 10, 64)
		if !ok || err != nil || n < 0 {
			return header{kind: kindHeap, anothers: true}, true
		}
		return header{kind: kindHeap, period: n / 2}, true
	}
	if marked := bytes.Trim(line, " *"); bytes.HasPrefix(marked, []byte("goroutine profile: total ")) {
		line = marked // indented, or in bold letters
	}
	name, total, ok := bytes.Cut(line, []byte(" profile: total "))
	if !ok || len(name) == 0 || len(name) > 200 || bytes.IndexByte(name, ' ') >= 0 {
		return header{}, false
	}
	n, err := strconv.ParseInt(string(total), 10, 64)
	if err != nil || n < 0 {
		return header{}, false
	}
	switch k := string(name); k {
	case kindGoroutine, kindGoroutineLeak, kindThreads:
		return header{kind: k, name: k, total: n}, true
	default:
		return header{kind: kindCustom, name: k, total: n}, true
	}
}

// isPageOfCpp recognises "--- heapz 1 ---", growthz and threadz alike; contentionz has a format of its own.
func isPageOfCpp(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("--- "))
	rest, ok2 := bytes.CutSuffix(rest, []byte(" ---"))
	name, number, ok3 := bytes.Cut(rest, []byte("z "))
	return ok && ok2 && ok3 && len(name) > 0 && string(name) != "contention" && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}

// beginsStack says whether a line begins a stack of a goroutine profile, "1390 @ 0x4d398 0x5e5a8", which is what is left of one whose head was not copied.
func beginsStack(line []byte) bool {
	count, addresses, ok := bytes.Cut(line, []byte(" @ 0x"))
	_, digits := format.ParseDigits(count)
	return ok && digits && len(addresses) > 0 && len(bytes.Trim(addresses, "0123456789abcdefx ")) == 0
}

// isFrame says whether a line is a frame of a stack, "#	0x47a1b2	main.f+0x12". Pages make blanks of the tabs.
func isFrame(line []byte) bool {
	if bytes.HasPrefix(line, []byte("#\t")) {
		return true
	}
	rest, ok := bytes.CutPrefix(line, []byte("#  "))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte("0x"))
}

// section is a text profile being read. Text has the function names only
// in its comments, innermost first; a stack without comments is unknown.
type section struct {
	recording
	at        int64 // line of the header
	hz        float64
	locations map[string]*profile.Location
	functions map[[2]string]*profile.Function
	full      bool   // no room for more
	headless  bool   // stacks without the line above them
	stats     bool   // within the runtime.MemStats
	pauses    string // the ring of MemStats
	ends      string
	numGC     int64
	strange   int64 // lines not understood
	first     int64 // of them
}

const (
	maxTextSamples   = 1_000_000
	maxTextLocations = 1 << 20
)

func newSection(h header, at int64) *section {
	s := &section{at: at, hz: 1e9, numGC: -1, locations: make(map[string]*profile.Location), functions: make(map[[2]string]*profile.Function)}
	s.kind, s.announce, s.lines = h.kind, h.total, []int64{}
	s.Profile = &profile.Profile{Period: h.period}
	switch h.kind {
	case kindHeap:
		s.addSampleTypes("alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "count", "inuse_space", "bytes")
	case kindMutex, kindBlock:
		s.addSampleTypes("contentions", "count", "delay", "nanoseconds")
	default:
		s.kind = clipText(h.name)
		s.addSampleTypes(s.kind, "count")
	}
	return s
}

func (s *section) addSampleTypes(names ...string) {
	for i := 0; i < len(names); i += 2 {
		s.SampleType = append(s.SampleType, &profile.ValueType{Type: names[i], Unit: names[i+1]})
	}
}

// parseLine reads the next line. It returns false for one it does not understand.
func (s *section) parseLine(text []byte, number int64) bool {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return true
	case isFrame(text):
		s.parseFrame(text)
		return true
	case string(text) == "# runtime.MemStats":
		s.stats, s.statsLine = true, number
		return true
	case text[0] == '#':
		return s.parseComment(string(text), number)
	case bytes.HasPrefix(text, []byte("cycles/second=")):
		hz, err := strconv.ParseFloat(string(text[len("cycles/second="):]), 64)
		if err != nil || hz <= 0 || math.IsInf(hz, 0) {
			return false
		}
		s.hz = hz
		return true
	case bytes.HasPrefix(text, []byte("sampling period=")):
		n, err := strconv.ParseInt(string(text[len("sampling period="):]), 10, 64)
		s.fraction = n
		return err == nil
	}
	values, ok := s.parseValues(text)
	if !ok {
		return false
	}
	if len(s.Sample) == maxTextSamples {
		s.full = true
		return true
	}
	s.Sample = append(s.Sample, &profile.Sample{Value: values})
	s.lines = append(s.lines, number)
	return true
}

// parseValues reads the figures before the addresses.
//
//	3 @ 0x…                     goroutine, threadcreate …
//	1: 64 [2: 128] @ 0x…        heap: in use, [allocated]; objects: bytes
//	10845 12 @ 0x…              mutex, block: cycles, contentions
func (s *section) parseValues(text []byte) ([]int64, bool) {
	figures, _, ok := bytes.Cut(text, []byte(" @"))
	if !ok {
		return nil, false
	}
	var n [4]int64
	want := 1
	switch s.kind {
	case kindHeap:
		want = 4
	case kindMutex, kindBlock:
		want = 2
	}
	fields := strings.FieldsFunc(string(figures), func(r rune) bool { return strings.ContainsRune(" :[]", r) })
	if len(fields) != want {
		return nil, false
	}
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, false
		}
		n[i] = v
	}
	switch s.kind {
	case kindHeap:
		ao, ab := estimateTotals(n[2], n[3], s.Period)
		io, ib := estimateTotals(n[0], n[1], s.Period)
		return []int64{ao, ab, io, ib}, true
	case kindMutex, kindBlock:
		ns := float64(n[0]) * 1e9 / s.hz
		return []int64{n[1], int64(min(max(ns, 0), math.MaxInt64/2))}, true
	}
	return []int64{n[0]}, true
}

// estimateTotals estimates the true figures from sampled ones, which text has raw and protobuf
// scaled. An object of size s is sampled with probability 1 − e^(−s/rate).
func estimateTotals(count, size, rate int64) (int64, int64) {
	if count <= 0 || size <= 0 || rate <= 1 {
		return count, size
	}
	scale := 1 / (1 - math.Exp(-float64(size)/float64(count)/float64(rate)))
	if !(scale < 1e12) || float64(size)*scale > math.MaxInt64/2 {
		return count, size
	}
	return int64(float64(count) * scale), int64(float64(size) * scale)
}

// parseFrame reads "#	0x47a1b2	main.f+0x12		/src/f.go:12".
func (s *section) parseFrame(text []byte) {
	if len(s.Sample) == 0 || s.full {
		return
	}
	sample := s.Sample[len(s.Sample)-1]
	if len(sample.Location) == maxFrames {
		return
	}
	l, ok := s.locations[string(text)]
	if !ok {
		if len(s.locations) == maxTextLocations || len(text) > 4*maxString {
			return
		}
		l = &profile.Location{}
		cells := strings.FieldsFunc(string(text[1:]), func(r rune) bool { return r == '\t' })
		if len(cells) == 1 { // the tabs became blanks
			cells = strings.Fields(string(text[1:]))
		}
		if len(cells) >= 2 {
			name := cells[1]
			if i := strings.LastIndex(name, "+0x"); i > 0 {
				name = name[:i]
			}
			var file string
			var line int64
			if len(cells) >= 3 {
				file, line = fileLine(cells[2])
			}
			l.Line = []profile.Line{{Function: s.internFunction(name, file), Line: line}}
		}
		s.locations[string(text)] = l
	}
	sample.Location = append(sample.Location, l)
}

func (s *section) internFunction(name, file string) *profile.Function {
	key := [2]string{clipText(name), clipText(file)}
	f, ok := s.functions[key]
	if !ok {
		f = &profile.Function{Name: key[0], Filename: key[1]}
		s.functions[key] = f
		s.Function = append(s.Function, f)
	}
	return f
}

// fileLine splits "/src/f.go:12".
func fileLine(s string) (string, int64) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0
	}
	n, err := strconv.ParseInt(s[i+1:], 10, 32)
	if err != nil {
		return s, 0
	}
	return s[:i], n
}

// parseComment reads "# HeapAlloc = 12345". It skips "# labels: {…}".
func (s *section) parseComment(text string, number int64) bool {
	if strings.HasPrefix(text, "# labels: ") {
		return true
	}
	key, value, ok := strings.Cut(strings.TrimPrefix(text, "# "), " = ")
	if !ok || !s.stats || len(key) > 40 || strings.ContainsAny(key, " \t") {
		return false
	}
	switch key {
	case "PauseNs":
		s.pauses = value
		return true
	case "PauseEnd":
		s.ends = value
		return true
	case "LastGC":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			s.lastGC = max(n, 0)
		}
	case evidence.FactNumGC:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			s.numGC = n
		}
	}
	if len(s.recording.stats) < 64 && len(value) < 64 && !strings.HasPrefix(value, "[") {
		s.recording.stats = append(s.recording.stats, stat{key, value, number})
	}
	return true
}

// finishSection ends the section at the end of the text or at the next header.
func (s *section) finishSection(b *evidence.Builder) {
	if s.strange > 0 {
		b.Warnf(s.first, "lines in or after the %s profile that were not understood: %d", s.kind, s.strange)
	}
	if s.headless {
		b.Warnf(s.at, "the first line of the goroutine profile is missing: how many goroutines there were in all is not known")
		b.Cut()
	}
	if s.full {
		b.Warnf(s.at, "the %s profile has more than %d stacks: the rest was left out", s.kind, maxTextSamples)
	}
	if _, told := s.findStat("PauseTotalNs"); !told {
		if total, ok := pauseTotal(s.pauses, s.numGC); ok {
			s.recording.stats = append(s.recording.stats, stat{"PauseTotalNs", strconv.FormatInt(total, 10), s.at})
		}
	}
	if all, ok := parseIntegers(s.pauses); ok && len(all) > 0 {
		s.longestPause = slices.Max(all)
	}
	s.ring, _ = ringOf(s.pauses, s.ends, s.numGC, s.lastGC)
	var sum int64
	for _, x := range s.Sample {
		sum = addSaturated(sum, x.Value[0])
	}
	if s.announce > sum && !s.full || s.kind == kindHeap && !s.stats {
		b.Warnf(s.at, "the %s profile is incomplete: the part that is there is used", s.kind)
		b.Cut()
	}
	if s.fraction > 1 {
		// The text is the same in all versions.
		b.Warnf(s.at, "mutex contention was sampled (1 of %d): as text, Go before 1.21 gives the sampled values and later versions the estimated total; the total is assumed", s.fraction)
	}
}

// pauseTotal adds the pauses up, if the ring of the last 256 still has all.
func pauseTotal(ring string, cycles int64) (sum int64, ok bool) {
	fields := strings.Fields(strings.Trim(ring, "[]"))
	if cycles < 0 || cycles > int64(len(fields)) {
		return 0, false
	}
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return 0, false
		}
		sum = addSaturated(sum, n)
	}
	return sum, true
}

// parseText reads text profiles and goroutine dumps, several if the file has
// several, and leaves log lines around them to other formats.
func parseText(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var (
		sections []*section
		open     *section
		dumps    dumps
		stopped  error
	)
	lines := a.Lines(func(l format.Line) bool {
		l.Text = stripQuoteMark(l.Text)
		if l.Number&0xffff == 0 {
			if stopped = ctx.Err(); stopped != nil {
				return false
			}
		}
		if h, ok := sectionHeader(l.Text); ok && (h.kind != kindCustom || l.Number == 1) {
			if h.anothers {
				stopped = errors.New("profile of another runtime (C++, gperftools or tcmalloc): unstall reads Go profiles")
				return false
			}
			dumps.endOpen()
			open = newSection(h, l.Number)
			sections = append(sections, open)
			if len(sections) > maxSections {
				sections = sections[1:]
			}
			return true
		}
		if bytes.Contains(l.Text, []byte("fatal error: all goroutines are asleep - deadlock!")) {
			dumps.deadlock = l.Number
		}
		if g, ok := goroutineHeader(l.Text); ok {
			open = nil
			dumps.beginGoroutine(g, l.Number, l.Stamp)
			return true
		}
		if open == nil && beginsStack(l.Text) {
			dumps.endOpen()
			open = newSection(header{kind: kindGoroutine, name: kindGoroutine}, l.Number)
			open.headless = true
			sections = append(sections, open)
			if len(sections) > maxSections {
				sections = sections[1:]
			}
		}
		switch {
		case open == nil:
			dumps.parseLine(l.Text, l.Number)
		case !open.parseLine(l.Text, l.Number):
			if open.strange++; open.first == 0 {
				open.first = l.Number
			}
		}
		return true
	})
	if stopped != nil {
		return stopped
	}
	if lines != nil && !errors.Is(lines, format.ErrCut) {
		return lines
	}
	if lines != nil {
		b.Warnf(0, "the compressed file is truncated: the part before that is used")
		b.Cut()
	}
	dumps.finishDumps(b)
	if len(sections) == 0 && dumps.best == nil {
		return fmt.Errorf("go profile: it holds no profile and no goroutine: record it again with /debug/pprof/…?debug=1 or without debug")
	}
	subject := b.Subject(evidence.Subject{Runtime: "go"})
	for i, s := range sections {
		if hasKind(sections[i+1:], s.kind) {
			b.Warnf(s.at, "there are several %s profiles in one file: only the last is used", s.kind)
			continue
		}
		s.finishSection(b)
		if err := emitRecording(ctx, &s.recording, b, subject); err != nil {
			return err
		}
	}
	return dumps.emitGoroutines(ctx, b, subject)
}

// stripQuoteMark removes the quotation mark of mails and issues.
func stripQuoteMark(line []byte) []byte {
	if rest, quoted := bytes.CutPrefix(line, []byte(">")); quoted {
		return bytes.TrimPrefix(rest, []byte(" "))
	}
	return line
}

const maxSections = 16

func hasKind(sections []*section, kind string) bool {
	for _, s := range sections {
		if s.kind == kind {
			return true
		}
	}
	return false
}
