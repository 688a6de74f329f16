package goballast

import (
	"fmt"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

// Figures of the report about its gateway.
const (
	articleCycles    = 9.   // per second: 8 to 10
	articleCollector = .3   // of the CPU: more than
	articleFewer     = -.99 // cycles
	articleCPU       = -.3
	articleAssist    = -.99
	articleP99       = -.45
)

func floatPtr(v float64) *float64 { return &v }

// ofThisStorm makes a missed demand on the planned storm one that is told, where the storm had to be moved: the gateway's
// live heap is then its sessions, which go with the storm, and requests in progress, which do not.
func ofThisStorm(p lab.Plan, c lab.Check) lab.Check {
	if !c.OK && p.Peak != nil && *p.Peak != peak {
		c.Told, c.Why = true, "the storm is another than planned"
	}
	return c
}

// outcomeChecks returns the checks of the storms.
func outcomeChecks(o *lab.Outcome) []lab.Check {
	var all []lab.Check
	cycles := stats.Median(o.Of("sick", "gc_cycles_per_s"))
	all = append(all, ofThisStorm(o.Plan, lab.Check{Name: "sick: gc cycles in the storm", Unit: "1/s", Asked: "8–10", Got: floatPtr(cycles), Article: floatPtr(articleCycles), OK: cycles >= 7.95 && cycles <= 10.05}))

	collector := lab.Check{Name: "sick: GC's share of the process's CPU, by its profile", Unit: "1", Asked: "≥ 30 %", Article: floatPtr(articleCollector)}
	if share, ok := o.Result("sick").CollectorShare(); ok {
		collector.Got, collector.OK = floatPtr(share), share >= .3
	} else {
		collector.Why = "no CPU profile was recorded"
	}
	all = append(all, collector, stopTheWorld(o))

	for _, name := range []string{"sick", "memory-limit", "ballast", "gogc"} {
		if len(o.Delivered(name)) == 0 {
			continue // not in a quick run
		}
		delivered := stats.Median(o.Delivered(name))
		c := lab.Check{Name: name + ": storm delivered, achieved ÷ offered", Unit: "1", Asked: "≥ .95", Got: floatPtr(delivered), OK: delivered >= .95}
		if name == "sick" && !c.OK { // it was offered; the incident is that the sick variant cannot serve it all
			c.Told, c.Why = true, "the storm is more than the sick one can serve"
		}
		all = append(all, c)
	}
	for _, name := range []string{"memory-limit", "ballast", "gogc"} {
		if o.Comparison(name) == nil && name != "memory-limit" {
			continue
		}
		told := name != "memory-limit"
		for _, c := range []struct {
			metric, title, asked string
			article, most        float64
		}{
			{"gc_cycles_per_s", "gc cycles", "−99 %, rounded", articleFewer, -.985},
			{"cpu_ms_per_request", "process CPU per request", "−30 % or more", articleCPU, -.3},
			{"assist_ms_per_s", "mark assist time", "−99 %, rounded", articleAssist, -.985},
			{"p99_ms", "p99 in the storm", "better", articleP99, 0},
		} {
			check := o.Changed(name, c.metric, c.most)
			check.Name, check.Unit, check.Asked, check.Article, check.Told = fmt.Sprintf("%s: %s", name, c.title), "1", c.asked, floatPtr(c.article), told
			all = append(all, check)
		}
	}
	return all
}

// stopTheWorld checks that this cause is ruled out with a figure: it is the first suspect.
func stopTheWorld(o *lab.Outcome) lab.Check {
	c := lab.Check{Name: "sick: share of the slow requests' time paused by GC", Unit: "1", Asked: "< 10 %, told with its figure"}
	r := o.Result("sick")
	if r == nil || r.Diagnosis == nil || r.Diagnosis.Requests == nil || r.Diagnosis.Requests.SlowTotalMs == 0 {
		c.Why = "no slow requests were seen"
		return c
	}
	var ms float64
	for _, e := range r.Diagnosis.Ledger {
		if e.Mechanism == "stop_the_world" {
			ms += e.SlowMs
		}
	}
	share := ms / r.Diagnosis.Requests.SlowTotalMs
	c.Got, c.OK = &share, share < .1
	return c
}

// tripleLiveHeap triples the live heap and checks the heap's peak: a ratio
// multiplies it, a ballast adds to it, a limit leaves it as it is.
func tripleLiveHeap(s *lab.Stand) ([]lab.Check, error) {
	before, after := sessionsFor(s), 3*sessionsFor(s)
	var all []lab.Check
	for _, v := range []struct {
		name, asked string
		ok          func(times float64) bool
	}{
		{"gogc", "≥ 2 ×", func(x float64) bool { return x >= 2 }},
		{"ballast", "≤ 1.3 ×", func(x float64) bool { return x <= 1.3 }},
		{"memory-limit", "≤ 1.1 ×", func(x float64) bool { return x <= 1.1 }},
	} {
		one := s.Service(v.name)
		if one == nil {
			continue
		}
		var goals [2]float64
		for i, live := range []int{before, after} {
			if _, err := one.Command("live", fmt.Sprint(live)); err != nil {
				return all, fmt.Errorf("%s: %w", v.name, err)
			}
			if _, err := s.Drive(s.Context(), one, lab.Demand{Rate: *s.Plan().Peak / 2, For: time.Second}); err != nil {
				return all, err
			}
			state, err := one.Command("state")
			if err != nil {
				return all, err
			}
			goals[i] = float64(state.GoalBytes) / (1 << 20)
		}
		times := goals[1] / goals[0]
		s.Say("%s: with three times the live heap the heap's peak goes from %.0f to %.0f MiB", v.name, goals[0], goals[1])
		all = append(all, ofThisStorm(s.Plan(), lab.Check{Name: v.name + ": the heap's peak when live heap triples", Unit: "×", Asked: v.asked, Got: floatPtr(times), OK: v.ok(times)}))
	}
	return all, nil
}
