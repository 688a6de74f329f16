package loadresult

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

const maxRuns = 1000

// run is one result while it is read.
type run struct {
	evidence.LoadResult
	counted bool                // Errors is known, even if it is 0
	unsent  int64               // planned requests that were never sent
	fromRaw []evidence.Quantile // wrk2 -U: the same run counted from the send
	below   []bound             // vegeta's histogram so far
	notes   [][2]string         // further rows for inspect
	columns int                 // of percentiles, in a table of them alone
	head    []string            // of the columns of autocannon's table that is read
	warn    []string
	section string // where in a text the reader is
	ended   bool   // the last line was seen
}

func (r *run) addQuantile(q float64, v int64) {
	if q > 0 && q <= 1 && len(r.Quantiles) < 1000 {
		r.Quantiles = append(r.Quantiles, evidence.Quantile{Q: q, Ns: v})
	}
}

func (r *run) addCode(class string, n int64) {
	if r.Codes == nil {
		r.Codes = map[string]int64{}
	}
	r.Codes[class] += n
}

// countFailed counts the answers that were neither 2xx nor 3xx.
func (r *run) countFailed() int64 {
	return r.Codes["1xx"] + r.Codes["4xx"] + r.Codes["5xx"] + r.Codes["other"]
}

// clone returns a copy that can be changed.
func (r *run) clone() *run {
	c := *r
	c.Codes = maps.Clone(r.Codes)
	c.Quantiles = slices.Clone(r.Quantiles)
	c.fromRaw = slices.Clone(r.fromRaw)
	c.below = slices.Clone(r.below)
	c.warn = slices.Clone(r.warn)
	return &c
}

// countAnswered counts the requests that got a status.
func (r *run) countAnswered() (n int64) {
	for class, c := range r.Codes {
		if class != "other" {
			n += c
		}
	}
	return n
}

// isEmpty says whether a text broke off before its first figure.
func (r *run) isEmpty() bool {
	return len(r.Quantiles) == 0 && r.Mean == 0 && r.Completed == 0 && r.Rate == 0
}

func (p *parser) emitRun(r *run) {
	if p.runs >= maxRuns {
		p.b.Warnf(0, "only the first %d results were read", maxRuns)
		return
	}
	if r.isEmpty() {
		return
	}
	p.runs++
	if r.Tool == "hey" {
		r.heyMillion()
	}
	if r.Tool == "hey" || r.Tool == "oha" {
		r.heyWithoutCodes()
	}
	r.deriveFigures()
	p.b.Load(r.LoadResult)
	p.b.Table(r.toTable())
	for _, w := range r.warn {
		p.b.Warnf(r.Origin.Position(), "%s", w)
	}
}

// deriveFigures sorts the quantiles and derives further figures.
func (r *run) deriveFigures() {
	byShare := func(a, b evidence.Quantile) int { return cmp.Compare(a.Q, b.Q) }
	slices.SortStableFunc(r.Quantiles, byShare)
	slices.SortStableFunc(r.fromRaw, byShare)
	r.Quantiles = slices.CompactFunc(r.Quantiles, func(a, b evidence.Quantile) bool { return a.Q == b.Q })
	if n := len(r.Quantiles); n > 0 && r.Quantiles[n-1].Q >= 1 {
		r.Max = max(r.Max, r.Quantiles[n-1].Ns)
		r.Quantiles = r.Quantiles[:n-1]
	}
	if r.Rate == 0 && r.Duration > 0 {
		r.Rate = float64(r.Completed) / (float64(r.Duration) / 1e9)
	}
	if r.Duration == 0 && r.Rate > 0 && r.Completed > 0 {
		r.Duration, _ = roundNanoseconds(float64(r.Completed) / r.Rate * 1e9)
	}
}

// The meaning, depending on the moment that the latency is counted from.
const (
	fromIntended   = "the intended send time: waiting to be sent is included"
	fromSend       = "the actual send time: waiting to be sent is not included"
	fromSendClosed = "the actual send time: during a stall no requests are sent, so their wait is not included"
)

func (r *run) toTable() evidence.Table {
	t := evidence.Table{Title: "load result of " + r.Tool, Columns: []string{"figure", "value"}}
	row := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, []string{name, value})
		}
	}
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	rate := func(v float64, unit string) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) + unit
	}
	row("tool", r.Tool)
	row("url", r.URL)
	row("mode", r.Mode)
	row("connections", number(int64(r.Connection)))
	row("duration", formatDuration(r.Duration))
	row("offered", rate(r.Offered, "/s"))
	row("achieved", rate(r.Rate, "/s"))
	row("sent", number(r.Sent))
	row("never sent", number(r.unsent))
	row("completed", number(r.Completed))
	if r.counted {
		row("errors", strconv.FormatInt(r.Errors, 10))
	}
	row("timeouts", number(r.Timeouts))
	for _, c := range slices.Sorted(maps.Keys(r.Codes)) {
		row("status "+c, number(r.Codes[c]))
	}
	row("received", rate(math.Round(r.BytesPerS), " B/s"))
	row("latency mean", formatDuration(r.Mean))
	row("latency stdev", formatDuration(r.Stdev))
	for _, q := range shownQuantiles(r.Quantiles) {
		row("latency "+q.name, formatDuration(q.Ns))
	}
	row("latency max", formatDuration(r.Max))
	for _, q := range shownQuantiles(r.fromRaw) {
		row("from send "+q.name, formatDuration(q.Ns))
	}
	for _, n := range r.notes {
		row(n[0], n[1])
	}
	from := fromIntended
	if r.FromSend && r.Mode == "closed" {
		from = fromSendClosed
	} else if r.FromSend {
		from = fromSend
	}
	row("latency counted from", from)
	return t
}

// formatDuration formats a duration with four digits, "" if it is not known.
func formatDuration(v int64) string {
	if v == 0 {
		return ""
	}
	d := time.Duration(v)
	for unit := time.Duration(1); unit <= time.Second; unit *= 10 {
		if d < 10000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

type namedQuantile struct {
	name string
	evidence.Quantile
}

// shownQuantiles returns the quantiles of a table: all if they are few, else those that are nearest to the
// usual ones from above.
func shownQuantiles(qs []evidence.Quantile) (out []namedQuantile) {
	usual := []float64{.5, .75, .9, .95, .99, .999, .9999, .99999}
	if len(qs) <= len(usual)+4 {
		for _, q := range qs {
			out = append(out, namedQuantile{quantileName(q.Q), q})
		}
		return out
	}
	last := -1
	for _, want := range usual {
		i := slices.IndexFunc(qs, func(q evidence.Quantile) bool { return q.Q >= want })
		if i > last {
			out = append(out, namedQuantile{quantileName(qs[i].Q), qs[i]})
			last = i
		}
	}
	return out
}

func quantileName(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e8)/1e6, 'f', -1, 64)
}
