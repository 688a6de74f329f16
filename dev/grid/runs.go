package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// measurer makes the missing runs.
type measurer struct {
	options
	plan     Plan
	work     string // folder for temporary files
	services []*running
	began    time.Time
}

// spoilt is the share of the host's CPUs from which a run disturbed by other programs
// is repeated, at most again times.
const (
	spoilt = .1
	again  = 3
)

// job is a run, or with setting < 0 the recording of the calibration.
type job struct {
	rate         float64
	rep, setting int
}

func (m *measurer) jobFile(j job) string {
	if j.setting < 0 {
		return captureFile(m.dir, j.rate, j.rep)
	}
	return rowFile(m.dir, j.rate, j.rep, j.setting)
}

// seedOf gives all settings of a repetition the same arrivals.
func (m *measurer) seedOf(j job) uint64 { return m.plan.Seed + uint64(j.rep) + uint64(1000*j.rate) }

// allJobs returns all runs in the order in which they are made: each repetition has all loads,
// each load all settings in random order, with the recording among them.
func (m *measurer) allJobs() (all []job) {
	for rep := 1; rep <= m.reps; rep++ {
		for _, rate := range m.rates {
			seed := m.seedOf(job{rate: rate, rep: rep})
			for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(m.plan.Settings) + 1) {
				all = append(all, job{rate, rep, i - 1})
			}
		}
	}
	return all
}

// missingJobs returns the runs that are not made yet, and the number of all runs.
func (m *measurer) missingJobs() (todo []job, all int) {
	jobs := m.allJobs()
	for _, j := range jobs {
		if _, err := os.Stat(m.jobFile(j)); err != nil {
			todo = append(todo, j)
		}
	}
	return todo, len(jobs)
}

// runLength returns how long a run lasts: four cycles, if the heap has the headroom
// that the setting gives it.
func (m *measurer) runLength(j job) time.Duration {
	if j.setting < 0 {
		return recording
	}
	cycle := m.plan.Settings[j.setting].cycleHeadroom(m.plan.Live) / max(m.plan.Alloc*j.rate, 1)
	return min(max(m.lasts, time.Duration(4*cycle*1e9).Round(time.Second/2)), max(m.most, m.lasts))
}

func (m *measurer) runMissing(ctx context.Context) error {
	todo, _ := m.missingJobs()
	for n, j := range todo {
		var left time.Duration
		for _, k := range todo[n:] {
			left += m.runLength(k) + m.lead + time.Second
		}
		head := fmt.Sprintf("[%d of %d, %v left] %g/s, %d:", n+1, len(todo), left.Round(time.Minute/2), j.rate, j.rep)
		if j.setting < 0 {
			others, err := m.recordCalibration(ctx, j)
			if err != nil {
				return err
			}
			logLine("%s recorded %s  others %.0f %%", head, calibration, 100*others)
			continue
		}
		row, err := m.runJob(ctx, j, 0)
		if err != nil {
			return err
		}
		logLine("%s %s", head, row)
	}
	return nil
}

// String returns the line that is printed during a run.
func (row Row) String() string {
	return fmt.Sprintf("%-20s %5.2f cycles/s  collector %.2f cores  p50 %5.2f p99 %7.2f ms  others %2.0f %%", row.Setting.Name, row.Cycles, row.Assist+row.Background+row.Idle, row.P50, row.P99, 100*row.Others)
}

// runJob makes a run and keeps its row, unless an existing row is better.
func (m *measurer) runJob(ctx context.Context, j job, tries int) (row Row, err error) {
	file := m.jobFile(j)
	base := strings.TrimSuffix(file, ".json")
	d := demand{rate: j.rate, lead: m.lead, lasts: m.runLength(j), seed: m.seedOf(j)}
	if tries > 0 {
		base += "-again"
	}
	if row, err = measureSetting(ctx, m.services[j.setting], d, base); err != nil {
		return row, fmt.Errorf("%s: %w", m.services[j.setting].Name, err)
	}
	if err := ctx.Err(); err != nil {
		return row, err // cut short
	}
	row.Repetition, row.Again = j.rep, tries
	if tries > 0 {
		var before Row
		if err := readJSON(file, &before); err != nil {
			return row, err
		}
		kept := before.Others > row.Others
		for _, end := range []string{".gctrace", ".requests.txt"} {
			if kept {
				err = os.Rename(base+end, strings.TrimSuffix(file, ".json")+end)
			} else {
				err = os.Remove(base + end)
			}
			if err != nil {
				return row, err
			}
		}
		if !kept {
			before.Again = tries
			return row, writeJSON(file, before)
		}
	}
	return row, writeJSON(file, row)
}

// repeatSpoilt repeats disturbed runs, the worst first, while there is time.
func (m *measurer) repeatSpoilt(ctx context.Context) error {
	for {
		var worst job
		var most Row
		for _, j := range m.allJobs() {
			var row Row
			if j.setting < 0 {
				continue
			}
			if err := readJSON(m.jobFile(j), &row); err != nil {
				return err
			}
			if row.Others >= spoilt && row.Again < again && row.Others > most.Others {
				worst, most = j, row
			}
		}
		if most.Others == 0 || time.Since(m.began)+m.lead+m.runLength(worst) > m.within {
			return nil
		}
		row, err := m.runJob(ctx, worst, most.Again+1)
		if err != nil {
			return err
		}
		logLine("once more, as others used %.0f %%: %g/s, %d: %s", 100*most.Others, worst.rate, worst.rep, row)
	}
}
