package kernelstacks

import (
	"bytes"
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// spans are the kernel's works between two of its tracepoints.
var spans = map[string]struct {
	mechanism string // of a thread; "": of the host
	time      string // series of s per second
	count     string // series of 1/s, "" none
	title     string
}{
	"compaction":    {evidence.KernelCompaction, evidence.SeriesProcessCompaction, "", "direct compaction, of its threads"},
	"reclaim":       {evidence.KernelReclaim, evidence.SeriesProcessReclaim, "", "direct reclaim, of its threads"},
	"memcg_reclaim": {evidence.KernelReclaim, evidence.SeriesProcessLimitReclaim, "", "reclaim within a memory limit, of its threads"},
	"block":         {"", evidence.SeriesHostDiskInFlight, evidence.SeriesHostDiskRequests, "disk requests, of the host"},
}

// parseSpan reads a single span, which becomes an interval.
func (p *parser) parseSpan(rest []byte) bool {
	f := bytes.Fields(rest)
	if len(f) != 4 || !p.waiting {
		return false
	}
	at, ok := format.ParseDigits(f[0])
	took, ok2 := format.ParseDigits(f[1])
	tid, ok3 := format.ParseDigits(f[2])
	x, known := spans[string(f[3])]
	if !ok || !ok2 || !ok3 || tid == 0 || !known || x.mechanism == "" || !recording.IsDate(at) || took > 1e17 || !p.isWithin(at+took) {
		return false
	}
	if p.countRow() {
		return true
	}
	p.b.Interval(evidence.Interval{Subject: p.subject, Lane: evidence.LaneID(tid), Kind: evidence.InKernel, Start: at, End: at + took, Cause: p.b.Name(x.mechanism), Origin: p.b.Origin(p.Number)})
	return true
}

// rounds are sums between two moments.
type rounds struct {
	now  map[string]told // since the until before
	all  map[string][]round
	host evidence.SubjectID
	seen bool // the host
}

type told struct{ count, ns, line int64 }

type round struct {
	from, until int64
	told
}

// parseSum reads the sum of the spans that ended since the "until" before.
func (p *parser) parseSum(rest []byte) bool {
	name, rest, _ := bytes.Cut(rest, []byte(" "))
	var n [2]int64
	if _, known := spans[string(name)]; !known || !recording.Numbers(rest, n[:]) || !p.waiting || p.from == 0 || n[1] > 1e17 {
		return false
	}
	if p.countRow() {
		return true
	}
	if p.rounds.now == nil {
		p.rounds.now, p.rounds.all = make(map[string]told), make(map[string][]round)
	}
	p.rounds.now[string(name)] = told{n[0], n[1], p.Number}
	return true
}

func (r *rounds) endRound(from, until int64) {
	for name, t := range r.now {
		r.all[name] = append(r.all[name], round{from, until, t})
	}
	clear(r.now)
}

// emitSeries writes the sums as series, in the order in which [evidence] lists them.
func (r *rounds) emitSeries(p *parser) {
	x := evidence.Table{Title: "measured each time", Columns: []string{"", "times", "time", "mean"}}
	for _, name := range []string{"compaction", "reclaim", "memcg_reclaim", "block"} {
		all := r.all[name]
		if len(all) == 0 {
			continue
		}
		s := spans[name]
		subject := p.subject
		if s.mechanism == "" {
			if !r.seen {
				r.host, r.seen = p.b.Subject(evidence.Subject{Kind: evidence.Host}), true
			}
			subject = r.host
		}
		times := evidence.Series{Subject: subject, Name: s.time, Unit: "1", Origin: p.b.Origin(all[0].line)}
		counts := evidence.Series{Subject: subject, Name: s.count, Unit: "1/s", Origin: times.Origin}
		var sum told
		for i, t := range all {
			sum.count, sum.ns = sum.count+t.count, sum.ns+t.ns
			took := float64(t.until - t.from)
			rate, each := float64(t.count)/took*1e9, float64(t.ns)/took
			times.T, times.V = append(times.T, t.from), append(times.V, each)
			counts.T, counts.V = append(counts.T, t.from), append(counts.V, rate)
			if i == len(all)-1 { // the length of the last one
				times.T, times.V = append(times.T, t.until), append(times.V, each)
				counts.T, counts.V = append(counts.T, t.until), append(counts.V, rate)
			}
		}
		mean := "–"
		if sum.count > 0 {
			mean = time.Duration(sum.ns / sum.count).Round(100 * time.Nanosecond).String()
		}
		x.Rows = append(x.Rows, []string{s.title, fmt.Sprint(sum.count), time.Duration(sum.ns).Round(time.Microsecond).String(), mean})
		p.b.Series(times)
		if s.count != "" {
			p.b.Series(counts)
		}
	}
	if len(x.Rows) > 0 {
		p.b.Table(x)
	}
}
