package loadresult

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// hey and oha are closed loops and count from the send. oha prints hey's summary
// with a success rate and with units of its own. Both leave requests without an
// answer out of the latencies, and hey all beyond the first million.
// answer out of the latencies, and hey all beyond the first million.

func newHey() *run {
	r := &run{}
	r.Tool = "hey"
	r.section = "summary"
	r.Mode = "closed"
	r.FromSend = true
	return r
}

// heyStarts demands more than "Summary:", which other programs print, too.
func heyStarts(line string, cur *run) bool {
	begin := strings.TrimSpace(line)
	if !strings.HasPrefix(begin, "Success") && !strings.HasPrefix(begin, "Total:") {
		return false
	}
	f := strings.Fields(line)
	switch {
	case len(f) != 3:
		return false
	case f[0] == "Success" && f[1] == "rate:":
		return true
	}
	return f[0] == "Total:" && f[2] == "secs" && (cur == nil || cur.Duration > 0)
}

func heyText(r *run, line string) bool {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "":
		return true
	case line[0] != ' ' && line[0] != '\t' && strings.HasSuffix(trimmed, ":"):
		r.section = strings.ToLower(strings.TrimSuffix(trimmed, ":"))
		return true
	}
	switch r.section {
	case "summary":
		name, value, ok := strings.Cut(trimmed, ":")
		return ok && r.heyFigure(name, strings.TrimSpace(value))
	case "latency distribution", "response time distribution":
		p, value, ok := strings.Cut(trimmed, " in ")
		q, ok2 := parsePercent(strings.TrimSpace(p))
		v, ok3 := parseDuration(value)
		if ok && ok2 && ok3 && v > 0 { // hey prints 0 where it has too few requests
			r.addQuantile(q, v)
		}
		return ok && ok2 && ok3
	case "status code distribution":
		code, n, ok := splitBracketed(trimmed)
		c, ok2 := parseCount(strings.TrimSuffix(strings.TrimSuffix(n, "s"), " response"))
		k, ok3 := parseCount(code)
		if ok = ok && ok2 && ok3; ok {
			r.counted = true
			r.addCode(statusClass(k), c)
			r.Completed = r.countAnswered()
			r.Errors += heyFailed(k, c)
			r.Sent += c
		}
		return ok
	case "error distribution":
		n, text, ok := splitBracketed(trimmed)
		c, ok2 := parseCount(n)
		if ok = ok && ok2; ok && !strings.Contains(text, "aborted due to deadline") { // oha's, for what ran when it stopped
			r.counted = true
			r.Errors += c
			r.Sent += c
			r.addCode("other", c)
			if timedOut([]byte(text)) {
				r.Timeouts += c
			}
		}
		return ok
	}
	return true // histograms and details
}

func heyFailed(code, n int64) int64 {
	if code >= 200 && code < 400 {
		return 0
	}
	return n
}

func (r *run) heyFigure(name, value string) (ok bool) {
	switch name {
	case "Success rate":
		r.Tool = "oha"
		return true
	case "Total":
		r.Duration, ok = parseDuration(value)
	case "Slowest":
		r.Max, ok = parseDuration(value)
	case "Average":
		r.Mean, ok = parseDuration(value)
	case "Requests/sec":
		r.Rate, ok = parseScaled(value, 1000)
	case "Total data":
		v, isV := parseScaled(strings.TrimSuffix(value, "bytes"), 1024)
		if ok = isV || r.Tool == "oha"; isV && r.Duration > 0 {
			r.BytesPerS = v / (float64(r.Duration) / 1e9)
		}
	default:
		return true
	}
	return ok
}

// splitBracketed splits "[200]	1000 responses".
func splitBracketed(s string) (inside, rest string, ok bool) {
	inside, rest, ok = strings.Cut(strings.TrimPrefix(s, "["), "]")
	return inside, strings.TrimSpace(rest), ok && s[0] == '['
}

// heyMillion corrects for hey's limit: it keeps latencies and status codes
// of only the first million answers.
func (r *run) heyMillion() {
	const kept = 1_000_000
	n := int64(math.Round(r.Rate * float64(r.Duration) / 1e9))
	if r.countAnswered() != kept || n <= kept+kept/1000 {
		return
	}
	r.Sent, r.Completed = n, n-r.Codes["other"]
	r.warn = append(r.warn, "hey keeps only its first million responses: status codes, errors and all latencies cover only those")
}

// heyWithoutCodes counts the requests by the rate, which is of all of them, if the list of status codes is not there: the list of errors alone has only
// those that failed. Answers with a status of an error are not known then.
func (r *run) heyWithoutCodes() {
	n := int64(math.Round(r.Rate * float64(r.Duration) / 1e9))
	if r.Completed > 0 || r.Mean == 0 || n <= r.Sent {
		return
	}
	r.Sent, r.Completed = n, n-r.Codes["other"]
}

// heyWhole checks that the distributions at the end add up to what the rate says.
func heyWhole(r *run) bool {
	n := r.Rate * float64(r.Duration) / 1e9
	return r.counted && math.Abs(float64(r.Sent)-n) <= 1+n/1000
}

const heyHeader = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"

// heyCSV reads -o csv: seconds with four decimals; offset is when a request was
// sent, since the start of the run, which is not in the file.
func (p *parser) heyCSV(a *format.Artifact) error {
	rs := newRows(p)
	c := p.b.Clock()
	c.Name, c.Error, c.Resolution, c.Stamp = "since the load began", evidence.Unanchored, 1e5, evidence.StampStart
	err := rs.readLines(a, func(text []byte, line int64) bool {
		return string(text) == heyHeader || rs.heyRow(text, line)
	})
	if err != nil {
		return err
	}
	if !rs.finish(newHey()) {
		return errors.New("holds no requests: none was answered, or the file was cut before the first")
	}
	return nil
}

func (rs *rows) heyRow(text []byte, line int64) bool {
	var f [8][]byte
	for i := range f {
		var more bool
		if f[i], text, more = bytes.Cut(text, []byte(",")); more != (i < 7) {
			return false
		}
	}
	took, ok := parseSeconds(f[0])
	code, ok2 := parseNatural(f[6])
	start, ok3 := parseSeconds(f[7])
	if !ok || !ok2 || !ok3 {
		return false
	}
	start++ // time 0 is unknown
	rs.add(row{start: start, end: start + took, line: line, outcome: decideOutcome(code, nil)}, code)
	return true
}

// parseSeconds parses exactly four decimals: fewer were cut off.
func parseSeconds(b []byte) (int64, bool) {
	whole, frac, ok := bytes.Cut(b, []byte("."))
	if !ok || len(frac) != 4 || len(whole) > 9 {
		return 0, false
	}
	s, ok := parseNatural(whole)
	f, ok2 := parseNatural(frac)
	return s*1e9 + f*1e5, ok && ok2
}

// ohaJSON reads --output-format json (-j): seconds.
func ohaJSON(t tree) *run {
	r := newHey()
	r.Tool = "oha"
	r.Duration = t.durationAt(1e9, "summary", "total")
	r.Rate = t.rateAt("summary", "requestsPerSec")
	r.Mean = t.durationAt(1e9, "summary", "average")
	r.Max = t.durationAt(1e9, "summary", "slowest")
	r.BytesPerS = t.rateAt("summary", "sizePerSec")
	percentiles := t.treeAt("latencyPercentiles")
	for _, p := range slices.Sorted(maps.Keys(percentiles)) {
		if q, ok := parsePercent(strings.TrimPrefix(p, "p")); ok {
			r.addQuantile(q, percentiles.durationAt(1e9, p))
		}
	}
	codes, failures := t.treeAt("statusCodeDistribution"), t.treeAt("errorDistribution")
	for code := range codes {
		if c, ok := parseCount(code); ok {
			n := codes.countAt(code)
			r.addCode(statusClass(c), n)
			r.Errors += heyFailed(c, n)
		}
	}
	r.Completed = r.countAnswered()
	r.Sent = r.Completed
	for text := range failures {
		if n := failures.countAt(text); text != "aborted due to deadline" {
			r.Errors += n
			r.Sent += n
			r.addCode("other", n)
			if timedOut([]byte(text)) {
				r.Timeouts += n
			}
		}
	}
	r.counted = codes != nil
	if math.IsInf(r.Rate, 0) {
		r.Rate = 0
	}
	return r
}
