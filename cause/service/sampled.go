package service

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// judgeSampled judges where threads were looked at now and then, to which one that runs
// and one that would if it had a processor look the same: of n requests that seem to run
// on fewer processors, the rest waits for its turn. One in native code, of which nothing
// says that it waits, is taken to run; who waits for a thread of the pool waits for those.
func judgeSampled(c *cause.Case) cause.Verdict {
	l := c.Ledger
	used, origin, known := processorsUsed(c)
	cores := procs(c)
	if !known || cores == 0 || l.To <= l.From {
		return cause.Verdict{State: cause.Inconclusive, Summary: "how busy the processors were is not known", Needs: []string{"the process's CPU time over the same seconds: unstall record PID"}}
	}
	var running int64
	for _, row := range l.Rows {
		ch := l.Of(row)
		running += ch[ledger.Own] + ch[ledger.Unexplained]
	}
	at := float64(running) / float64(l.To-l.From) // at once
	waited := 0.
	if at > used {
		waited = 1 - used/at
	}
	share := waited*c.Share(ledger.Own, ledger.Unexplained) + c.Share(ledger.PoolThread)
	v := cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("%.0f %% of %.0f CPUs busy", 100*used/cores, cores)}
	v.Evidence = append(v.Evidence,
		c.Figure(fmt.Sprintf("CPUs the process used, of %.0f", cores), used, "CPUs", origin),
		c.Figure("requests that ran or were ready to, in the mean", at, "1", cause.From(l.Source)))
	if used < saturated*cores || share < cause.Material || !c.Slow() {
		return v
	}
	v.State = cause.Supported
	v.Title = fmt.Sprintf("The service is saturated: its own requests keep %.0f %% of the processors busy.", 100*used/cores)
	per, sum := make([]int64, len(l.Slow)), int64(0)
	for n, row := range l.Slow {
		ch := l.Of(row)
		per[n] = int64(waited*float64(ch[ledger.Own]+ch[ledger.Unexplained])) + ch[ledger.PoolThread]
		sum += per[n]
	}
	v.Saves = c.Save(per, 0, sum)
	if l.Requests.Rate > 0 {
		v.Evidence = append(v.Evidence, c.Figure("requests", l.Requests.Rate, "1/s", cause.From(l.Requests.Source)),
			c.Figure("processor time per request", used/l.Requests.Rate*1e3, "ms", cause.From(l.Requests.Source)))
	}
	v.Fix = append(v.Fix,
		cause.Fix{Text: "take load off: callers that cache, a limit at the door that refuses early"},
		cause.Fix{Text: "make requests cheaper: the stacks of running threads show where their time goes"},
		cause.Fix{Text: fmt.Sprintf("add processors: at 70 %% utilisation this load needs %.1f", used/.7)})
	return v
}

// processorsUsed is how many processors the process was on while its requests were
// watched.
func processorsUsed(c *cause.Case) (cpus float64, origin evidence.Origin, ok bool) {
	l := c.Ledger
	for _, x := range []struct {
		name string
		unit float64
	}{{"process.cpu", 1}, {evidence.SeriesCPU, procs(c) / 100}} {
		if s := c.Series(x.name); s != nil {
			if mean, watched := s.Mean(l.From, l.To); watched > (l.To-l.From)/2 && !math.IsNaN(mean) {
				return mean * x.unit, s.Origin, true
			}
		}
	}
	return 0, 0, false
}
