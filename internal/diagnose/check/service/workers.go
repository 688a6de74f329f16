package service

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// workers is a pool of worker processes, each of which serves one request at a time.
type workers struct {
	pool    string
	subject evidence.SubjectID
	most    float64 // it may have, NaN unknown
	setting string  // what says so, "" unknown: "pm.max_children"
	where   string  // in words, "" unknown: " in /etc/php/8.2/fpm/pool.d/www.conf"
	origin  evidence.Origin
	reached evidence.Fact // times it was found to have as many; Number 0: not told
}

// workersOf returns the pool of workers that requests waited for, nil if they waited for something
// else.
func workersOf(c *check.Case, what evidence.Wait) *workers {
	if what.Kind != evidence.WorkerPool {
		return nil
	}
	w := &workers{pool: what.Of, most: math.NaN()}
	for _, f := range c.Bundle.Facts {
		of, rest, _ := strings.Cut(f.Value, evidence.Link)
		if of != w.pool {
			continue
		}
		switch f.Key {
		case evidence.FactWorkersMost:
			w.most, w.origin, w.subject = f.Number, f.Origin, f.Subject
		case evidence.FactWorkersSetting:
			setting, where, in := strings.Cut(rest, " in ")
			if w.setting = setting; in {
				w.where = " in " + where
			}
		case evidence.FactWorkersReached:
			w.reached = f
		}
	}
	return w
}

// addEvidence adds what is known of the pool besides the waits.
func (w *workers) addEvidence(c *check.Case, v *check.Verdict) {
	if w.most > 0 {
		v.Evidence = append(v.Evidence, c.Figure("pool.size", "workers that pool "+w.pool+" may have", w.most, "count", w.origin))
	}
	if w.reached.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("pool.full_times", "times it had reached that maximum", w.reached.Number, "count", w.reached.Origin))
	}
}

var oftenReached = check.Threshold{Name: "times that a pool of workers had all it may have", Value: 3, Unit: "count",
	Why: "fewer are one burst: the pool logs it again only after enough were idle", Source: "sapi/fpm/fpm/fpm_process_ctl.c of php-src"}

// A pool that is full again soon was not full by one burst.
var (
	twiceReached = check.Threshold{Name: "times that a pool of workers had all it may have within ten minutes", Value: 2, Unit: "count",
		Why: "it was full again soon after enough workers were idle", Source: "sapi/fpm/fpm/fpm_process_ctl.c of php-src"}
	again = check.Threshold{Name: "time in which a pool is full again", Value: 600e9, Unit: "ns",
		Why: "later it is another burst", Source: "judgement: weighs a pool that is full again at once against another burst of the same day"}
)

// atOnce is how far apart a pool's words that it has all its workers and that none is idle may be, to be of one moment.
var atOnce = check.Threshold{Name: "time between the two lines in which a pool of workers has all it may have, and none is idle", Value: 10e9, Unit: "ns",
	Why: "it looks at its workers once a second", Source: "sapi/fpm/fpm/fpm_process_ctl.c of php-src"}

// hadNoneIdle says whether none of a pool's workers was idle when it had as many as it may: it tells of both only below pm.min_spare_servers,
// and has requests to wait only with none.
func hadNoneIdle(c *check.Case, reached evidence.Fact) bool {
	for _, f := range c.Bundle.Facts {
		if f.Subject == reached.Subject && f.Key == evidence.FactWorkersNoneIdle && f.Value == reached.Value && f.From > 0 && reached.From > 0 &&
			float64(f.From-reached.Until) <= atOnce.Value && float64(reached.From-f.Until) <= atOnce.Value {
			return true
		}
	}
	return false
}

// isOfOneMoment says whether the whole log is of the moment at which a pool had as many workers as it may: somebody picked it out. In a
// log that goes on for longer, once is one burst.
func isOfOneMoment(c *check.Case, reached evidence.Fact) bool {
	span, ok := c.Fact(evidence.FactWorkersLogSpan)
	return ok && span.Number <= atOnce.Value && reached.From > 0
}

// judgeReached judges a pool of workers without requests, by how often it had as many workers as
// it may: further requests then wait in the backlog of its socket. False where no pool had.
func judgeReached(c *check.Case, all []gauged) (v check.Verdict, ok bool) {
	if c.Ledger != nil && len(c.Ledger.Rows) > 0 {
		return v, false
	}
	for _, f := range c.Bundle.Facts {
		if f.Subject != c.Subject || f.Key != evidence.FactWorkersReached || !(f.Number > 0) {
			continue
		}
		what := evidence.Wait{Kind: evidence.WorkerPool, By: "PHP-FPM", Of: f.Value}
		name, w := what.String(), workersOf(c, what)
		if w == nil || ok && v.Supported() {
			continue
		}
		full := slices.ContainsFunc(all, func(g gauged) bool { return g.Name == name && g.Full > 0 })
		v, ok = check.Verdict{Rule: check.CostUnknown, Summary: fmt.Sprintf("pool %s had all its workers %s; whether requests waited was not recorded", w.pool, units.Times(int64(f.Number)))}, true
		for i := range all {
			all[i].addFigures(c, &v)
		}
		if len(all) == 0 {
			w.addEvidence(c, &v)
		} else {
			v.Evidence = append(v.Evidence, c.Figure("pool.full_times", "times it had reached that maximum", f.Number, "count", f.Origin))
		}
		v.Needs = []check.Need{{What: "PHP-FPM's status page while it is slow (pm.status_path), whose listen queue tells how many requests wait, or an access log with durations from the same time"}}
		soon := f.Number >= twiceReached.Value && f.From > 0 && float64(f.Until-f.From) <= again.Value
		moment := len(all) == 0 && isOfOneMoment(c, f)
		if !full && !soon && f.Number < oftenReached.Value && !hadNoneIdle(c, f) && !moment {
			continue
		}
		v.Rule, v.Weight, v.Summary = check.StandsAlone, 1, fmt.Sprintf("pool %s had all its workers %s: requests then wait in the backlog of its socket", w.pool, units.Times(int64(f.Number)))
		v.Title = fmt.Sprintf("All workers of the PHP-FPM pool %s are busy at times: further requests wait.", w.pool)
		if w.most > 0 {
			v.Title = fmt.Sprintf("All %.0f workers of the PHP-FPM pool %s are busy at times: further requests wait.", w.most, w.pool)
		}
		if moment && w.most > 0 && f.Number < twiceReached.Value {
			v.Title = fmt.Sprintf("All %.0f workers of the PHP-FPM pool %s were probably busy at the moment of this log: further requests then wait.", w.most, w.pool)
		}
		v.Fix = append(v.Fix, check.Fix{Text: "raise pm.max_children, if CPUs and memory allow (needed = requests per second × seconds per request), or make requests use less of a worker's time", Code: name})
	}
	return v, ok
}

// passed are the requests that went through a pool, in the order of their arrival.
type passed struct {
	rows           []int
	arrive, demand []int64
	latency        []int64
}

// throughPool returns the requests that went through the pool, in the order of their arrival.
func throughPool(c *check.Case, id evidence.NameID, wait check.Wait) (p passed) {
	l, r := c.Ledger, &c.Bundle.Requests
	waited := make(map[int]int64, len(l.Rows))
	for _, row := range l.KnownRows() {
		through := false
		l.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if s.Cause == id && s.Kind == evidence.PoolWait {
				_, ns := wait(&s, ch)
				waited[row] += ns
				through = true
			}
		})
		if through {
			p.rows = append(p.rows, row)
		}
	}
	sorting.Short(p.rows, func(i, j int) int {
		return cmp.Compare(r.End.At(i)-r.Latency(i), r.End.At(j)-r.Latency(j))
	})
	for _, row := range p.rows {
		p.arrive = append(p.arrive, r.End.At(row)-r.Latency(row))
		p.demand = append(p.demand, max(0, r.Latency(row)-waited[row]))
		p.latency = append(p.latency, r.Latency(row))
	}
	return p
}

// replayWith returns the p99 (ns) if the pool had n workers.
func (p *passed) replayWith(n int) (p99 int64, ok bool) {
	t, err := queue.Queue{Servers: n}.Open(p.arrive, p.demand)
	if err != nil {
		return 0, false
	}
	slices.Sort(t.Latency)
	return stats.Quantile(t.Latency, .99), true
}

// nearlyNone times the p99 without any wait is what so many workers are enough for: the next
// one gains next to nothing.
const nearlyNone = 1.1

// mostWorkers are more than a host runs.
const mostWorkers = 4096

// findEnough returns how many workers it takes until requests hardly wait, with the p99 (ns)
// there, and without any wait; 0 where that is not known. It replays the recorded requests: they
// arrive as they did, and keep a worker for as long as they did.
func (p *passed) findEnough(now float64) (n int, p99, least int64) {
	if len(p.rows) < queue.MinReplay {
		return 0, 0, 0
	}
	demand := slices.Clone(p.demand)
	slices.Sort(demand)
	least = stats.Quantile(demand, .99)
	from := 1
	if now > 0 {
		from = int(now)
	}
	n = from + sort.Search(mostWorkers-from, func(k int) bool {
		p99, ok := p.replayWith(from + k)
		return ok && float64(p99) <= nearlyNone*float64(least)
	})
	if n >= mostWorkers {
		return 0, 0, 0
	}
	p99, _ = p.replayWith(n)
	return n, p99, least
}

// addFix adds how many workers are enough, and predicts what that does.
func (w *workers) addFix(c *check.Case, v *check.Verdict, name evidence.NameID, wait check.Wait) {
	p := throughPool(c, name, wait)
	n, p99, least := p.findEnough(w.most)
	setting := w.setting
	if setting == "" {
		setting = "the number of its workers"
	}
	fix := check.Fix{Text: "raise " + setting + w.where + ", if CPUs and memory allow (needed = requests per second × seconds per request), or make requests use less of a worker's time",
		Code: c.Bundle.Names.Text(name)}
	if n > 0 && float64(n) > w.most || n > 0 && math.IsNaN(w.most) {
		from := ""
		if w.most > 0 {
			from = fmt.Sprintf(" from %.0f", w.most)
		}
		fix.Text = fmt.Sprintf("raise %s%s%s to %d: then the recorded requests would rarely wait, if CPUs and memory allow that many", setting, w.where, from, n)
		if memory := w.requestMemory(c); memory > 0 {
			fix.Text += fmt.Sprintf(" (a worker uses at most %.0f MiB of private memory)", math.Ceil(memory/(1<<20)))
		}
		if w.setting != "" {
			fix.Setting = fmt.Sprintf("%s = %d", w.setting, n)
		}
		observed := slices.Clone(p.latency)
		slices.Sort(observed)
		now := stats.Quantile(observed, .99)
		v.Prediction = append(v.Prediction, check.Prediction{ID: "requests.p99_with_workers_ms", Metric: "p99 with that many workers", Unit: "ms", Now: stats.FiniteOrNil(float64(now) / 1e6), Then: stats.FiniteOrNil(float64(p99) / 1e6),
			Low: stats.FiniteOrNil(float64(min(least, p99)) / 1e6), High: stats.FiniteOrNil(float64(p99) * (1 + queue.Tolerance) / 1e6)})
	}
	v.Fix = append(v.Fix, fix)
}

// requestMemory returns the most memory (bytes) a request of the pool takes; 0 if unknown.
func (w *workers) requestMemory(c *check.Case) (most float64) {
	for _, f := range c.Bundle.Facts {
		if f.Subject == w.subject && f.Key == evidence.FactRequestMemory {
			most = max(most, f.Number)
		}
	}
	return most
}
