package load

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"

	"github.com/unstall/unstall/internal/base/units"
)

// Tally counts the requests of a run that another generator makes, and returns a result as [Run] does. Its memory grows by 8 bytes a
// second. It is for one goroutine.
type Tally struct{ t *tally }

// NewTally begins a tally. From the plan it needs the URL, the mode, the distribution of arrivals and the pattern, which gives the intended
// length of the run.
func NewTally(p Plan, o Observer) (*Tally, error) {
	u, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	p.Connections = DefaultOpenConnections // the caller that opens connections also counts waiting requests
	return &Tally{newTally(&p, u, o)}, nil
}

// Start says when the run begins, ns since the epoch.
func (t *Tally) Start(now int64) { t.t.start(now) }

// Add adds requests as they end. The caller may reuse the slice.
func (t *Tally) Add(rows []Row) { t.t.addRows(rows) }

// Progress shows the progress of the run, at most once a second. From the snapshot it needs Offered, UnderWay, Waiting, Conns and Users.
func (t *Tally) Progress(now int64, s Snapshot) { t.t.showProgress(now, s) }

// End says when the last request was due. It also ends the measurement of the generator's CPU time.
func (t *Tally) End(now int64) {
	t.t.endSchedule(now)
	t.t.cpu.stop()
}

// Result returns the result of the run.
func (t *Tally) Result(offered int64, failures map[string]int64) *Result {
	r := t.t.buildResult(offered, failures)
	r.HTTP = ""
	return r
}

// Spread is a distribution of times in bounded memory.
type Spread struct{ h *hdrhistogram.Histogram }

// NewSpread returns an empty spread that distinguishes times by a number of digits, 1 to 3.
func NewSpread(digits int) *Spread { return &Spread{hdrhistogram.New(100, longest, digits)} }

// Add adds a time in ns.
func (s *Spread) Add(ns int64) { recordNanos(s.h, ns) }

// Latency returns the distribution of the added times.
func (s *Spread) Latency() Latency { return latencyOf(s.h) }

// Lag returns the distribution of the added delays of the generator itself.
func (s *Spread) Lag() SendLag {
	if s.h.TotalCount() == 0 {
		return SendLag{}
	}
	return SendLag{P99: toMillis(s.h.ValueAtQuantile(99)), Max: toMillis(s.h.Max())}
}

// Snapshot is how a run is getting on.
type Snapshot struct {
	Elapsed   time.Duration
	Of        time.Duration // how long the schedule is, 0 not known
	Offered   int64         // requests whose time has come
	Completed int64         // answered, whatever the status
	Failed    int64         // answered with neither 2xx nor 3xx, broken off, timed out
	UnderWay  int64         // offered and not ended: sent, or waiting for a connection
	Waiting   int64         // of those, waiting for a connection
	Conns     int
	Users     int64         // of journeys: those under way
	Rate      float64       // answers per second since the last snapshot
	P50, P99  time.Duration // of the requests that ended since; 0: none did
}

// tally adds rows up. Its memory does not grow with the run, but for 8 bytes a
// second.
type tally struct {
	plan *Plan
	url  *url.URL
	o    Observer

	began, schedEnd int64 // ns: first request possible, last one offered
	lastEnd         int64
	latency, lag    *hdrhistogram.Histogram
	recent          *hdrhistogram.Histogram // since the last snapshot
	seconds         []int64                 // answers by second since began
	codes           [6]int64                // by hundreds; 0: others
	bytes           int64
	sent, completed int64
	failed          int64 // answered or broken off, not given up
	timeouts        int64
	unfinished      int64 // those given up, timeouts included
	neverSent       int64
	waited          int64 // sent after waiting for a connection
	rowError        error
	cpu             stopwatch

	told         int64 // ns: when the last snapshot was
	toldAnswered int64
}

// stopwatch is the processor time of this process, and the time it took.
type stopwatch struct {
	used time.Duration
	wall time.Time
	took time.Duration
}

func (s *stopwatch) start() { s.used, s.wall = cpuTime(), time.Now() }
func (s *stopwatch) stop()  { s.used, s.took = cpuTime()-s.used, time.Since(s.wall) }

// Latencies are told apart from 1 µs to an hour with three digits (README of
// HdrHistogram: lowest discernible value, highest trackable, significant digits).
const longest = int64(time.Hour)

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(100, longest, 3) }

func recordNanos(h *hdrhistogram.Histogram, ns int64) {
	_ = h.RecordValue(min(max(ns, 0), longest)) // fails only beyond what it tracks
}

func newTally(p *Plan, u *url.URL, o Observer) *tally {
	return &tally{plan: p, url: u, o: o, latency: newHistogram(), lag: newHistogram(), recent: newHistogram()}
}

func (t *tally) start(now int64) {
	t.began, t.told = now, now
	t.cpu.start()
}

func (t *tally) endSchedule(now int64) { t.schedEnd = now }

// followRun takes the rows as they come until done, and gives up what is too late.
func (t *tally) followRun(e *engine, done <-chan struct{}) {
	tick := time.NewTicker(min(max(t.plan.Timeout/50, time.Millisecond), 20*time.Millisecond))
	defer tick.Stop()
	var rows []Row
	for {
		ended := false
		select {
		case <-tick.C:
		case <-done:
			ended = true
		}
		e.expireRequests()
		e.mu.Lock()
		rows, e.rows = e.rows, rows[:0]
		s := Snapshot{Offered: int64(e.offered), UnderWay: e.outstanding, Waiting: int64(e.waiting.len()), Conns: e.open}
		e.mu.Unlock()
		t.addRows(rows)
		if ended {
			return
		}
		t.showProgress(e.nowNanos(), s)
	}
}

// showProgress completes a snapshot and shows it, once a second.
func (t *tally) showProgress(now int64, s Snapshot) {
	if t.o == nil || now-t.told < int64(time.Second) {
		return
	}
	s.Elapsed, s.Of = time.Duration(now-t.began), t.plannedDuration()
	s.Completed, s.Failed = t.completed, t.failed+t.timeouts
	s.Rate = float64(t.completed-t.toldAnswered) / (float64(now-t.told) / 1e9)
	s.P50, s.P99 = time.Duration(t.recent.ValueAtQuantile(50)), time.Duration(t.recent.ValueAtQuantile(99))
	t.recent.Reset()
	t.told, t.toldAnswered = now, t.completed
	t.o.Progress(s)
}

func (t *tally) plannedDuration() time.Duration {
	if t.plan.Requests > 0 {
		if t.plan.Mode == Open {
			return time.Duration(float64(t.plan.Requests) / t.plan.Pattern.meanRate() * 1e9)
		}
		return 0
	}
	if t.plan.Mode == Open {
		return t.plan.Pattern.Duration()
	}
	return t.plan.Duration
}

func (t *tally) addRows(rows []Row) {
	for i := range rows {
		t.addRow(&rows[i])
	}
	if t.o != nil && t.rowError == nil && len(rows) > 0 {
		t.rowError = t.o.Rows(rows)
	}
}

func (t *tally) addRow(r *Row) {
	t.lastEnd = max(t.lastEnd, r.End)
	t.bytes += r.Bytes
	if r.Sent != 0 {
		t.sent++
		recordNanos(t.lag, r.Lag)
		if r.Sent-r.Intended > r.Lag {
			t.waited++
		}
	} else {
		t.neverSent++
	}
	switch r.Outcome {
	case evidence.TimedOut:
		t.timeouts++
		t.unfinished++
	case evidence.Unfinished:
		t.unfinished++
	case evidence.Failed:
		t.failed++
	}
	if r.Status != 0 {
		t.completed++
		class := r.Status / 100
		if class > 5 {
			class = 0
		}
		t.codes[class]++
		if second := (r.End - t.began) / 1e9; second >= 0 {
			for int64(len(t.seconds)) <= second && second < 1e6 {
				t.seconds = append(t.seconds, 0)
			}
			if second < 1e6 {
				t.seconds[second]++
			}
		}
	}
	if r.hasLatency() {
		recordNanos(t.latency, r.Latency())
		recordNanos(t.recent, r.Latency())
	}
}

// buildResult returns the result of the run.
func (t *tally) buildResult(offered int64, failures map[string]int64) *Result {
	p := t.plan
	r := &Result{URL: formatPlanURL(t.url), Mode: p.Mode.String(), LatencyFrom: "send", Start: time.Unix(0, t.began).UTC(),
		Sent: t.sent, Completed: t.completed, Unfinished: t.unfinished, Timeouts: t.timeouts, Errors: t.failed,
		NeverSent: t.neverSent, Offered: offered, Connections: p.Connections, Arrivals: p.Arrivals.String()}
	if r.HTTP = "1.1"; p.HTTP2 {
		r.HTTP, r.Streams = "2", p.Streams
	}
	if p.Socket != "" {
		r.URL = "unix:" + p.Socket + ":" + t.url.RequestURI()
	}
	end := max(t.schedEnd, t.lastEnd)
	seconds := float64(end-t.began) / 1e9
	r.Duration = seconds
	r.Rate.Mean = float64(t.completed) / seconds
	r.BytesPerS = float64(t.bytes) / seconds
	t.fillRates(r, end)
	r.Codes = Codes{t.codes[1], t.codes[2], t.codes[3], t.codes[4], t.codes[5], t.codes[0]}
	r.Latency = latencyOf(t.latency)
	if p.Mode == Open {
		r.LatencyFrom = "intended"
		if t.lag.TotalCount() > 0 {
			r.SendLag = SendLag{P99: toMillis(t.lag.ValueAtQuantile(99)), Max: toMillis(t.lag.Max())}
		}
		if scheduled := float64(t.schedEnd-t.began) / 1e9; scheduled > 0 && offered > 0 {
			rate := float64(offered) / scheduled
			r.OfferedRate = &rate
			achieved := float64(t.completed) / seconds / rate
			r.Achieved = &achieved
		}
	}
	if t.cpu.took > 0 && t.cpu.used > 0 {
		share := float64(t.cpu.used) / float64(t.cpu.took)
		r.GeneratorCPU = &share
	}
	for text, n := range failures {
		r.ErrorKinds = append(r.ErrorKinds, ErrorKind{text, n})
	}
	sorting.Short(r.ErrorKinds, func(a, b ErrorKind) int { return cmp.Compare(b.Count, a.Count) })
	t.judgeGenerator(r)
	return r
}

// latencyOf is what a histogram of ns holds.
func latencyOf(h *hdrhistogram.Histogram) Latency {
	n := float64(h.TotalCount())
	if n == 0 {
		return Latency{}
	}
	q := func(q float64) *float64 {
		if n*(1-q) < 1 { // it would be the maximum under another name
			return nil
		}
		return toMillis(h.ValueAtQuantile(q * 100))
	}
	l := Latency{Mean: floatToMillis(h.Mean()), Stdev: floatToMillis(h.StdDev()), Max: toMillis(h.Max()),
		P50: q(.5), P75: q(.75), P90: q(.9), P95: q(.95), P99: q(.99), P999: q(.999), P9999: q(.9999)}
	if l.P50 == nil {
		l.P50 = toMillis(h.ValueAtQuantile(50))
	}
	return l
}

// fillRates fills in what varied from second to second, of whole seconds.
func (t *tally) fillRates(r *Result, end int64) {
	whole := int((end - t.began) / 1e9)
	if whole < 1 {
		return
	}
	h := hdrhistogram.New(1, 1e9, 3)
	var most int64
	for i := range whole {
		var n int64
		if i < len(t.seconds) {
			n = t.seconds[i]
		}
		most = max(most, n)
		_ = h.RecordValue(min(n, 1e9))
	}
	highest := float64(most)
	r.Rate.Max = &highest
	if whole > 1 {
		deviation := h.StdDev()
		r.Rate.Stdev = &deviation
	}
}

func toMillis(ns int64) *float64        { return floatToMillis(float64(ns)) }
func floatToMillis(ns float64) *float64 { v := ns / 1e6; return &v }

// judgeGenerator decides whether the figures are the generator's rather than the service's, and
// adds warnings.
func (t *tally) judgeGenerator(r *Result) {
	if t.plan.Mode == Open && r.SendLag.P99 != nil && r.Latency.P99 != nil {
		lag, latency := *r.SendLag.P99, *r.Latency.P99
		r.GeneratorLimited = lag > 1 && lag > latency/10
		if r.GeneratorLimited {
			r.addWarning("the generator did not keep its schedule: 1 %% of the requests were sent at least %.3g ms late, and their latencies include that; use a lower rate or a machine with more free CPU", lag)
		}
	}
	if need := t.neededCPUs(r); need > float64(cpuCount()) && !r.GeneratorLimited {
		r.GeneratorLimited = true
		r.addWarning("the generator cannot make %.0f requests/s here: %d were never sent; all of them would have needed %.0f CPUs, and there are %d; use a lower rate or a larger machine", *r.OfferedRate, t.neverSent, need, cpuCount())
	}
	if t.plan.Mode == Closed && r.GeneratorCPU != nil && *r.GeneratorCPU > .9*float64(cpuCount()) {
		r.GeneratorLimited = true
		r.addWarning("the generator used all the CPU it could get: the service may be able to do more")
	}
	if t.unfinished > 0 {
		r.addWarning("%s not answered in time: their latencies are lower bounds", units.Plural(t.unfinished, "request"))
	}
	if t.plan.Mode == Open && t.waited+t.neverSent > 0 && t.plan.Connections < DefaultOpenConnections && t.waited > t.sent/100 {
		r.addWarning("%s waited for one of %d connections; the latencies include that wait", units.Plural(t.waited+t.neverSent, "request"), t.plan.Connections)
	}
	if t.rowError != nil {
		r.addWarning("not all requests were written to the file: %v", t.rowError)
	}
}

// neededCPUs returns how many CPUs the offered rate would have taken the generator, by the cost of
// the requests that it sent; 0 where it sent nearly all. Waiting for a connection is no lag, and
// behind a generator without CPU all requests wait so.
func (t *tally) neededCPUs(r *Result) float64 {
	if t.plan.Mode != Open || r.OfferedRate == nil || t.sent == 0 || t.neverSent < r.Offered/100 {
		return 0
	}
	return t.cpu.used.Seconds() / float64(t.sent) * *r.OfferedRate
}

func (r *Result) addWarning(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
