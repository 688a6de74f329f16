package phpfpm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Status reads answers of the status page.
var Status = format.Format{
	Name:  "phpfpm-status",
	About: "PHP-FPM's status page, text or JSON, with ?full too, one answer or many",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		if _, _, ok := parseStamp(head); ok {
			return format.Sure
		}
		text := bytes.TrimLeft(head, " \t\r\n")
		if bytes.HasPrefix(text, []byte("pool:")) && bytes.Contains(text[:min(len(text), 200)], []byte("process manager:")) ||
			isAnswer(text) {
			return format.Sure
		}
		return format.No
	},
	Parse: parseStatus,
}

// isAnswer says whether text begins with an answer in JSON, on one line or on many.
func isAnswer(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"pool"`)) && bytes.Contains(text[:min(len(text), 500)], []byte(`"process manager"`))
}

// parseStamp reads the line above an answer.
func parseStamp(line []byte) (at int64, pid int, ok bool) {
	first, _, _ := bytes.Cut(line, []byte("\n"))
	return format.Stamp(first, "php-fpm status")
}

// answer is one of the status page.
type answer struct {
	Pool     string   `json:"pool"`
	Manager  string   `json:"process manager"`
	Accepted *float64 `json:"accepted conn"`
	Queue    *float64 `json:"listen queue"`
	QueueLen *float64 `json:"listen queue len"`
	Idle     *float64 `json:"idle processes"`
	Active   *float64 `json:"active processes"`
	Total    *float64 `json:"total processes"`
	Reached  *float64 `json:"max children reached"`
	Slow     *float64 `json:"slow requests"`
}

// gauge is a pool at a moment; NaN is unknown.
type gauge struct {
	t                            int64
	active, total, queue, served float64
}

type pool struct {
	name, manager string
	line          int64
	at            []gauge
	reached       float64 // how often all allowed workers were busy, since its start; NaN unknown
}

type statusParser struct {
	b       *evidence.Builder
	pid     int
	now     int64 // of the answer being read, 0 unknown
	pools   map[string]*pool
	order   []*pool
	last    *pool
	text    map[string]string // of an answer in text
	buf     []byte            // of one in JSON
	depth   int
	quoted  bool
	escaped bool
	from    int64 // line of the answer
	n       int
	strange int64
	first   int64
	dropped int64
}

func parseStatus(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &statusParser{b: b, pools: make(map[string]*pool)}
	err := a.Lines(func(l format.Line) bool {
		if l.Long || !p.parseLine(l.Text, l.Number) {
			p.countUnparsed(l.Number)
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	p.endAnswer()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, format.ErrCut):
		return err
	case len(p.order) == 0:
		return errors.New("php-fpm status: it holds no whole answer of a pool")
	case err != nil || p.depth > 0:
		b.Warnf(0, "the file is incomplete")
		b.Cut()
	}
	p.emitPools()
	return nil
}

func (p *statusParser) countUnparsed(line int64) {
	if p.strange++; p.strange == 1 {
		p.first = line
	}
}

func (p *statusParser) parseLine(text []byte, number int64) bool {
	if at, pid, ok := parseStamp(text); ok {
		p.endAnswer()
		p.now, p.last = at, nil
		if p.pid == 0 {
			p.pid = pid
		}
		return true
	}
	if p.depth > 0 || len(text) > 0 && text[0] == '{' {
		if p.depth == 0 {
			p.endAnswer()
			p.from = number
		}
		return p.parseJSON(text)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] == '*' { // between the workers of ?full
		return true
	}
	key, value, ok := bytes.Cut(text, []byte(":"))
	if !ok {
		return false
	}
	value = bytes.TrimSpace(value)
	if name, ok := bytes.CutPrefix(key, []byte("listen queue of ")); ok {
		p.endAnswer()
		x, n := p.pools[clipName(name)], int64(0)
		if n, ok = parseWhole(value); !ok || x == nil || len(x.at) == 0 || x.at[len(x.at)-1].t != p.now {
			return false
		}
		x.at[len(x.at)-1].queue = float64(n)
		return true
	}
	if string(key) == "pool" {
		p.endAnswer()
		p.text, p.from = make(map[string]string), number
	}
	if p.text == nil {
		return false
	}
	if _, told := p.text[string(key)]; !told && len(p.text) < 64 && len(key) < 64 {
		p.text[string(key)] = clipName(value)
	}
	return true
}

// parseJSON reads a line of an answer in JSON. FPM writes one line; tools that format it make
// many.
func (p *statusParser) parseJSON(text []byte) bool {
	if len(p.buf)+len(text) > format.MaxLine {
		p.buf, p.depth, p.quoted = nil, 0, false
		return false
	}
	p.buf = append(append(p.buf, text...), '\n')
	for _, c := range text {
		switch {
		case p.escaped:
			p.escaped = false
		case p.quoted:
			p.escaped, p.quoted = c == '\\', c != '"'
		case c == '"':
			p.quoted = true
		case c == '{' || c == '[':
			p.depth++
		case c == '}' || c == ']':
			p.depth--
		}
	}
	p.quoted, p.escaped = false, false // no string goes on in the next line
	if p.depth > 0 {
		return true
	}
	var x answer
	err := json.Unmarshal(p.buf, &x)
	p.buf, p.depth = p.buf[:0], 0
	return err == nil && p.addAnswer(&x)
}

// endAnswer adds the answer in text that was read, if there is one.
func (p *statusParser) endAnswer() {
	if p.text == nil {
		return
	}
	number := func(key string) *float64 {
		if n, ok := parseWhole([]byte(p.text[key])); ok && p.text[key] != "" {
			v := float64(n)
			return &v
		}
		return nil
	}
	x := answer{Pool: p.text["pool"], Manager: p.text["process manager"], Accepted: number("accepted conn"), Queue: number("listen queue"), QueueLen: number("listen queue len"),
		Idle: number("idle processes"), Active: number("active processes"), Total: number("total processes"), Reached: number("max children reached"), Slow: number("slow requests")}
	p.text = nil
	if !p.addAnswer(&x) {
		p.countUnparsed(p.from)
	}
}

// addAnswer adds an answer; false if it is none.
func (p *statusParser) addAnswer(x *answer) bool {
	known := func(v *float64) float64 {
		if v == nil || !(*v >= 0 && *v <= 1e15) {
			return math.NaN()
		}
		return *v
	}
	g := gauge{t: p.now, active: known(x.Active), total: known(x.Total), queue: known(x.Queue), served: known(x.Accepted)}
	if x.Pool == "" || math.IsNaN(g.active) || math.IsNaN(g.total) {
		return false
	}
	if known(x.QueueLen) == 0 { // for a UNIX socket FPM does not know it
		g.queue = math.NaN()
	}
	name := clipName([]byte(x.Pool))
	y := p.pools[name]
	if y == nil {
		if len(p.pools) == mostPools {
			p.dropped++
			return true
		}
		y = &pool{name: name, line: max(1, p.from)}
		p.pools[name] = y
		p.order = append(p.order, y)
	}
	y.manager, y.reached = clipName([]byte(x.Manager)), known(x.Reached)
	switch {
	case g.t == 0 && len(y.at) > 0 && y.at[len(y.at)-1].t == 0:
		y.at[len(y.at)-1] = g // the newest holds
	case p.n == mostReadings:
		p.dropped++
	default:
		p.n++
		y.at = append(y.at, g)
	}
	return true
}

func (p *statusParser) emitPools() {
	b := p.b
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: runtime, PID: p.pid})
	table := evidence.Table{Title: "php-fpm status", Columns: []string{"pool", "manager", "readings", "max active", "of", "max waiting", "max children reached"}}
	var from, until int64
	var line int64
	untimed := false
	for _, x := range p.order {
		sorting.Short(x.at, func(r, s gauge) int { return cmp.Compare(r.t, s.t) })
		for i := range x.at {
			if x.at[i].t == 0 {
				x.at[i].t, untimed = b.Modified(), true
			}
		}
		x.at = slices.CompactFunc(x.at, func(r, s gauge) bool { return r.t == s.t })
		if x.at[0].t == 0 {
			b.Warnf(x.line, "an answer of the status page without a time is left out: print one above it, for example with: date -u")
			continue
		}
		row := []string{x.name, x.manager, fmt.Sprint(len(x.at))}
		for _, s := range []struct {
			name string
			of   func(*gauge) float64
			show bool
		}{
			{evidence.SeriesClientPoolUsed, func(g *gauge) float64 { return g.active }, true},
			{evidence.SeriesClientPoolMax, func(g *gauge) float64 { return x.maxWorkers() }, true},
			{evidence.SeriesClientPoolWaits, func(g *gauge) float64 { return g.queue }, true},
		} {
			series := evidence.Series{Subject: subject, Name: s.name + ":" + poolName(x.name), Unit: "workers", Origin: b.Origin(x.line)}
			highest := math.NaN()
			for i := range x.at {
				if v := s.of(&x.at[i]); !math.IsNaN(v) {
					series.T, series.V = append(series.T, x.at[i].t), append(series.V, v)
					if !(highest >= v) {
						highest = v
					}
				}
			}
			if len(series.T) > 0 {
				b.Series(series)
			}
			row = append(row, formatFigure(highest))
		}
		if x.reached > 0 {
			b.FactAt(subject, evidence.FactWorkersReached, x.name, x.reached, x.line)
		}
		table.Rows = append(table.Rows, append(row, formatFigure(x.reached)))
		if from == 0 || x.at[0].t < from {
			from, line = x.at[0].t, x.line
		}
		until = max(until, x.at[len(x.at)-1].t)
	}
	b.Table(table)
	if from > 0 {
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverPool, From: from, Until: max(until, from+1), Sampled: p.meanInterval(until - from), Origin: b.Origin(line)})
	}
	if untimed {
		b.Warnf(0, "its answers have no time: that of the file was taken")
	}
	if p.strange > 0 {
		b.Warnf(p.first, "lines not understood: %d; the first is line %d", p.strange, p.first)
	}
	if p.dropped > 0 {
		b.Warnf(0, "it holds too many answers: %d left out", p.dropped)
	}
}

// meanInterval returns the mean time between two answers, ns.
func (p *statusParser) meanInterval(span int64) int64 {
	most := 0
	for _, x := range p.order {
		most = max(most, len(x.at))
	}
	return max(1, span/int64(max(1, most-1)))
}

// maxWorkers returns how many workers a pool may have, as far as the status page shows it: a static
// pool always has all. The maximum of other pools is known once it was reached, since they end
// only idle workers; NaN before.
func (x *pool) maxWorkers() float64 {
	total := 0.
	for i := range x.at {
		total = max(total, x.at[i].total)
	}
	if strings.EqualFold(x.manager, "static") || x.reached > 0 {
		return total
	}
	return math.NaN()
}

func formatFigure(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.4g", v)
}
