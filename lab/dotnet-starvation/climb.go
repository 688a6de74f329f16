package dotnetstarvation

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/threadpool"
)

// lasts is how long the climb of the threads is watched; at its end all are served: of one thread
// a second, as .NET adds for sleep loops, 125 clients have theirs after two minutes.
const (
	lasts = 150 * time.Second
	end   = 5 * time.Second
)

// blocked are the variants whose threads wait, and how.
var blocked = []struct {
	variant string
	pattern threadpool.Pattern
}{{"taskwait", threadpool.TaskWait}, {"tasksleepwait", threadpool.SleepWait}}

// moves looks how threads come, beside what the pool's model says of it.
func moves(s *lab.Stand) (all []lab.Check, err error) {
	if s.Quick() {
		return nil, nil
	}
	for _, b := range blocked {
		v, _ := s.Variant(b.variant)
		if err := s.With(v, func(one *lab.Service) error {
			checks, err := plateau(s, one, b.pattern)
			all = append(all, checks...)
			return err
		}); err != nil {
			return all, fmt.Errorf("%s: %w", b.variant, err)
		}
	}
	if on, _ := s.Runtime.(lab.Dotnet); !on.On9 {
		return all, nil
	}
	checks, err := asArticle(s)
	return append(all, checks...), err
}

// plateau loads a blocked variant and looks where the climb of the
// threads ends, and how fast it is.
func plateau(s *lab.Stand, one *lab.Service, pattern threadpool.Pattern) ([]lab.Check, error) {
	name := one.Variant.Name
	s.Say("%s: %d connections for %v", name, connections, lasts)
	threads := one.WatchThreads(time.Second)
	d, err := s.Drive(s.Context(), one, lab.Demand{Connections: connections, For: lasts, Patience: lasts})
	counts := threads()
	if err != nil {
		return nil, err
	}
	if len(counts) < 2 {
		return nil, errors.New("its threads could not be counted")
	}
	rate, added := d.Answered(lasts-end, lasts), float64(counts[len(counts)-1]-counts[0])
	whole := connections / service.Seconds()
	s.Say("%s: %.0f requests/s in the last %v, threads %d to %d", name, rate, end, counts[0], counts[len(counts)-1])
	all := []lab.Check{
		{Name: fmt.Sprintf("%s: requests answered after %v", name, lasts-end), Unit: "1/s", Asked: fmt.Sprintf("≥ %.0f, the plateau", .9*whole), Got: &rate, OK: rate >= .9*whole},
		{Name: fmt.Sprintf("%s: threads added in %v", name, lasts), Unit: "threads", Asked: "80–200: one for each client, about", Got: &added, OK: added >= 80 && added <= 200},
	}
	version := s.Version(name)
	if version == "" {
		return all, nil
	}
	o, err := threadpool.Case{Version: version, Cores: runtime.NumCPU(), Pattern: pattern, Connections: connections,
		Service: threadpool.Service{Seconds: service.Seconds(), From: "the lab"}, CPU: computes}.Predict()
	if err != nil {
		return all, err
	}
	// A side figure: how many looks of the thread that adds them find that one has just asked for work
	// is chance. The article has one or two a second of sleep loops.
	climbed := predicted(name+": growth of the pool, as predicted", "threads/s", o.Growth, growth(counts))
	climbed.Told = true
	return append(all,
		predicted(name+": requests answered in the end, as predicted", "1/s", o.Rate, rate),
		predicted(name+": pool threads added, as predicted", "threads", o.Threads, added),
		climbed,
	), nil
}

// computes is what a request computes, s.
const computes = .0003

// off is by how much a prediction may miss.
const off = .15

// predicted holds what the model says against what was measured.
func predicted(name, unit string, e model.Estimate, got float64) lab.Check {
	c := lab.Check{Name: name, Unit: unit, Asked: fmt.Sprintf("%.3g ± %.0f %%", e.Value, 100*off)}
	if math.IsNaN(got) {
		c.Why = "it did not grow"
		return c
	}
	c.Got, c.OK = &got, math.Abs(e.Value-got) <= off*got
	return c
}

// growth is how many threads came in a second, in the middle of the climb, from counts of
// each second.
func growth(counts []int) float64 {
	first, last := float64(counts[0]), float64(counts[len(counts)-1])
	reached := func(part float64) int {
		for i, n := range counts {
			if float64(n) >= first+part*(last-first) {
				return i
			}
		}
		return len(counts)
	}
	quarter, most := reached(.25), reached(.75)
	if most <= quarter {
		return math.NaN()
	}
	return float64(counts[min(most, len(counts)-1)]-counts[quarter]) / float64(most-quarter)
}

// asMany is the number of processors with which .NET 9 comes to the article's figures of
// taskwait: the pool adds 2 × processors threads at once for blocked ones, and so many in
// each of the next steps. With 2 it answers 10 requests/s in the first 10 s, with 4 and 6
// 17, with 8 27, with 12 60; its threads wait, so that these need not be there.
const asMany = 10

// asArticle runs taskwait as if on a machine of that many processors.
func asArticle(s *lab.Stand) (all []lab.Check, err error) {
	v, _ := s.Variant("taskwait")
	v.Name = fmt.Sprintf("%s told of %d CPUs", v.Name, asMany)
	v.Env = append(v.Env, fmt.Sprintf("DOTNET_PROCESSOR_COUNT=%d", asMany))
	const run = 10 * time.Second
	err = s.With(v, func(one *lab.Service) error {
		d, err := s.Drive(s.Context(), one, lab.Demand{Before: 1200 * time.Millisecond, Connections: connections, For: run, Patience: patience})
		if err != nil {
			return err
		}
		s.Say("%s: %.1f requests/s, mean %.0f ms", v.Name, d.Result.Rate.Mean, d.Mean)
		all = articled(v.Name, article["taskwait"], d.Result.Rate.Mean, d.Mean, float64(d.Result.Codes.Success))
		return nil
	})
	return all, err
}
