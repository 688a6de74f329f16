package journey

import (
	"cmp"
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/collect/load"
)

// stepEnd is a step that a user took.
type stepEnd struct {
	step          *Step
	due           int64
	answered, end int64 // ns; answered 0: never
	lag           int64
	failed        bool
}

// countProblem counts a step that is not as it must be, under one line that names it.
func (r *runner) countProblem(s *Step, problem string) {
	r.countFailure(fmt.Sprintf("step %q of %s (%s:%d): %s", s.Name, s.journey.Name, r.script.Name, s.line, problem), nil)
}

const mostFailures = 1000 // kinds that are told apart

func (r *runner) countFailure(text string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.failures[text]; !known && len(r.failures) >= mostFailures {
		text = "others"
	}
	r.failures[text]++
	if r.firstError == nil {
		r.firstError = err
	}
}

func (r *runner) addRow(row load.Row, s *Step) {
	r.mu.Lock()
	r.rows, r.byStep = append(r.rows, row), append(r.byStep, s)
	r.mu.Unlock()
}

func (r *runner) addStepEnd(e stepEnd, due int64) {
	e.due = due
	if r.over.Load() && e.failed {
		return // given up with the run: its requests are counted as unfinished
	}
	r.mu.Lock()
	r.ends = append(r.ends, e)
	r.mu.Unlock()
}

// followRun counts what ends as it goes on.
func (r *runner) followRun(done <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var rows []load.Row
	var byStep []*Step
	var ends []stepEnd
	for {
		last := false
		select {
		case <-tick.C:
		case <-done:
			last = true
		}
		r.mu.Lock()
		rows, r.rows = r.rows, rows[:0]
		byStep, r.byStep = r.byStep, byStep[:0]
		ends, r.ends = r.ends, ends[:0]
		r.mu.Unlock()
		for i := range rows {
			c := r.steps[byStep[i].at]
			c.requests++
			c.bytes += rows[i].Bytes
			if rows[i].Outcome != evidence.OK {
				c.errors++
			}
		}
		r.tally.Add(rows)
		for i := range ends {
			r.steps[ends[i].step.at].addStep(&ends[i])
		}
		if last {
			return
		}
		r.umu.Lock()
		here := int64(len(r.users))
		r.umu.Unlock()
		r.mostConns = max(r.mostConns, r.conns.Load())
		r.tally.Progress(r.nowNanos(), load.Snapshot{Offered: r.offered.Load(), UnderWay: r.underWay.Load(), Waiting: r.waiting.Load(), Conns: int(r.conns.Load()), Users: here})
	}
}

// stepCounts are what became of a step.
type stepCounts struct {
	step                    *Step
	count, failed           int64
	requests, errors, bytes int64
	latency, answer, lag    *load.Spread
}

func newStepCounts(s *Step) *stepCounts {
	return &stepCounts{step: s, latency: load.NewSpread(3), answer: load.NewSpread(3), lag: load.NewSpread(2)}
}

func (c *stepCounts) addStep(e *stepEnd) {
	c.count++
	c.lag.Add(e.lag)
	if e.failed {
		c.failed++
		return
	}
	c.latency.Add(e.end - e.due)
	c.answer.Add(e.answered - e.due)
}

// buildResult returns the result of the run.
func (r *runner) buildResult() *load.Result {
	result := r.tally.Result(r.offered.Load(), r.failures)
	result.Users = &load.Users{Most: r.most}
	result.Connections = int(r.mostConns)
	for i, j := range r.script.Journeys {
		c := r.counts[i]
		if c.Arrived == 0 {
			continue
		}
		u := result.Users
		u.Arrived += c.Arrived
		u.Finished += c.Finished
		u.Failed += c.Failed
		u.Cut += c.Cut
		out := load.Journey{Name: j.Name, Users: c}
		for _, step := range j.Named {
			s := r.steps[step.at]
			out.Steps = append(out.Steps, load.Step{Name: step.Name, Count: s.count, Failed: s.failed, Latency: s.latency.Latency(), Answer: s.answer.Latency(),
				SendLag: s.lag.Lag(), Requests: s.requests, Errors: s.errors, Bytes: s.bytes})
		}
		result.Journeys = append(result.Journeys, out)
	}
	sorting.Short(result.ErrorKinds, func(a, b load.ErrorKind) int { return cmp.Compare(b.Count, a.Count) })
	return result
}
