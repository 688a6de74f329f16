package ledger

import (
	"strings"
	"testing"
	"time"
)

// Processors that are hardly ever idle: what waited behind pauses lies within the bounds,
// and is little more than the figure, whatever each request needs.
func TestBacklog(t *testing.T) {
	for _, q := range []queueing{
		{servers: 2, load: .85, demand: uniform(13*ms, 39*ms), pause: 60 * ms, every: 450 * ms, cpus: 2, slo: 150 * ms},
		{servers: 2, load: .95, demand: constant(14 * ms), pause: 20 * ms, every: 120 * ms, cpus: 2, slo: 300 * ms},
		{servers: 2, load: 1.05, demand: constant(14 * ms), pause: 20 * ms, every: 120 * ms, cpus: 2, slo: 300 * ms},
		{servers: 1, load: .9, demand: uniform(5*ms, 60*ms), pause: 100 * ms, every: 800 * ms, cpus: 1, slo: 200 * ms},
	} {
		for seed := range uint64(4) {
			q.seed = seed
			b, truth := q.build()
			q.used(b, 1)
			l := one(t, b, Options{SLO: time.Duration(q.slo)})
			l.Replay.Servers = q.cpus // which is not asked for where own work fills them
			behind, low, high, why := l.estimateBacklog(l.stops)
			var sum int64
			for _, v := range behind {
				sum += v
			}
			if why != "" {
				t.Errorf("load %g seed %d: %s", q.load, seed, why)
				continue
			}
			if truth < low || truth > high {
				t.Errorf("load %g seed %d: %.1f s were waited behind pauses, the backlog says %.1f to %.1f", q.load, seed, float64(truth)/1e9, float64(low)/1e9, float64(high)/1e9)
			}
			if of := float64(sum) / float64(truth); of < .6 || of > 1.05 {
				t.Errorf("load %g seed %d: the backlog says %.0f %% of the truth", q.load, seed, 100*of)
			}
		}
	}
}

// Requests that queue for something else than processors, as connections or a dependency,
// say nothing of what they would have done without pauses.
func TestBacklogNeedsBusyProcessors(t *testing.T) {
	q := queueing{servers: 2, seed: 1, load: .9, demand: constant(20 * ms), pause: 60 * ms, every: 450 * ms, cpus: 2, slo: 150 * ms}
	for factor, want := range map[float64]string{0: "was not recorded", .5: "too little to tell by its answers"} {
		b, _ := q.build()
		if factor > 0 {
			q.used(b, factor)
		}
		l := one(t, b, Options{SLO: time.Duration(q.slo)})
		if _, _, _, why := l.estimateBacklog(l.stops); !strings.Contains(why, want) {
			t.Errorf("%g of the CPU time: %q, want %q", factor, why, want)
		}
	}
}
