package linuxthp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/lab"
)

func floatPtr(v float64) *float64 { return &v }

// articleSystem is the article's change of system CPU time: "at least halved".
const articleSystem = -.5

// outcomeChecks returns the checks beside those of the diagnoses.
func outcomeChecks(o *lab.Outcome) (all []lab.Check) {
	all = append(all, checkCompaction(o), checkOperation(o), byStep(o))
	for _, name := range []string{"never", "madvise", "off-for-it"} {
		c := o.Changed(name, "system_cores", articleSystem)
		c.Name, c.Unit, c.Asked, c.Article = name+": CPU time in the kernel", "1", "halved at least", floatPtr(articleSystem)
		all = append(all, c)
	}
	return append(all, keepsThem(o))
}

// checkCompaction checks what the kernel stacks of the sick variant show.
func checkCompaction(o *lab.Outcome) lab.Check {
	c := lab.Check{Name: "sick: CPU time in direct compaction, by kernel stacks", Unit: "1", Asked: "≥ 50 %, and the stack is named"}
	v := stallVerdict(o.Result("sick"))
	for _, e := range v.Evidence {
		if e.Value != nil && strings.Contains(e.Text, "in direct compaction, by stacks") {
			c.Got, c.OK = e.Value, *e.Value >= .5 && strings.Contains(e.Text, "__alloc_pages_direct_compact")
		}
	}
	if c.Got == nil {
		c.Why = "no kernel stacks were recorded: they take root"
	}
	return c
}

// byStep checks that the diagnosis says where the slow requests of journeys waited, step by step.
func byStep(o *lab.Outcome) lab.Check {
	c := lab.Check{Name: "shop-workers: of slow requests' time, waiting for a worker, by steps of journeys", Unit: "1", Asked: "≥ 80 %"}
	if r := o.Result("shop-workers"); r != nil && r.Diagnosis != nil && r.Diagnosis.Through != nil {
		wait, all := 0., 0.
		for _, s := range r.Diagnosis.Through.Journeys {
			if s.Slow != nil {
				wait, all = wait+s.Slow.WaitMs*float64(s.Slow.Requests), all+s.Slow.MeanMs*float64(s.Slow.Requests)
			}
		}
		if all > 0 {
			share := wait / all
			c.Got, c.OK = &share, share >= .8
		}
	}
	if c.Got == nil {
		c.Why = "no slow request of a journey was followed through the workers"
	}
	return c
}

// checkOperation checks how much longer a request takes.
func checkOperation(o *lab.Outcome) lab.Check {
	c := lab.Check{Name: "sick: median of a request, × that without huge pages", Unit: "×", Asked: "≥ 3 ×"}
	if sick, fixed := o.Of("sick", "p50_ms"), o.Of("never", "p50_ms"); len(sick) > 0 && len(fixed) > 0 {
		times := stats.Median(sick) / stats.Median(fixed)
		c.Got, c.OK = &times, times >= 3
	}
	return c
}

// keepsThem checks the advice for a service that uses all of its huge pages.
func keepsThem(o *lab.Outcome) lab.Check {
	c := lab.Check{Name: "dense: huge pages are to stay on; predicted without them, CPU time in the kernel", Unit: "×", Asked: "more, and reported"}
	v := stallVerdict(o.Result("dense"))
	for _, p := range v.Prediction {
		if p.Now != nil && p.Then != nil && *p.Now > 0 {
			times := *p.Then / *p.Now
			c.Got, c.OK = &times, times > 1 && v.Verdict == "ruled_out" && strings.Contains(v.Summary, "keep them on")
		}
	}
	if c.Got == nil {
		c.Why = "nothing is predicted: " + v.Summary
	}
	return c
}

// stallVerdict returns the verdict of a diagnosis on huge pages, empty if there is none.
func stallVerdict(r *lab.Result) (v diagnose.Verdict) {
	if r == nil || r.Diagnosis == nil {
		return v
	}
	if i := slices.IndexFunc(r.Diagnosis.Verdicts, func(v diagnose.Verdict) bool { return v.Cause == stall }); i >= 0 {
		v = r.Diagnosis.Verdicts[i]
	}
	return v
}

// found is the state of the host's settings when this program began.
var found = hugePageSettings()

// asItWas checks the host's settings after everything was measured.
func asItWas(*lab.Stand) ([]lab.Check, error) {
	c := lab.Check{Name: fmt.Sprintf("the host's settings as they were found (%s)", found), Unit: "1", Asked: "unchanged", OK: true}
	if now := hugePageSettings(); now != found {
		c.OK, c.Why = false, "they are "+now
	}
	return []lab.Check{c}, nil
}

// hugePageSettings returns the host's settings of transparent huge pages: "enabled=madvise
// defrag=madvise".
func hugePageSettings() string {
	var words []string
	for _, name := range []string{"enabled", "defrag"} {
		b, err := os.ReadFile(filepath.Join("/sys/kernel/mm/transparent_hugepage", name))
		if err != nil {
			return "there are none"
		}
		_, rest, _ := strings.Cut(string(b), "[")
		word, _, _ := strings.Cut(rest, "]")
		words = append(words, name+"="+word)
	}
	return strings.Join(words, " ")
}
