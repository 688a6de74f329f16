package loadresult

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/format"
)

// Bounds of what one artifact may hold.
const (
	maxRows   = 10_000_000
	maxRoutes = 10_000
)

// row is a request as in its line. Times are ns.
type row struct {
	start, end int64 // start is the intended time if rows.intended is true
	lag        int64 // the generator's own delay after an intended start
	line       int64
	route      evidence.NameID
	step       evidence.NameID
	outcome    evidence.Outcome
}

// rows are the requests of an artifact with a line for each.
type rows struct {
	p        *parser
	all      []row
	routes   map[evidence.NameID]struct{}
	steps    map[evidence.NameID]struct{}
	codes    [601]int64 // by status; the last: no answer
	noCode   int64      // the lines do not say whether there was an answer
	bytesIn  float64
	dropped  int64 // beyond maxRows
	unknown  int64 // lines not understood
	firstUnk int64
	lastLine int64
	cut      bool
	intended bool // the rows have the intended time of each request
	scratch  []byte
	path     evidence.Path
}

// codeUnknown is the status of a request whose line has none.
const codeUnknown = -1

func newRows(p *parser) *rows {
	return &rows{p: p, routes: make(map[evidence.NameID]struct{})}
}

func (rs *rows) add(r row, code int64) {
	if len(rs.all) >= maxRows {
		rs.dropped++
		return
	}
	rs.all = append(rs.all, r)
	switch {
	case code == codeUnknown:
		rs.noCode++
	case code < 100 || code > 599:
		rs.codes[len(rs.codes)-1]++
	default:
		rs.codes[code]++
	}
}

// readLines gives each line to f, which says whether it was understood. A last line that is not
// understood was cut while it was written.
func (rs *rows) readLines(a *format.Artifact, f func(text []byte, line int64) bool) error {
	bad := int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number%4096 == 0 && rs.p.ctx.Err() != nil {
			return false
		}
		if len(l.Text) == 0 {
			return true
		}
		if bad != 0 {
			if rs.unknown++; rs.firstUnk == 0 {
				rs.firstUnk = bad
			}
			bad = 0
		}
		if l.Long || !f(l.Text, l.Number) {
			bad = l.Number
		}
		rs.lastLine = l.Number
		return true
	})
	if rs.p.ctx.Err() != nil {
		return rs.p.ctx.Err()
	}
	if errors.Is(err, format.ErrCut) {
		rs.cut, err = true, nil
	}
	rs.cut = rs.cut || bad != 0
	return err
}

// routeName names a request by its method and path: without query, and with {id} for segments that
// are numbers, UUIDs or a load's counter ("{n}", "{n%300}"), as all who see the same request name it. Past 10,000 names they stay unknown.
func (rs *rows) routeName(method, url []byte) evidence.NameID {
	if i := bytes.Index(url, []byte("://")); i >= 0 {
		url = url[i+3:]
		if j := bytes.IndexByte(url, '/'); j >= 0 {
			url = url[j:]
		} else {
			url = []byte("/")
		}
	}
	if i := bytes.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	if len(url) > 512 {
		url = url[:512]
	}
	s := rs.scratch[:0]
	if len(method) > 0 && len(url) > 0 {
		s = append(append(s, method...), ' ')
	}
	for len(url) > 0 {
		segment := url
		if i := bytes.IndexByte(url[1:], '/'); i >= 0 {
			segment = url[:i+1]
		}
		url = url[len(segment):]
		if segment[0] == '/' && (isID(segment[1:]) || isCounter(segment[1:])) {
			s = append(s, "/{id}"...)
			continue
		}
		for len(segment) > 0 { // a counter is a part of it
			i := bytes.Index(segment, []byte("{n%"))
			until := bytes.IndexByte(segment[max(0, i):], '}')
			if i < 0 || until < 0 {
				s = append(s, segment...)
				break
			}
			s = append(append(s, segment[:i]...), "{n}"...)
			segment = segment[i+until+1:]
		}
	}
	rs.scratch = s
	if len(rs.routes) >= maxRoutes {
		return 0
	}
	id := rs.p.b.NameBytes(s)
	rs.routes[id] = struct{}{}
	return id
}

// isCounter says whether a segment of a path is nothing but a load's counter.
func isCounter(segment []byte) bool {
	inner, is := bytes.CutPrefix(segment, []byte("{n"))
	return is && (len(inner) == 1 || inner[0] == '%') && bytes.IndexByte(inner, '}') == len(inner)-1
}

// stepName names the step of a journey that a request belongs to. Past 10,000 names they stay
// unknown.
func (rs *rows) stepName(journey, step []byte) evidence.NameID {
	if len(journey) == 0 && len(step) == 0 {
		return 0
	}
	s := append(rs.scratch[:0], journey[:min(len(journey), 200)]...)
	if len(journey) > 0 && len(step) > 0 {
		s = append(s, ": "...)
	}
	s = append(s, step[:min(len(step), 200)]...)
	rs.scratch = s
	if len(rs.steps) >= maxRoutes {
		return 0
	}
	id := rs.p.b.NameBytes(s)
	if rs.steps == nil {
		rs.steps = make(map[evidence.NameID]struct{})
	}
	rs.steps[id] = struct{}{}
	return id
}

func isID(b []byte) bool {
	uuid := len(b) == 36 && b[8] == '-' && b[13] == '-'
	for _, c := range b {
		hex := c >= '0' && c <= '9' || uuid && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == '-')
		if !hex {
			return false
		}
	}
	return len(b) > 0
}

// timedOut says whether an error text is about waiting too long, as Go words it.
func timedOut(text []byte) bool {
	return bytes.Contains(text, []byte("imeout")) || bytes.Contains(text, []byte("deadline exceeded")) || bytes.Contains(text, []byte("timed out"))
}

func decideOutcome(code int64, failure []byte) evidence.Outcome {
	switch {
	case timedOut(failure):
		return evidence.TimedOut
	case code < 200 || code >= 400 || len(failure) > 0:
		return evidence.Failed
	}
	return evidence.OK
}

// finish emits the requests in order of completion, the coverage, and the result that they add up
// to; it returns false if there are none.
func (rs *rows) finish(r *run) bool {
	p := rs.p
	if rs.cut {
		p.markCut(rs.lastLine)
	}
	if rs.unknown > 0 {
		p.b.Warnf(rs.firstUnk, "%s not understood and left out", format.Count(rs.unknown, "line was", "lines were"))
	}
	if rs.dropped > 0 {
		p.b.Warnf(0, "only the first %d requests were read; %d are left out", maxRows, rs.dropped)
	}
	if len(rs.all) == 0 {
		return false
	}
	byEnd := func(a, b row) int { return cmp.Compare(a.end, b.end) }
	if !slices.IsSortedFunc(rs.all, byEnd) {
		slices.SortStableFunc(rs.all, byEnd)
	}
	subject := p.b.Subject(evidence.Subject{Address: urlHost(r.URL)})
	from, until := rs.all[0].start, rs.all[len(rs.all)-1].end
	lastStart := from
	for _, q := range rs.all {
		from, lastStart = min(from, q.start), max(lastStart, q.start)
		p.b.Request(rs.toRequest(&q, subject))
	}
	p.b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverRequests, From: from, Until: until, Lost: rs.dropped, Origin: p.b.Origin(1)})
	rs.emitFailedStatus(subject, from, until)
	rs.sumTotals(r, from, lastStart, until)
	p.emitRun(r)
	rs.emitJourneys()
	return true
}

// emitFailedStatus tells the status that most failed requests were answered with.
func (rs *rows) emitFailedStatus(subject evidence.SubjectID, from, until int64) {
	errors := rs.codes[400:600]
	if most := slices.Max(errors); most > 0 {
		rs.p.b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactFailedStatus, Value: strconv.Itoa(400 + slices.Index(errors, most)), Number: float64(most), From: from, Until: until, Origin: rs.p.b.Origin(1)})
	}
}

const shownSteps = 100

// emitJourneys emits a table of the steps, at most a hundred in order of their first request:
// the latency of the requests of each. A page with its resources takes longer than any
// single request.
func (rs *rows) emitJourneys() {
	if len(rs.steps) == 0 {
		return
	}
	var order []evidence.NameID
	latency := map[evidence.NameID][]int64{}
	for _, q := range rs.all {
		if q.step == 0 {
			continue
		}
		if latency[q.step] == nil {
			order = append(order, q.step)
		}
		latency[q.step] = append(latency[q.step], q.end-q.start)
	}
	t := evidence.Table{Title: "requests of the steps of journeys", Columns: []string{"step", "latency"}}
	for _, step := range order[:min(len(order), shownSteps)] {
		all := latency[step]
		slices.Sort(all)
		t.Rows = append(t.Rows, []string{rs.p.b.Text(step), fmt.Sprintf("%s · p50 %s · max %s", units.Plural(len(all), "request"),
			units.Time(float64(stats.Quantile(all, .5))), units.Time(float64(all[len(all)-1])))})
	}
	rs.p.b.Table(t)
}

// urlHost returns the host and port of a URL, "" without one: loads on one address are on one
// service.
func urlHost(of string) string {
	u, err := url.Parse(of)
	if err != nil {
		return ""
	}
	return u.Host
}

// toRequest returns a row as evidence. The generator's delay becomes its first state.
func (rs *rows) toRequest(q *row, subject evidence.SubjectID) evidence.Request {
	r := evidence.Request{Subject: subject, Route: q.route, Start: q.start, End: q.end, Outcome: q.outcome, Step: q.step, Origin: rs.p.b.Origin(q.line)}
	if !rs.intended {
		return r
	}
	r.Intended, r.Start = q.start, 0
	if q.lag > 0 {
		rs.path = rs.path[:0].Append(evidence.Segment{Kind: evidence.SentLate, Dur: q.lag}).
			Append(evidence.Segment{Kind: evidence.Unobserved, Dur: q.end - q.start - q.lag})
		r.Path = rs.path
	}
	return r
}

// sumTotals computes the totals of the run from the rows.
func (rs *rows) sumTotals(r *run, from, lastStart, until int64) {
	n := int64(len(rs.all))
	r.Origin = rs.p.b.Origin(1)
	r.FromSend = !rs.intended
	r.counted = true
	r.Sent = n
	r.Duration = until - from
	if r.Mode == "open" && r.unsent == 0 && lastStart > from {
		r.Offered = float64(n) / (float64(lastStart-from) / 1e9)
	}
	for code, c := range rs.codes {
		if c > 0 {
			r.addCode(statusClass(int64(code)), c)
		}
	}
	r.Completed = r.countAnswered() + rs.noCode
	if r.Duration > 0 {
		r.Rate = float64(r.Completed) / (float64(r.Duration) / 1e9)
		r.BytesPerS = rs.bytesIn / (float64(r.Duration) / 1e9)
	}
	latency := make([]int64, n)
	var sum, squares float64
	for i, q := range rs.all {
		latency[i] = q.end - q.start
		sum += float64(latency[i])
		switch q.outcome {
		case evidence.TimedOut:
			r.Timeouts++
			r.Errors++
		case evidence.Failed:
			r.Errors++
		}
	}
	mean := sum / float64(n)
	for _, l := range latency {
		squares += (float64(l) - mean) * (float64(l) - mean)
	}
	r.Mean, _ = roundNanoseconds(mean)
	if n > 1 {
		r.Stdev, _ = roundNanoseconds(math.Sqrt(squares / float64(n-1)))
	}
	slices.Sort(latency)
	r.Max = latency[n-1]
	for _, q := range []float64{.5, .75, .9, .95, .99, .999, .9999} {
		if float64(n)*(1-q) >= 1 { // with fewer requests it is the maximum under another name
			r.addQuantile(q, stats.Quantile(latency, q))
		}
	}
}
