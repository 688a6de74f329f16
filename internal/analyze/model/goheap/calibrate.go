package goheap

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// ErrNoCycles means that no collection was watched; its text says what to record.
var ErrNoCycles = errors.New("no GC cycles were recorded: record the process under load (unstall record PID --for 30s), " +
	"or give the log of a run with GODEBUG=gctrace=1, or an execution trace of 5 s or more")

// Process is a Go process as recorded: its collector, and its requests where there are any.
type Process struct {
	Bundle  *evidence.Bundle
	Subject evidence.SubjectID
	Ledger  *ledger.Ledger // nil: there are no requests
	AtLeast string         // the oldest Go release consistent with the evidence; "" unknown
	*metrics.Collector
}

// ProcessOf reads a process's collector beside its requests; nil: it was not watched.
func ProcessOf(b *evidence.Bundle, subject evidence.SubjectID, l *ledger.Ledger, atLeast string) *Process {
	g := metrics.GoCollector(b, subject, metrics.Scope{Beside: l.RequestsOf()})
	if g == nil {
		return nil
	}
	return &Process{Bundle: b, Subject: subject, Ledger: l, AtLeast: atLeast, Collector: g}
}

// goVersion returns the release of Go, for people; "" unknown.
func (g *Process) goVersion() string {
	switch v := g.Bundle.Subjects[g.Subject].Version; {
	case v != "":
		return v
	case g.AtLeast != "":
		return g.AtLeast + " or later"
	}
	return ""
}

// answerQuestion answers from what was recorded.
func answerQuestion(q model.Question) (*model.Answer, error) {
	g := ProcessOf(q.Bundle, q.Subject, q.Ledger, q.AtLeast)
	if g == nil {
		return nil, ErrNoCycles
	}
	h := g.Heap()
	if err := h.Check(); err != nil {
		return nil, fmt.Errorf("%d GC cycles in %.3g s: %w; record for longer under load, so that several cycles run", len(h.Cycles), h.Span, err)
	}
	latency, why := g.Latency(nil)
	a, err := h.Ask(q.Name, q.Wanted, latency)
	if a == nil {
		return nil, err
	}
	if quota, ok := g.Quota(); ok {
		a.Note(fmt.Sprintf("the CPU quota of %.3g CPUs is below GOMAXPROCS=%.0f: throttling is not modelled, and GC uses part of the quota, too", quota, h.Procs))
	}
	switch {
	case why != nil && latency == nil:
		a.Note("p99 is not predicted: " + why.Error())
	case why == nil:
		a.Note("p99 is from a replay of the recorded requests with the predicted GC cycles; latency that GC does not explain stays. Nine of ten ranges should hold; the current figure is the recorded one, in typical seconds")
	default:
		a.Note("p99 is that of the traced requests, with the cost of GC scaled: " + why.Error())
	}
	return a, err
}

// fewPaced is the number of cycles from which those at the recording's ends no longer matter for the rate: of twelve, one
// more or less is 8 %.
const fewPaced = 12

// Heap returns what the pacer's model needs of a collector: its cycles and, if it is a piece of a recording, the other
// pieces' cycles.
func (g *Process) Heap() *Heap {
	h := &Heap{Minor: g.minorVersion(), Exact: g.Bundle.Subjects[g.Subject].Version != "", Go: g.goVersion(), Source: g.sourceName(),
		RSS: math.NaN(), Process: math.NaN(), P99: math.NaN()}
	h.Most, h.Who = g.memoryRoom()
	whole, pieces := g.Recording()
	h.Span, h.Paced, h.Marking, h.Alloc, h.Procs = whole.Span, whole.Rate.Number, whole.Marking.Number, whole.Alloc.OrZero(), whole.Processors.OrZero()
	var roots []float64
	for _, p := range pieces {
		h.Cycles = append(h.Cycles, cyclesOf(p)...)
		for _, x := range p.Cycles {
			roots = append(roots, x.Roots)
		}
	}
	// With few cycles, distances say more than the number that fell into the recording.
	if paced := pacedEnds(g.Collector); len(pieces) == 1 && len(paced) >= 2 && len(paced) < fewPaced && paced[len(paced)-1] > paced[0] {
		h.Paced = float64(len(paced)-1) / (float64(paced[len(paced)-1]-paced[0]) / 1e9)
	}
	h.Roots = stats.Median(roots)
	h.RSS, h.Process = g.readResources()
	h.Setting, h.Told = g.readSetting()
	if l := g.Ledger; l != nil && len(l.Rows) > 0 {
		h.P99 = l.P99() / 1e6
	}
	return h
}

// pacedEnds returns the ends of the cycles that the pacer started, ns.
func pacedEnds(g *metrics.Collector) (ends []int64) {
	for _, x := range g.Cycles {
		if !x.Forced {
			ends = append(ends, x.To)
		}
	}
	return ends
}

// cyclesOf returns the complete cycles of a piece of a recording, in the model's form.
func cyclesOf(g *metrics.Collector) (all []Cycle) {
	forced := len(pacedEnds(g)) >= 2
	whole := slices.ContainsFunc(g.Cycles, func(x metrics.Cycle) bool { return x.Before > 0 })
	for i, x := range g.Cycles {
		if x.Forced && forced {
			continue // under another load: a start, a request for a profile
		}
		if !(x.After > 0 && x.Live > 0 && x.Mark > 0) || whole && !(x.Before > 0) {
			continue // begun before the recording, or cut by its end
		}
		y := Cycle{Mark: x.Mark / 1e9, Assist: x.Assist / 1e9, Background: x.Background / 1e9, Idle: x.Idle / 1e9,
			Before: x.Before, After: x.After, Marked: x.Live, Goal: x.Goal, Forced: x.Forced}
		for _, v := range []*float64{&y.Assist, &y.Background, &y.Idle, &y.Before, &y.Goal} {
			if math.IsNaN(*v) {
				*v = 0 // the model's form of unknown
			}
		}
		if i > 0 {
			if last := g.Cycles[i-1]; last.Live > 0 && x.To > last.To && x.After >= last.Live {
				y.Alloc = (x.After - last.Live) / (float64(x.To-last.To) / 1e9)
			}
		}
		all = append(all, y)
	}
	return all
}

// readResources returns the resident memory (bytes) and CPU (cores) from /proc while the collector was watched; without
// /proc, the CPU time of a profile. NaN is unknown.
func (g *Process) readResources() (rss, cores float64) {
	used := metrics.ProcessOf(g.Bundle, g.Subject, g.Window)
	rss, cores = used.RSS.Number, used.CPU.Number
	if p, ok := metrics.ProfileOf(g.Bundle, g.Subject); !used.CPU.Known() && ok && p.Span > 0 {
		cores = float64(p.All) / 1e9 / p.Span
	}
	return rss, cores
}

// readSetting returns the process's heap setting. If its environment could not be read, the setting is inferred from the
// goals.
func (g *Process) readSetting() (s Setting, told bool) {
	s = Default
	gogc, percent := g.findFact(evidence.FactGOGC)
	if percent {
		s.GOGC = gogc.Number
	}
	limit, limits := g.findFact(evidence.FactGOMEMLIMIT)
	if limits && limit.Number > 0 && limit.Number < 1<<62 {
		s.Limit = limit.Number
	}
	limited, known := g.Limited()
	if percent && (limits || !limited) {
		return s, true
	}
	switch {
	case known && limited && s.Limit == 0:
		s.GOGC = Off
		s.Limit = LimitFor(g.Goal.Number)
	case !percent:
		s.GOGC = g.inferGOGC()
	}
	return s, false
}

// A GOGC inferred from goals is a common value if it is off by no more than the larger of these: goals are rounded, and
// include some memory that is not heap.
const (
	nearRatio   = .04 // of it
	nearPercent = 2   // per cent
)

// inferGOGC returns the GOGC that the goals follow: the nearest common value, if it is near.
func (g *Process) inferGOGC() float64 {
	var percents []float64
	for i := 1; i < len(g.Cycles); i++ {
		prev, x := g.Cycles[i-1], g.Cycles[i]
		if prev.Live >= 2*leastLive && x.Goal > prev.Live && x.Goal < mostGoal {
			// goal = live + (live + roots)·GOGC/100
			percents = append(percents, 100*(x.Goal-prev.Live)/(prev.Live+x.Roots))
		}
	}
	p := stats.Median(percents)
	if p <= 0 {
		return Default.GOGC
	}
	apart := step
	if p > wide {
		apart = wideStep
	}
	if near := math.Round(p/apart) * apart; near > 0 && math.Abs(p-near) <= max(nearRatio*p, nearPercent) {
		return near
	}
	return math.Round(p)
}

// findFact returns a fact from the artifact of the requests, else from any other.
func (g *Process) findFact(key string) (evidence.Fact, bool) {
	source := evidence.ArtifactID(-1)
	if g.Ledger != nil {
		source = g.Ledger.StatesFrom()
	}
	return g.Bundle.FactFrom(source, g.Subject, key)
}

// Latency returns the model of the process's latencies: a replay of its requests beside the collector. If that does not
// hold for the recording and requests were traced, it is the collector's cost for each request, scaled. The error says
// what is missing, or why it is not the replay. The bill is that of its traced requests, if already known.
func (g *Process) Latency(b *Bill) (Latency, error) {
	l, err := g.Latencies()
	if err == nil {
		return l.At, nil
	}
	if b == nil && g.Ledger != nil && g.Ledger.Traced && len(g.Ledger.Rows) > 0 {
		b = g.Bill()
	}
	if b == nil {
		return nil, err
	}
	return func(now, then Outcome) model.Estimate {
		p := g.Ledger.Shorten(b.Without(now, then))
		return model.Between(p.Then, p.Low, p.High)
	}, err
}

// sourceName names the source of the collector's figures: an artifact, or the pieces of a recording.
func (g *Process) sourceName() string {
	a, _ := g.Origin.Artifact()
	if _, pieces := g.Recording(); len(pieces) > 1 {
		return fmt.Sprintf("%s ×%d", g.Bundle.Artifacts[a].Series, len(pieces))
	}
	return g.Bundle.Artifacts[a].Name
}

// Quota is the process's CPU quota, in processors, where that is below GOMAXPROCS: then the kernel stops the process while
// it has processors left.
func (g *Process) Quota() (quota float64, ok bool) {
	f, known := g.Bundle.Fact(g.Subject, evidence.FactContainerCPU)
	if !known || f.Number <= 0 || !(f.Number < g.Processors.Number) {
		return 0, false
	}
	return f.Number, true
}

// A tenth of a container is left for memory that the runtime does not count (the GC guide: 5–10 %), half of a host for
// other processes.
const (
	ofContainer = .9
	ofHost      = .5
)

// memoryRoom returns how much memory the process may be set to use, and what limits it; 0 if unknown.
func (g *Process) memoryRoom() (bytes float64, who string) {
	if limit, ok := g.Bundle.Fact(g.Subject, evidence.FactContainerLimit); ok {
		return ofContainer * limit.Number, "container"
	}
	if all, ok := g.Bundle.Fact(-1, evidence.FactHostMemory); ok {
		return ofHost * all.Number, "host"
	}
	return 0, ""
}
