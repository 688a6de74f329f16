package dotnetstarvation

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

// article is what the tutorial measured in runs of 10 s, each of a service that had served
// one request, on a machine whose number of processors it does not give.
var article = map[string]figures{
	"taskwait":      {33.06, 3480, 454},
	"tasksleepwait": {1.61, 15420, 140},
	"taskasyncwait": {227.92, 532.58, 2390},
}

// Reasons why blocked services reach other figures than the article's: on the oldest runtime, and
// on few processors.
const (
	differs = ".NET Core 3.1 adds one or two threads a second whatever they wait for; 6 and later add them faster for waits on tasks and not for sleep loops"
	fewCPUs = "the growth of the pool in 10 s depends on the number of CPUs: see the run in which the runtime sees more CPUs"
	nobody  = "a thread a second is added for sleep loops, and answers stand behind all that waits: on .NET 9 none came within 20 s, told of 6 or 12 CPUs neither"
)

// figures are those of a run: requests/s, ms, requests.
type figures struct{ rate, mean, answered float64 }

// few is the most threads that a service without blocked threads needs: three times the processors. A pool
// of blocked threads needs more. On two processors one step of hill climbing exceeds it (.NET 9 went
// from 3 to 7 where nothing was blocked), so there the runtime's own reason for the additions
// decides.
var few = 3 * runtime.NumCPU()

func floatPtr(v float64) *float64 { return &v }

// outcomeChecks returns the checks of the runs and the diagnoses.
func outcomeChecks(o *lab.Outcome) (all []lab.Check) {
	for _, name := range []string{"taskwait", "tasksleepwait", "taskasyncwait"} {
		all = append(all, articleChecks(o, name)...)
	}
	fixed := "taskasyncwait"
	rate := stats.Median(o.Of(fixed, "rate"))
	all = append(all, lab.Check{Name: fixed + ": requests answered", Unit: "1/s", Asked: "≥ 220", Got: floatPtr(rate), OK: rate >= 220})

	threads := lab.Check{Name: fixed + ": pool threads, median", Unit: "threads", Asked: fmt.Sprintf("≤ %d, 3 × cores, or none added for blocked ones", few)}
	if median, ok := o.Result(fixed).Figure(lab.PoolThreads); ok {
		most, _ := o.Result(fixed).Figure(lab.MostPoolThreads)
		raised, told := o.Result(fixed).Figure(lab.PoolRaised)
		threads.Got, threads.Low, threads.High, threads.OK = &median, floatPtr(0), &most, median <= float64(few) || told && raised == 0
		if median > float64(few) && told {
			threads.Why = fmt.Sprintf("the runtime added threads for blocked ones %.0f times; others were hill climbing", raised)
		}
	} else {
		threads.Why = "its counters were not recorded"
	}
	all = append(append(all, threads), predictionChecks(o)...)
	for _, blocked := range []struct{ variant, method string }{{"taskwait", ".TaskWait"}, {"tasksleepwait", ".TaskSleepWait"}} {
		all = append(all, checkNamesFrame(o, blocked.variant, "DiagScenarioController"+blocked.method))
	}
	return all
}

// predictionChecks compares what the diagnosis of the sick variant predicts of the fix with what
// was measured of it. A miss of the pool's size is reported and fails nothing: the size is two to seven
// threads, so one more or less is beyond any share, and hill climbing moves it by chance.
func predictionChecks(o *lab.Outcome) (all []lab.Check) {
	for _, p := range o.Predictions {
		c := lab.Check{Name: p.Variant + ": " + p.Metric + ", as predicted", Unit: p.Unit, Got: p.Measured, Told: p.Metric == lab.PoolThreads}
		switch {
		case p.Predicted == nil:
			c.Asked, c.Why = "a prediction", "none was made"
		case p.Measured == nil:
			c.Asked, c.Why = formatAsked(*p.Predicted), "it was not measured"
		default:
			c.Asked, c.OK = formatAsked(*p.Predicted), isNear(*p.Predicted, *p.Measured)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		all = append(all, lab.Check{Name: "what the cure would do", Unit: "1", Asked: "a prediction", Why: "none was made"})
	}
	return all
}

// articleChecks compares a variant's runs with the article's. Misses are reported and fail nothing,
// because the article's runs are of another runtime on another machine.
func articleChecks(o *lab.Outcome, name string) []lab.Check {
	all := compareArticle(name, article[name], stats.Median(o.Of(name, "rate")), stats.Median(o.Of(name, "mean_ms")), stats.Median(o.Of(name, "answered")))
	for i := range all {
		switch {
		case all[i].OK:
		case strings.HasPrefix(o.Host.Toolchain, ".NET SDK 3.1"):
			all[i].Why = differs
		case name == "taskwait":
			all[i].Why = fewCPUs
		case name == "tasksleepwait":
			all[i].Why = nobody
		}
	}
	return all
}

// compareArticle returns a run's figures beside the article's.
func compareArticle(name string, a figures, rate, mean, answered float64) []lab.Check {
	low, high := .67, 1.5
	within := func(got, of float64) bool { return got >= low*of && got <= high*of }
	all := []lab.Check{
		{Name: name + ": requests answered", Unit: "1/s", Got: &rate, Article: floatPtr(a.rate), OK: within(rate, a.rate)},
		{Name: name + ": mean latency", Unit: "ms", Got: &mean, Article: floatPtr(a.mean), OK: within(mean, a.mean)},
		{Name: name + ": requests answered in all", Unit: "1", Got: &answered, Article: floatPtr(a.answered), OK: within(answered, a.answered)},
	}
	for i := range all {
		all[i].Asked, all[i].Told = "as the article, ÷ and × 1.5", true
	}
	return all
}

// checkNamesFrame checks that the diagnosis of a variant names the frame to change.
func checkNamesFrame(o *lab.Outcome, variant, frame string) lab.Check {
	c := lab.Check{Name: variant + ": the verdict names " + frame, Unit: "1", Asked: "the frame to change"}
	r := o.Result(variant)
	if r == nil || r.Diagnosis == nil || len(r.Found) == 0 || r.Found[0] != starvation {
		c.Why = "no such verdict"
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
