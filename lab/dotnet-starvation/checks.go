package dotnetstarvation

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/stats"
)

// article is what the tutorial measured with .NET 6 in 10 s runs.
var article = map[string]struct{ rate, mean, answered float64 }{
	"taskwait":      {33.06, 3480, 454},
	"tasksleepwait": {1.61, 15420, 140},
	"taskasyncwait": {227.92, 532.58, 2390},
}

// differs says why blocked services come to other figures than the article's on the
// oldest runtime.
const differs = ".NET Core 3.1 adds one or two threads a second whatever they wait for; 6 and later add them faster for waits on tasks and not for sleep loops"

func number(v float64) *float64 { return &v }

// checks are what must come out of the runs and the diagnoses.
func checks(o *lab.Outcome) (all []lab.Check) {
	for _, name := range []string{"taskwait", "tasksleepwait", "taskasyncwait"} {
		all = append(all, against(o, name)...)
	}
	fixed := "taskasyncwait"
	rate := stats.Median(o.Of(fixed, "rate"))
	all = append(all, lab.Check{Name: fixed + ": requests answered", Unit: "1/s", Asked: "≥ 220", Got: number(rate), OK: rate >= 220})

	threads := lab.Check{Name: fixed + ": pool threads, median", Unit: "threads", Asked: fmt.Sprintf("≤ %d, 3 × cores", 3*runtime.NumCPU())}
	if median, ok := o.Result(fixed).Figure(lab.PoolThreads); ok {
		most, _ := o.Result(fixed).Figure(lab.MostPoolThreads)
		threads.Got, threads.Low, threads.High, threads.OK = &median, number(0), &most, median <= float64(3*runtime.NumCPU())
	} else {
		threads.Why = "its counters were not recorded"
	}
	all = append(all, threads)
	for _, blocked := range []struct{ variant, method string }{{"taskwait", ".TaskWait"}, {"tasksleepwait", ".TaskSleepWait"}} {
		all = append(all, names(o, blocked.variant, "DiagScenarioController"+blocked.method))
	}
	return all
}

// against holds a variant's runs against the article's: told, for they are another
// runtime's on another machine.
func against(o *lab.Outcome, name string) []lab.Check {
	a := article[name]
	rate, mean, answered := stats.Median(o.Of(name, "rate")), stats.Median(o.Of(name, "mean_ms")), stats.Median(o.Of(name, "answered"))
	low, high := .67, 1.5
	within := func(got, of float64) bool { return got >= low*of && got <= high*of }
	all := []lab.Check{
		{Name: name + ": requests answered", Unit: "1/s", Got: &rate, Article: number(a.rate), OK: within(rate, a.rate)},
		{Name: name + ": mean latency", Unit: "ms", Got: &mean, Article: number(a.mean), OK: within(mean, a.mean)},
		{Name: name + ": requests answered in all", Unit: "1", Got: &answered, Article: number(a.answered), OK: within(answered, a.answered)},
	}
	for i := range all {
		all[i].Asked, all[i].Told = "as the article, ÷ and × 1.5", true
		if !all[i].OK && strings.HasPrefix(o.Host.Toolchain, ".NET SDK 3.1") {
			all[i].Why = differs
		}
	}
	return all
}

// names checks that the diagnosis of a variant names the frame to change.
func names(o *lab.Outcome, variant, frame string) lab.Check {
	c := lab.Check{Name: variant + ": the verdict names " + frame, Unit: "1", Asked: "the frame to change"}
	r := o.Result(variant)
	if r == nil || r.Diagnosis == nil || len(r.Found) == 0 || r.Found[0] != starvation {
		c.Why = "there is no such verdict"
		return c
	}
	v := r.Diagnosis.Verdicts[0]
	texts := []string{v.Title}
	for _, e := range v.Evidence {
		texts = append(texts, e.Text)
	}
	for _, f := range v.Fix {
		texts = append(texts, f.Text, f.Code)
	}
	c.OK = strings.Contains(strings.Join(texts, "\n"), frame)
	if !c.OK {
		c.Why = "it is in none of its sentences"
	}
	return c
}

// plateau loads the blocked variants for two minutes and looks where the climb of
// the threads ends.
func plateau(s *lab.Stand) (all []lab.Check, err error) {
	if s.Quick() {
		return nil, nil
	}
	const (
		lasts = 2 * time.Minute
		end   = 5 * time.Second
	)
	for _, name := range []string{"taskwait", "tasksleepwait"} {
		v, _ := s.Variant(name)
		err := s.With(v, func(one *lab.Service) error {
			s.Say("%s: %d connections for %v", name, connections, lasts)
			threads := one.WatchThreads(time.Second)
			d, err := s.Drive(s.Context(), one, lab.Demand{Connections: connections, For: lasts, Patience: lasts})
			counts := threads()
			if err != nil {
				return err
			}
			if len(counts) < 2 {
				return errors.New("its threads could not be counted")
			}
			rate := d.Answered(lasts-end, lasts)
			whole := connections / service.Seconds()
			s.Say("%s: %.0f requests/s in the last %v, threads %d to %d", name, rate, end, counts[0], counts[len(counts)-1])
			all = append(all, lab.Check{Name: fmt.Sprintf("%s: requests answered after %v", name, lasts-end), Unit: "1/s", Asked: fmt.Sprintf("≥ %.0f, the plateau", .9*whole), Got: &rate, OK: rate >= .9*whole},
				lab.Check{Name: fmt.Sprintf("%s: threads added in %v", name, lasts), Unit: "threads", Asked: "80–200: one for each client, about", Got: number(float64(counts[len(counts)-1] - counts[0])),
					OK: counts[len(counts)-1]-counts[0] >= 80 && counts[len(counts)-1]-counts[0] <= 200})
			return nil
		})
		if err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}
