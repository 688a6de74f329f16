package loadresult

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/format"
)

// vegeta is an open loop and counts from the send (attack.go: Timestamp is taken
// when the request is built). Its "rate" is what it sent per second, its
// "throughput" counts successes only, so the achieved rate is computed from the
// status codes as for other tools. A status of 0 is no answer.

func newVegeta() *run {
	r := &run{}
	r.Tool = "vegeta"
	r.Mode = "open"
	r.FromSend = true
	return r
}

// vegetaJSON reads report -type=json: durations are in ns. Versions before
// 12 have no 90th percentile.
func vegetaJSON(t tree) *run {
	r := newVegeta()
	r.Sent = t.countAt("requests")
	r.Offered = t.rateAt("rate")
	r.Rate = t.rateAt("throughput")
	r.Duration = t.durationAt(1, "duration") + t.durationAt(1, "wait")
	r.Mean = t.durationAt(1, "latencies", "mean")
	r.Max = t.durationAt(1, "latencies", "max")
	for _, name := range slices.Sorted(maps.Keys(t.treeAt("latencies"))) {
		if p, ok := strings.CutSuffix(name, "th"); ok {
			if q, ok := parsePercent(p); ok {
				r.addQuantile(q, t.durationAt(1, "latencies", name))
			}
		}
	}
	codes := t.treeAt("status_codes")
	for code := range codes {
		r.vegetaCode(code, codes.countAt(code))
	}
	r.countTotals()
	if r.Duration > 0 {
		r.BytesPerS = t.rateAt("bytes_in", "total") / (float64(r.Duration) / 1e9)
	}
	return r
}

func (r *run) vegetaCode(code string, n int64) bool {
	c, ok := parseCount(code)
	if ok {
		r.addCode(statusClass(c), n)
	}
	return ok
}

// countTotals counts answers and failures by their codes, and the rate of the answers.
func (r *run) countTotals() {
	r.Completed = r.countAnswered()
	r.Errors = r.countFailed()
	r.counted = true
	if r.Duration > 0 {
		r.Rate = float64(r.Completed) / (float64(r.Duration) / 1e9)
	}
}

// vegetaStarts recognises the first line of report, "Requests [total, rate, throughput] …"; the
// rate came with version 6, the throughput with version 8.
func vegetaStarts(line string, cur *run) bool {
	line = strings.ReplaceAll(line, "\t", " ") // versions before 6 align by tabs
	if strings.HasPrefix(line, "Latencies ") && (strings.Contains(line, " [mean, 50,") || strings.Contains(line, " [min, mean,")) {
		return cur == nil || cur.Max > 0 // what grep leaves of several reports
	}
	return strings.HasPrefix(line, "Requests ") && (strings.Contains(line, "[total, rate") || strings.Contains(line, " [total] ")) ||
		vegetaHistStarts(line) || vegetaPlotStarts(line)
}

func vegetaHistStarts(line string) bool {
	return strings.HasPrefix(line, "Bucket") && slices.Equal(strings.Fields(line), []string{"Bucket", "#", "%", "Histogram"})
}

func vegetaPlotStarts(line string) bool {
	return strings.HasPrefix(line, "Value(ms)") && strings.Contains(line, "Percentile")
}

func vegetaText(r *run, line string) bool {
	line = strings.ReplaceAll(line, "\t", " ")
	switch {
	case vegetaHistStarts(line):
		r.section = "hist"
		return true
	case vegetaPlotStarts(line):
		r.section = "plot"
		return true
	case r.ended:
		return true
	case r.section == "hist":
		return r.vegetaBucket(line)
	case r.section == "plot":
		return r.vegetaPlot(line)
	case strings.TrimSpace(line) == "":
		return true
	case strings.HasPrefix(line, "Error Set:"):
		r.ended = true
		return true
	}
	name, rest, ok := strings.Cut(line, "[")
	labels, values, ok2 := strings.Cut(rest, "]")
	if !ok || !ok2 {
		return false
	}
	if name = strings.TrimSpace(name); name == "Status Codes" {
		for _, f := range strings.Fields(values) {
			code, n, _ := strings.Cut(f, ":")
			c, ok := parseCount(n)
			if !ok || !r.vegetaCode(code, c) {
				return false
			}
		}
		r.countTotals()
		r.ended = r.Sent == 0 // nothing of this report follows
		return true
	}
	label, value := strings.Split(labels, ", "), strings.Split(values, ", ")
	if len(label) != len(value) {
		return false
	}
	for i := range label {
		if !r.vegetaFigure(name, label[i], strings.TrimSpace(value[i])) {
			return false
		}
	}
	return true
}

func (r *run) vegetaFigure(name, label, value string) (ok bool) {
	switch name + " " + label {
	case "Requests total":
		r.Sent, ok = parseCount(value)
	case "Requests rate":
		r.Offered, ok = parseScaled(value, 1000)
	case "Requests throughput":
		r.Rate, ok = parseScaled(value, 1000)
	case "Duration total":
		r.Duration, ok = parseDuration(value)
	case "Latencies mean":
		r.Mean, ok = parseDuration(value)
	case "Latencies max":
		r.Max, ok = parseDuration(value)
	case "Bytes In total":
		var n int64
		if n, ok = parseCount(value); ok && r.Duration > 0 {
			r.BytesPerS = float64(n) / (float64(r.Duration) / 1e9)
		}
	default:
		if name != "Latencies" || label == "min" {
			return true
		}
		q, isQ := parsePercent(label)
		v, isV := parseDuration(value)
		if ok = isQ && isV; ok {
			r.addQuantile(q, v)
		}
	}
	return ok
}

// vegetaBucket reads "[2ms,   4ms]   5505  29.92%  #####": how many requests
// took less than the bucket's end is a point of their distribution. The last
// bucket, to +Inf, says how many there were.
func (r *run) vegetaBucket(line string) bool {
	if strings.TrimSpace(line) == "" {
		return true
	}
	bounds, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "]")
	_, end, ok2 := strings.Cut(bounds, ",")
	fields := strings.Fields(rest)
	if !ok || !ok2 || len(fields) < 2 || !strings.HasSuffix(fields[1], "%") {
		return false
	}
	n, ok := parseCount(fields[0])
	if !ok {
		return false
	}
	if k := len(r.below); k > 0 {
		n += r.below[k-1].n
	}
	if end = strings.TrimSpace(end); end != "+Inf" {
		v, ok := parseDuration(end)
		if ok && len(r.below) < 1000 {
			r.below = append(r.below, bound{v, n})
		}
		return ok
	}
	r.Completed, r.ended = n, true
	for _, b := range r.below {
		if b.n > 0 && b.n < n {
			r.addQuantile(float64(b.n)/float64(n), b.ns)
		}
	}
	return true
}

// bound says how many requests took less than some time.
type bound struct{ ns, n int64 }

// vegetaPlot reads "2.437924   0.500000    100         2.000000": ms, share,
// count. Points beyond which lies less than one request are the maximum again.
func (r *run) vegetaPlot(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return true
	}
	if len(fields) != 4 {
		return false
	}
	ms, err1 := strconv.ParseFloat(fields[0], 64)
	q, err2 := strconv.ParseFloat(fields[1], 64)
	n, isN := parseCount(fields[2])
	v, isV := roundNanoseconds(ms * 1e6)
	if err1 != nil || err2 != nil || !isN || !isV || !(q >= 0 && q <= 1) {
		return false
	}
	switch {
	case q == 1:
		r.Max, r.Completed, r.ended = v, n, true
	case q > 0 && (1-q)*float64(n)/q >= 1:
		r.addQuantile(q, v)
	}
	return true
}

func vegetaWhole(r *run) bool { return r.ended || r.Sent == 0 && r.Max > 0 }

// isVegetaGob recognises attack's own output, Go's gob, which describes
// the type before the first value.
func isVegetaGob(head []byte) bool {
	head = head[:min(len(head), 1024)]
	for _, name := range []string{"Result", "Attack", "Seq", "Timestamp", "BytesOut"} {
		if !bytes.Contains(head, []byte(name)) {
			return false
		}
	}
	return bytes.IndexByte(head, 0) >= 0
}

func (p *parser) vegetaGob(a *format.Artifact) error {
	return errors.New("is vegeta's binary form: run `vegeta encode " + a.Name + " > results.json` and give that file")
}
