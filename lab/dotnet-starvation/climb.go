package dotnetstarvation

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/lab"
)

// lasts is how long the climb of the threads is watched. .NET adds one thread a second for sleep
// loops, so all 125 clients have a thread after two minutes.
const (
	lasts = 150 * time.Second
	end   = 5 * time.Second // of a part of it
)

// blocked are the variants whose threads wait, and the pattern of their waits.
var blocked = []struct {
	variant string
	pattern threadpool.Pattern
}{{"taskwait", threadpool.TaskWait}, {"tasksleepwait", threadpool.SleepWait}}

// climbChecks checks how threads are added, against the prediction of the pool's model.
func climbChecks(s *lab.Stand) (all []lab.Check, err error) {
	if s.Quick() {
		return nil, nil
	}
	for _, b := range blocked {
		v, _ := s.Variant(b.variant)
		if err := s.With(v, func(one *lab.Service) error {
			checks, err := plateauChecks(s, one, b.pattern)
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

// plateauChecks loads a blocked variant and checks where the climb of the threads ends, and how
// fast it is.
func plateauChecks(s *lab.Stand, one *lab.Service, pattern threadpool.Pattern) ([]lab.Check, error) {
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
	whole := connections / service.Seconds()
	high, added := slices.Max(counts), float64(slices.Max(counts)-counts[0])
	rate, low, since := settledRate(d.Answered, .9*whole)
	kept := threadsHeld(counts, since)
	s.Say("%s: %.0f requests/s (%.0f at the least) once the climb had ended, after %v, threads %d to %d, then %.0f more than at first", name, rate, low, since, counts[0], high, kept)
	all := []lab.Check{
		{Name: name + ": requests answered once the climb has ended", Unit: "1/s", Asked: fmt.Sprintf("≥ %.0f, the plateau", .9*whole), Got: &rate, Low: &low, OK: rate >= .9*whole},
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
	// The thread that adds them does so evenly. Hill climbing adds up to twenty at once on top, at
	// random moments, which show in the mean and not in most seconds.
	all = append(all,
		checkPrediction(name+": requests answered in the end, as predicted", "1/s", o.Rate, rate),
		checkPrediction(name+": pool threads added once the climb had ended, as predicted", "threads", o.Threads, kept),
		checkPrediction(name+": threads added in most seconds, as predicted", "threads/s", o.Growth, medianGrowth(counts)))
	climbed := checkPrediction(name+": growth of the pool, as predicted", "threads/s", o.Growth, climbRate(counts))
	climbed.Told = true
	return append(all, climbed), nil
}

// settledRate returns how many requests a second are answered after the end of the climb, in the
// median of its parts and in the worst part. The end alone is not enough: once .NET 9 has all threads, it takes
// some ten away again, because hill climbing tries fewer, and answers only 50 to 200 requests/s for
// ten seconds until they are back. If a climb never ends, or so late that fewer than
// leastParts remain, the last leastParts count.
func settledRate(answered func(from, to time.Duration) float64, plateau float64) (median, low float64, since time.Duration) {
	var parts []float64
	reached := -1
	for at := time.Duration(0); at+end <= lasts; at += end {
		parts = append(parts, answered(at, at+end))
		if reached < 0 && parts[len(parts)-1] >= plateau {
			reached = len(parts) - 1
		}
	}
	if most := len(parts) - leastParts; reached < 0 || reached > most {
		reached = most
	}
	return stats.Median(parts[reached:]), slices.Min(parts[reached:]), time.Duration(reached) * end
}

// threadsHeld returns how many threads more than at first there were from a moment on, in the
// median of counts of each second. Hill climbing adds some twenty more for a while to try how many
// the service needs.
func threadsHeld(counts []int, since time.Duration) float64 {
	var more []float64
	for _, n := range counts[min(int(since.Seconds()), len(counts)-1):] {
		more = append(more, float64(n-counts[0]))
	}
	return stats.Median(more)
}

// leastParts is how many parts of the time a plateau needs.
const leastParts = 3

// computes is the CPU time of a request, s.
const computes = .0003

// off is the relative error that a prediction may have.
const off = .15

// checkPrediction compares a figure of the model with what was measured.
func checkPrediction(name, unit string, e model.Estimate, got float64) lab.Check {
	c := lab.Check{Name: name, Unit: unit, Asked: formatAsked(e.Value)}
	if math.IsNaN(got) {
		c.Why = "it did not grow"
		return c
	}
	c.Got, c.OK = &got, isNear(e.Value, got)
	return c
}

// formatAsked returns the range that a measured figure must be in.
func formatAsked(predicted float64) string { return fmt.Sprintf("%.3g ± %.0f %%", predicted, 100*off) }

// isNear reports whether a prediction came close enough.
func isNear(predicted, got float64) bool { return math.Abs(predicted-got) <= off*got }

// climbRate returns how many threads came in a second, in the middle of the climb, from counts of
// each second.
func climbRate(counts []int) float64 {
	climb := middleOfClimb(counts)
	if len(climb) < 2 {
		return math.NaN()
	}
	return float64(climb[len(climb)-1]-climb[0]) / float64(len(climb)-1)
}

// medianGrowth returns the median of the threads that each second in the middle of the climb
// added.
func medianGrowth(counts []int) float64 {
	climb := middleOfClimb(counts)
	if len(climb) < 2 {
		return math.NaN()
	}
	added := make([]float64, len(climb)-1)
	for i := range added {
		added[i] = float64(climb[i+1] - climb[i])
	}
	return stats.Median(added)
}

// middleOfClimb returns the counts between the moments when a quarter and three quarters of the
// threads had been added.
func middleOfClimb(counts []int) []int {
	first, last := float64(counts[0]), float64(slices.Max(counts))
	reached := func(part float64) int {
		return slices.IndexFunc(counts, func(n int) bool { return float64(n) >= first+part*(last-first) })
	}
	return counts[reached(.25) : reached(.75)+1]
}

// asMany is the number of processors with which .NET 9 reaches the article's figures of
// taskwait: the pool adds 2 × processors threads at once for blocked ones, and as many in
// each of the next steps. With 2 it answers 10 requests/s in the first 10 s, with 4 and 6
// 17, with 8 27, with 12 60. Its threads wait, so the host need not have these processors.
const asMany = 10

// asArticle runs taskwait as if the machine had that many processors.
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
		all = compareArticle(v.Name, article["taskwait"], d.Result.Rate.Mean, d.Mean, float64(d.Result.Codes.Success))
		return nil
	})
	return all, err
}
