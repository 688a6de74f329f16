package jvm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// worthwhile is the largest factor by which the young generation is enlarged: each doubling saves half as much as the one
// before.
const worthwhile = 4

// adviseYoung adds fixes for frequent young collections, and predicts what they do.
func (g *collector) adviseYoung(v *check.Verdict, p metrics.Pauses, l younggen.Load, known bool) {
	s, err := younggen.SituationOf(g.c.Bundle, g.c.Subject, g.Collector)
	if err == nil && known {
		s.Knee, s.Rate = &l.Knee, l.Offered
	}
	if err == nil {
		g.adviseLargerYoung(v, p, s)
	}
	text := "allocate less per request"
	if reqs := g.c.Ledger; reqs != nil && reqs.Requests.Rate > 0 && !math.IsNaN(g.Alloc.Number) && g.meetsRequests() {
		text += fmt.Sprintf(": %s MiB now", units.Num(g.Alloc.Number/reqs.Requests.Rate/(1<<20)))
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: text + "; an allocation profile shows the code (jcmd PID JFR.start duration=60s settings=profile), the class histogram shows what fills eden, often buffers of large responses, temporary lists, rows read again and again"},
		check.Fix{Text: "have fewer requests: let callers cache what they ask for repeatedly, and cache in the service where one request makes many queries"})
	g.advisePauses(v)
}

// besideHeap is the memory that a process takes beside its heap, per byte of heap: metaspace, code, threads and the collector's
// tables, a quarter as a rule of thumb. Growth of the young generation below leastLarger is not worth a restart.
var leastLarger = check.Threshold{Name: "how much a young generation must be able to grow for the advice", Value: 1.5, Unit: "times",
	Why: "less is not worth a restart", Source: "arithmetic: with 1.5 times the room collections are a third rarer (1 − 1/1.5)"}

const (
	besideHeap = 1.25
)

// adviseLargerYoung advises a larger young generation, as far as memory allows, and predicts what
// it does.
func (g *collector) adviseLargerYoung(v *check.Verdict, p metrics.Pauses, s younggen.Situation) {
	times := float64(worthwhile)
	if s.Size == 0 {
		return
	}
	const step = 1.25
	for s.Room > 0 && s.Heap > 0 && besideHeap*(s.Heap+(times-1)*s.Size) > s.Room && times > step {
		times /= step // the heap grows with the young generation
	}
	if times < leastLarger.Value {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("a larger young generation would help, but %s GiB of memory is too little for a larger heap", units.Num(s.Room/(1<<30)))})
		return
	}
	fix := check.Fix{Text: fmt.Sprintf("make the young generation %s times as large, and the heap larger by as much memory: there will be as many times fewer collections, and each will copy little more", units.Num(times))}
	switch {
	case g.Is("G1"):
		// G1 with a fixed young generation no longer aims at its pause goal.
		fix.Text = "let G1 use a larger young generation: a larger heap and a longer pause goal (do not set -Xmn or NewRatio, which switch off G1's own sizing)"
		fix.Setting = "-XX:MaxGCPauseMillis=400"
		if s.Heap > 0 {
			fix.Setting = joinFlags(sizeFlag("-Xmx", s.Heap+(times-1)*s.Size), fix.Setting)
		}
	case g.Is("ZGC") || g.Is("Shenandoah"):
		fix.Text = "enlarge the heap: its young generation grows with it"
		fix.Setting = sizeFlag("-Xmx", times*s.Heap)
	default:
		fix.Setting = s.Flags(times)
	}
	v.Fix = append(v.Fix, fix)
	then := s.Generation.Predict(times, 1)
	now := s.Generation.Predict(1, 1)
	// The model covers all collections in the log; the finding concerns some of them.
	predict := func(id, metric, unit string, measured, modelled float64, then model.Estimate) {
		if measured > 0 && modelled > 0 {
			v.Predict(newPrediction(id, metric, unit, measured, then.Times(measured/modelled)))
		}
	}
	predict("gc.young_per_min", "young collections", "1/min", 60*g.PerSecond(p), now.Rate.Value, then.Rate)
	predict("gc.mean_pause_ms", "mean pause", "ms", 1e3*p.Seconds()/float64(len(p)), now.Pause.Value, then.Pause)
	predict("gc.paused_share", "share of the time stopped", "1", g.ShareOf(p), now.Stopped.Value, then.Stopped)
	if s.Knee != nil {
		part := then.Stopped.Value / math.Max(now.Stopped.Value, 1e-9)
		v.Predict(newPrediction("knee.requests_per_s", "knee", "1/s", s.Knee.Rate().Value, s.Knee.With(part)))
	}
}

// advisePauses adds what shortens each collection, by release and collector.
func (g *collector) advisePauses(v *check.Verdict) {
	version := featureRelease(g.c)
	cores := g.cpuCount()
	switch {
	case strings.Contains(g.Name, "Serial") && cores >= 2:
		v.Fix = append(v.Fix, check.Fix{Text: "use parallel GC: now one thread collects though there are more CPUs, because the JVM picks Serial on machines below 2 CPUs or 1792 MiB", Setting: "-XX:+UseParallelGC"})
	case g.Is("CMS") && version > 0 && version < 14:
		v.Fix = append(v.Fix, check.Fix{Text: "CMS was removed in JDK 14: plan for G1 or, from 21 on, generational ZGC, and measure under the same load"})
	}
	if n := g.Flag(evidence.FactParallelGCThreads); n > 0 && cores > n {
		v.Fix = append(v.Fix, check.Fix{Text: fmt.Sprintf("remove ParallelGCThreads (now %.0f, with %.0f CPUs) and let the JVM choose", n, cores)})
	}
	if user, system, _ := g.CPUOf(g.Pauses); system > user {
		v.Fix = append(v.Fix, check.Fix{Text: "see jvm.gc-kernel-time: collections use more CPU time in the kernel than for copying"})
	}
}

// mostBytes is the limit of a processor's page tables (48 bits): no memory is larger.
const mostBytes = 1 << 48

// sizeFlag returns a flag with a size in MiB, "-Xmx600m"; "" where the size is unknown or not
// sensible, so that the advice has no figure.
func sizeFlag(flag string, bytes float64) string {
	if !(bytes > 0 && bytes < mostBytes) { // also for NaN
		return ""
	}
	return fmt.Sprintf("%s%.0fm", flag, math.Ceil(bytes/(1<<20)))
}

// joinFlags joins those flags that are not empty.
func joinFlags(flags ...string) string {
	return strings.Join(slices.DeleteFunc(flags, func(f string) bool { return f == "" }), " ")
}

func newPrediction(id, metric, unit string, now float64, then model.Estimate) check.Prediction {
	return check.Prediction{ID: id, Metric: metric, Unit: unit, Now: stats.FiniteOrNil(now), Then: stats.FiniteOrNil(then.Value), Low: stats.FiniteOrNil(then.Low), High: stats.FiniteOrNil(then.High)}
}
