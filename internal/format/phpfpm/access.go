package phpfpm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Access reads the access log of PHP-FPM. access.format decides the form of its lines; they differ
// from those of web servers in the request, which has no protocol: "GET /cart.php".
var Access = format.Format{
	Name:  "phpfpm-access",
	About: "PHP-FPM's access log (access.format): duration, CPU share and memory of each request",
	Whole: true, // its lines look like others' access lines, and their figures have another meaning
	Match: func(head []byte) format.Confidence {
		return format.SureIf(hasAccess(head) && !hasLog(head))
	},
	Parse: parseAccess,
}

// hasAccess says whether lines are of the access log; lines of FPM's own log may be among them.
func hasAccess(head []byte) bool {
	lines, hits := 0, 0
	for line := range bytes.Lines(head) {
		if _, _, ok := logTime(line); ok {
			continue
		}
		if lines++; lines > 200 {
			break
		}
		if _, ok := accessLine(line); ok {
			hits++
		}
	}
	return hits >= 3 || hits > 0 && hits == lines
}

// entry is a line of the log; missing figures are NaN, or empty.
type entry struct {
	at             int64 // when a worker accepted it
	method, target []byte
	status         int64
	duration       float64 // in the log's unit
	unit           float64 // ns, 0 not told
	cpu            float64 // percent of a CPU while it was processed
	memory         float64 // its peak, in the log's unit
	script         bool    // the log has the script (%f)
	dash           bool    // a field has no value: in a log with scripts it means that no script ran
	line           int64
}

// accessLine reads a line. The duration has three decimals, in seconds and in milliseconds (%d,
// %{milli}d), and follows the request; what ends in % is the CPU (%C%%); the number between
// them the memory (%M).
func accessLine(line []byte) (e entry, ok bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > 16<<10 {
		return e, false
	}
	open := -1
	for i := 0; i < len(line); i++ { // the quoted word that is a request
		if line[i] != '"' {
			continue
		}
		end := bytes.IndexByte(line[i+1:], '"')
		if end < 0 {
			return e, false
		}
		method, target, two := bytes.Cut(line[i+1:i+1+end], []byte(" "))
		if two && isMethod(method) && len(target) > 0 && target[0] == '/' && !bytes.Contains(target, []byte(" ")) {
			e.method, e.target, open = method, target, i
			line, ok = bytes.Join([][]byte{line[:i], line[i+end+2:]}, []byte(" ")), true
			break
		}
		i += end + 1
	}
	if !ok {
		return e, false
	}
	if e.at, ok = findTime(line, open); !ok {
		return e, false
	}
	e.duration, e.cpu, e.memory, e.status = math.NaN(), math.NaN(), math.NaN(), -1
	for f := range bytes.FieldsSeq(line[open:]) {
		e.parseField(bytes.Trim(f, `"`))
	}
	return e, true
}

func (e *entry) parseField(f []byte) {
	e.script, e.dash = e.script || len(f) > 1 && f[0] == '/', e.dash || string(f) == "-"
	key, value, named := bytes.Cut(f, []byte("="))
	if !named {
		key, value = nil, f
	}
	if percent, ok := bytes.CutSuffix(value, []byte("%")); ok {
		if v, err := strconv.ParseFloat(string(percent), 64); err == nil && v >= 0 && v < 1e6 && math.IsNaN(e.cpu) {
			e.cpu = v
		}
		return
	}
	unit := 0.
	for _, u := range []struct {
		suffix string
		ns     float64
	}{{"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"s", 1e9}} {
		if rest, ok := bytes.CutSuffix(value, []byte(u.suffix)); ok && len(rest) > 0 && rest[len(rest)-1] >= '0' && rest[len(rest)-1] <= '9' {
			value, unit = rest, u.ns
			break
		}
	}
	v, err := strconv.ParseFloat(string(value[:min(len(value), 24)]), 64)
	if err != nil || !(v >= 0 && v < 1e15) {
		return
	}
	point := bytes.IndexByte(value, '.')
	switch {
	case unit == 0 && point < 0 && len(value) == 3 && e.status < 0 && v >= 100 && v < 600:
		e.status = int64(v)
	case math.IsNaN(e.duration) && (unit != 0 || point >= 0 && len(value)-point == 4):
		e.duration, e.unit = v, unit
		for suffix, ns := range map[string]float64{"_ms": 1e6, "_us": 1e3, "_s": 1e9} {
			if bytes.HasSuffix(key, []byte(suffix)) {
				e.unit = ns
			}
		}
	case point < 0 && math.IsNaN(e.memory) && !math.IsNaN(e.duration):
		e.memory = v
	}
}

func isMethod(b []byte) bool {
	if len(b) < 3 || len(b) > 10 {
		return false
	}
	for _, c := range b {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// findTime finds the time (%t): the first one before the request, else behind it.
func findTime(line []byte, before int) (int64, bool) {
	for _, part := range [][]byte{line[:before], line[before:]} {
		for i := 0; i+20 <= len(part); i++ {
			if part[i] < '0' || part[i] > '9' || i > 0 && part[i-1] >= '0' && part[i-1] <= '9' {
				continue
			}
			for _, form := range []string{"02/Jan/2006:15:04:05 -0700", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05-07:00"} {
				if n := len(form); i+n <= len(part) {
					if t, err := time.Parse(form, string(part[i:i+n])); err == nil && t.Year() > 1999 && t.Year() < 2200 {
						return t.UnixNano(), true
					}
				}
			}
		}
	}
	return 0, false
}

// tick is the unit of PHP's CPU times: times(2), 100 a second.
const tick = 10e6

// unitOf returns the unit of durations without one. The CPU share is ticks divided by the duration, so
// their product is at least a tick wherever it is not 0: in the wrong unit, ms for s, it would be a
// thousandth of that. Without CPU shares, the unit is not s if lines would then stand before those of requests that
// ended much earlier; else it is s if the median is below 1.
func unitOf(all []entry) (ns float64, sure bool) {
	var took []float64
	for i := range all {
		e := &all[i]
		if e.unit != 0 {
			return e.unit, true
		}
		if e.cpu > 0 && e.duration > 0 {
			if e.cpu/100*e.duration*1e6 < tick/2 {
				return 1e9, true
			}
			return 1e6, true
		}
		if !math.IsNaN(e.duration) {
			took = append(took, e.duration)
		}
	}
	if outOfOrder(all, 1e9) {
		return 1e6, true
	}
	slices.Sort(took)
	if len(took) > 0 && took[len(took)/2] >= 1 {
		return 1e6, false
	}
	return 1e9, false
}

// outOfOrder says whether, with durations in this unit (ns), a request would have ended so long before that of an earlier line that its line would have
// been first: a line is written when its request ends, and begins with the time when the request was
// accepted, in whole seconds.
func outOfOrder(all []entry, unit float64) bool {
	const late = 5e9 // the clock's resolution, and workers that write a little later
	newest := int64(0)
	for i := range all {
		e := &all[i]
		if math.IsNaN(e.duration) || e.duration*unit > 100*24*3600e9 {
			continue
		}
		ended := e.at + int64(e.duration*unit)
		if newest-ended > late {
			return true
		}
		newest = max(newest, ended)
	}
	return false
}

// bytesOf returns the unit of memory: PHP takes memory from the system in pieces of 2 MiB, the least of
// a request (Zend/zend_alloc.c), so a figure below 1 Mi is not in bytes.
func bytesOf(v float64) float64 {
	switch {
	case v >= 1<<20:
		return v
	case v >= 1<<10:
		return v * (1 << 10)
	}
	return v * (1 << 20)
}

// sampleLines is how many lines decide the unit.
const sampleLines = 5000

// routed is the sums of a route's requests.
type routed struct {
	name      evidence.NameID
	text      string
	n         int64
	took, cpu float64 // ns
	counted   int64   // requests with a CPU time
	memory    float64 // bytes, the most
	durations []float64
}

func parseAccess(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	return readAccess(ctx, a, b, newSubject(b))
}

func readAccess(ctx context.Context, a *format.Artifact, b *evidence.Builder, subject evidence.SubjectID) error {
	p := &accessParser{b: b, subject: subject, by: make(map[string]*routed)}
	b.Clock().Resolution, b.Clock().Stamp = int64(time.Second), evidence.StampStart
	err := a.Lines(func(l format.Line) bool {
		p.lines++
		if _, _, ok := logTime(l.Text); ok {
			return true
		}
		e, ok := accessLine(l.Text)
		switch {
		case ok && !l.Long:
			e.line = l.Number
			p.addEntry(e)
		case len(bytes.TrimSpace(l.Text)) > 0:
			if p.strange++; p.strange == 1 {
				p.first = l.Number
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.decideUnit()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case p.n == 0 && p.own == 0:
		return errors.New("php-fpm access log: no line has a time and a request")
	case err != nil:
		b.Warnf(0, "the file is incomplete: %v", err)
		b.Cut()
	}
	p.emitRoutes()
	return nil
}

type accessParser struct {
	b       *evidence.Builder
	subject evidence.SubjectID
	head    []entry // until the unit is known
	unit    float64 // ns, 0 not known yet
	by      map[string]*routed
	order   []*routed
	buf     []byte

	scripts bool  // the log has the scripts
	own     int64 // requests without a script: FPM's own pages, its status and its ping

	lines, n, timed, strange, first int64
	from, until                     int64
}

// addEntry counts an entry, or keeps it until the unit of durations is known. It copies slices
// that point into the line.
func (p *accessParser) addEntry(e entry) {
	if p.unit != 0 {
		p.countEntry(&e)
		return
	}
	e.method, e.target = bytes.Clone(e.method), bytes.Clone(e.target)
	if p.head = append(p.head, e); len(p.head) == sampleLines {
		p.decideUnit()
	}
}

func (p *accessParser) decideUnit() {
	if p.unit != 0 || len(p.head) == 0 {
		return
	}
	var sure bool
	if p.unit, sure = unitOf(p.head); !sure && slices.ContainsFunc(p.head, func(e entry) bool { return !math.IsNaN(e.duration) }) {
		words := map[float64]string{1e9: "seconds", 1e6: "milliseconds"}[p.unit]
		p.b.Warnf(0, "read durations as %s, by their size: log the CPU, too (%%C%%%%), to be sure", words)
	}
	p.scripts = slices.ContainsFunc(p.head, func(e entry) bool { return e.script })
	for i := range p.head {
		p.countEntry(&p.head[i])
	}
	p.head = nil
}

func (p *accessParser) countEntry(e *entry) {
	if p.from == 0 || e.at < p.from {
		p.from = e.at
	}
	p.until = max(p.until, e.at)
	if p.scripts && e.dash && !e.script {
		p.own++
		return
	}
	p.n++
	p.buf = append(append(p.buf[:0], e.method...), ' ')
	p.buf = format.AppendRoute(p.buf, e.target)
	r := p.by[string(p.buf)]
	if r == nil {
		if len(p.by) == mostRoutes {
			p.buf = append(append(p.buf[:0], e.method...), " …"...)
			r = p.by[string(p.buf)]
		}
		if r == nil {
			r = &routed{name: p.b.NameBytes(p.buf), text: string(p.buf)}
			p.by[r.text] = r
			p.order = append(p.order, r)
		}
	}
	r.n++
	if !math.IsNaN(e.memory) {
		r.memory = max(r.memory, bytesOf(e.memory))
	}
	took := e.duration * p.unit
	if math.IsNaN(took) || took > 100*24*3600e9 {
		return
	}
	p.timed++
	r.took += took
	if len(r.durations) < sampleLines {
		r.durations = append(r.durations, took)
	}
	if !math.IsNaN(e.cpu) {
		r.cpu += min(e.cpu/100*took, took+tick)
		r.counted++
	}
	outcome := evidence.OK
	if e.status >= 500 {
		outcome = evidence.Failed
	}
	p.b.Request(evidence.Request{Subject: p.subject, Route: r.name, Start: e.at, End: e.at + int64(took), Outcome: outcome, Origin: p.b.Origin(e.line)})
}

func (p *accessParser) emitRoutes() {
	b := p.b
	sorting.Short(p.order, func(x, y *routed) int { return cmp.Or(cmp.Compare(y.took, x.took), cmp.Compare(x.text, y.text)) })
	table := evidence.Table{Title: "php-fpm requests", Columns: []string{"route", "requests", "mean ms", "p50 ms", "p99 ms", "CPU ms", "memory MiB"}}
	for i, r := range p.order {
		if r.counted > 0 {
			b.FactAt(p.subject, evidence.FactRequestCPU, r.text, r.cpu/float64(r.counted), 0)
		}
		if r.memory > 0 {
			b.FactAt(p.subject, evidence.FactRequestMemory, r.text, r.memory, 0)
		}
		if i >= 10 {
			continue
		}
		slices.Sort(r.durations)
		row := []string{r.text, strconv.FormatInt(r.n, 10), "", "", "", "", ""}
		if n := len(r.durations); n > 0 {
			row[2] = fmt.Sprintf("%.3f", r.took/float64(r.n)/1e6)
			row[3], row[4] = fmt.Sprintf("%.3f", r.durations[n/2]/1e6), fmt.Sprintf("%.3f", r.durations[min(n-1, n*99/100)]/1e6)
		}
		if r.counted > 0 {
			row[5] = fmt.Sprintf("%.3f", r.cpu/float64(r.counted)/1e6)
		}
		if r.memory > 0 {
			row[6] = fmt.Sprintf("%.1f", r.memory/(1<<20))
		}
		table.Rows = append(table.Rows, row)
	}
	if p.own > 0 {
		table.Rows = append(table.Rows, []string{"FPM's own pages (status, ping), which count as no requests", strconv.FormatInt(p.own, 10), "", "", "", "", ""})
	}
	b.Table(table)
	if p.timed == 0 && p.n > 0 {
		b.Warnf(0, "its lines hold no duration: set access.format = \"%%R - %%u %%t \\\"%%m %%r%%Q%%q\\\" %%s %%f %%{milli}d %%{kilo}M %%C%%%%\"")
	}
	if p.strange > 0 {
		b.Warnf(p.first, "lines not understood: %d of %d; the first is line %d", p.strange, p.lines, p.first)
	}
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverRequests, From: p.from, Until: max(p.until, p.from+1)})
}
