package lab

import (
	"context"
	"time"

	"github.com/unstall/unstall/compare"
)

// blocks measures the variants that are compared: in each block every one of them
// once, under the same load, in random order.
func (s *Stand) blocks() error {
	var names []string
	for _, v := range s.Variants {
		if v.Compared && !(v.Aside && s.opt.Quick) {
			names = append(names, v.Name)
		}
	}
	n, again := 0, s.Sizes.Blocks*len(names)/2 // what others on this host spoil is made again, within limits
	runs, err := compare.Blocks(s.ctx, s.Sizes.Blocks, names, s.out.Plan.Seed, func(ctx context.Context, name string, block int) (compare.Run, error) {
		n++
		r, load, err := s.storm(s.Service(name), block)
		for ; err == nil && r.Others > others && again > 0; again-- {
			s.out.Repeated++
			r, load, err = s.storm(s.Service(name), block)
		}
		if err != nil {
			return compare.Run{}, err
		}
		s.out.Runs = append(s.out.Runs, r)
		s.say("block %d of %d, run %d of %d: %-10s p99 %7.2f ms, %5.2f gc cycles/s, %.2f cores, %.1f %% of the storm delivered",
			block+1, s.Sizes.Blocks, n, len(names)*s.Sizes.Blocks, name, r.Metrics["p99_ms"], r.Metrics["gc_cycles_per_s"], r.Metrics["cpu_cores"], 100*r.Achieved/r.Offered)
		return compare.Run{Name: name, Start: r.Start, Load: load, Metrics: r.Metrics}, nil
	})
	if s.out.Repeated > 0 {
		s.warnf("%d runs were made again because other programs used more than %.0f %% of the host's processors meanwhile", s.out.Repeated, 100*others)
	}
	if err != nil {
		return err
	}
	for i, name := range names {
		if name == s.Sick {
			continue
		}
		c, err := compare.Compare(runs[index(names, s.Sick)], runs[i], compare.Options{Before: s.Sick, After: name})
		if err != nil {
			return err
		}
		c.Seed = &s.out.Plan.Seed
		s.out.Comparisons = append(s.out.Comparisons, c)
	}
	return nil
}

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return 0
}

// storm measures one run: a base load, then many times as much. The figures are of
// the storm.
func (s *Stand) storm(one *Service, block int) (Measured, compare.Load, error) {
	var from state
	var failed error
	s.quiet()
	r := Measured{Variant: one.Variant.Name, Block: block + 1}
	delivered, err := s.Drive(s.ctx, one, Demand{
		Before: s.Sizes.Base, Base: s.out.Plan.Base, Rate: s.Sizes.Peak, For: s.Sizes.Storm,
		Seed: s.out.Plan.Seed + uint64(block), // the same arrivals for all of a block
		Storm: func() {
			r.Start = time.Now()
			from, failed = one.look()
		},
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return r, compare.Load{}, err
	}
	until, err := one.look()
	if err != nil {
		return r, compare.Load{}, err
	}
	r.Metrics = between(from, until)
	r.Metrics["p50_ms"], r.Metrics["p90_ms"], r.Metrics["p99_ms"] = delivered.P50, delivered.P90, delivered.P99
	r.Metrics["rate"] = delivered.Achieved
	r.Offered, r.Achieved, r.Limited = delivered.Offered, delivered.Achieved, delivered.Limited
	seconds := float64(until.Time-from.Time) / 1e9
	r.Others = until.others(from.usage, seconds)
	load := compare.Load{URL: one.URL, Mode: "open", LatencyFrom: "intended", Offered: delivered.Offered, Rate: delivered.Achieved,
		Duration: s.Sizes.Storm, Sent: delivered.Sent, Failed: delivered.Failed, Others: &r.Others, Limited: delivered.Limited}
	return r, load, nil
}

// between are the figures of a service between two instants, by the names that
// package compare knows.
func between(a, b state) map[string]float64 {
	s := float64(b.Time-a.Time) / 1e9
	cpu := b.UserSeconds + b.SysSeconds - a.UserSeconds - a.SysSeconds
	m := map[string]float64{
		"gc_cycles_per_s":    float64(b.GCCycles-a.GCCycles) / s,
		"cpu_cores":          cpu / s,
		"assist_ms_per_s":    1e3 * (b.Assist - a.Assist) / s,
		"alloc_mib_per_s":    float64(b.AllocBytes-a.AllocBytes) / s / (1 << 20),
		"heap_goal_mib":      float64(b.GoalBytes) / (1 << 20),
		"rss_mib":            float64(b.RSS) / (1 << 20),
		"minor_faults_per_s": float64(b.MinorFaults-a.MinorFaults) / s,
	}
	if b.GCCycles > a.GCCycles {
		m["live_heap_mib"] = float64(b.LiveBytes) / (1 << 20)
	}
	if n := finished(b) - finished(a); n > 0 {
		m["cpu_ms_per_request"] = 1e3 * cpu / float64(n)
	}
	return m
}

func finished(s state) (n int64) {
	for _, c := range s.Finished {
		n += c
	}
	return n
}
