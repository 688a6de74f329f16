package ledger

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// HostShare is the part of the time on processors in which the host did not run the process: 0 on a quiet machine.
type HostShare struct {
	Share     float64 // the part taken out of all time on processors
	Low, High float64
	Dilation  float64 // wall time ÷ processor time of short system calls, 0 unknown
	LongRuns  float64 // share of run time in stretches no scheduler of the runtime allows
	Known     bool    // the evidence can tell
	Measured  bool    // by the process's CPU time
	Denied    float64 // if measured: the part of the process's time on processors that was not CPU time
	Suggested bool    // the trace alone looks starved
}

// A measured share below noise counts as none; from Withheld on it is starvation; between them it is starvation only if
// the trace looks starved, too.
const (
	noise    = .03
	Withheld = .25
	edge     = .05 // error of readings that do not meet the trace's ends
)

// Dilated is the dilation of calls that never block above which the host counts as starving the process. On quiet
// machines the mean of such calls is up to twice their median.
const Dilated = 4

// Thresholds from which a trace alone looks starved. Quiet hosts have no stretches that the runtime's scheduler does not
// allow; where requests do not all need the same, they run on average up to half as long again as the fastest quarter.
const (
	enoughCalls = 100 // short calls that a mean needs
	LongRunning = .02 // of the run time in such stretches, where calls are timed and take long
	workLonger  = 2.  // × the work of the fastest quarter, likewise
	longUntimed = .01 // of the run time in such stretches, where calls are not timed
	workUntimed = 1.5 // × the work of the fastest quarter, likewise
)

// quickQuarter is the part of a route's requests whose work counts as what the route needs.
const quickQuarter = .25

// Parts of the share that a trace suggests: one is taken out, the other is the lower bound. Recordings with /proc beside
// them measured .35, .61, .62, .74 and .93 of the suggested share.
const (
	credited      = 2. / 3
	creditedLeast = 1. / 3
)

// Starved reports whether the host withheld processors.
func (h *HostShare) Starved() bool { return h.Share > 0 }

// hostShare returns the share that the process's CPU time shows where /proc was recorded beside the trace, else the share that the trace suggests.
func (l *Ledger) hostShare() HostShare {
	h := l.suggestHostShare()
	h.Suggested = h.Starved()
	h.Denied, h.Measured = l.deniedShare()
	if !h.Measured {
		return h
	}
	h.Known, h.Share = true, 0
	if h.Denied >= Withheld || h.Suggested && h.Denied >= noise {
		h.Share = h.Denied
		h.Low, h.High = max(0, h.Denied-edge), min(1, max(h.High, h.Denied+edge)) // slow requests may have met more of it than all requests did
	} else {
		h.Low, h.High = 0, 0
	}
	return h
}

// deniedShare returns the part of the process's time on processors that was not CPU time (rule: plausibility first).
// Threads also work outside of goroutines, so that a quiet host shows zero or less. A process with hardly any CPU time is
// not the one that was traced.
func (l *Ledger) deniedShare() (share float64, ok bool) {
	var on, used, seconds float64 // s on processors as the runtime believes, and s of CPU time
	for _, a := range l.traces {
		run, known := l.b.FactFrom(a, l.Subject, evidence.FactRunTime)
		if !known || run.Number <= 0 || run.Until <= run.From {
			continue
		}
		cpu := metrics.ProcessOf(l.b, l.Subject, metrics.Window{From: run.From, Until: run.Until}).CPU
		if !cpu.MostlyKnown() {
			continue
		}
		s := float64(run.Until-run.From) / 1e9
		on, used, seconds = on+run.Number/1e9, used+cpu.Number*s, seconds+s
	}
	if seconds == 0 || metrics.IsAnotherProcess(used/seconds, on/seconds) {
		return 0, false
	}
	return max(0, 1-used/on), true
}

// suggestHostShare compares wall time with the processor time that the same work takes (rule: plausibility first;
// golang/go#19497). Two figures must agree: calls that never block take far longer on average than in the median, and
// requests take far longer for the same work on average than the fastest quarter does. Both figures include other
// delays: a call that wakes its peer may lose the processor to it, and work beside the collector is slower. So it credits
// a part of the smaller figure.
func (l *Ledger) suggestHostShare() (h HostShare) {
	var run, long, calls, median, mean float64
	for _, a := range l.traces {
		fact := func(key string) float64 {
			f, _ := l.b.FactFrom(a, l.Subject, key)
			return f.Number
		}
		n := fact(evidence.FactShortCalls)
		run, long, calls = run+fact(evidence.FactRunTime), long+fact(evidence.FactLongRuns), calls+n
		median, mean = median+n*fact(evidence.FactShortCallMedian), mean+n*fact(evidence.FactShortCallMean)
	}
	if run > 0 {
		h.LongRuns = min(1, long/run)
	}
	work := l.workDilation()
	if calls < enoughCalls || median == 0 {
		// Traces up to Go 1.21 do not time calls: only stretches that the runtime's scheduler does not
		// allow can tell. Quiet hosts have none.
		if h.LongRuns >= longUntimed && work >= workUntimed {
			h.Known, h.Low, h.Share, h.High = true, h.LongRuns, max(h.LongRuns, (1-1/work)*credited), 1
		}
		return h
	}
	h.Known, h.Dilation = true, mean/median
	if h.Dilation < Dilated {
		return h
	}
	if h.LongRuns < LongRunning && work < workLonger {
		return h // only the calls are slow, perhaps because of their peer
	}
	part := func(d float64) float64 { return max(0, 1-1/max(d, 1)) }
	most := part(min(work, h.Dilation))
	h.Low = max(h.LongRuns, most*creditedLeast)
	h.Share = max(h.Low, most*credited)
	h.High = max(h.Share, part(max(h.Dilation, work)))
	return h
}

// workDilation is how many times as long requests ran on average as the fastest quarter of their route.
func (l *Ledger) workDilation() float64 {
	byRoute := make(map[evidence.NameID][]int64)
	for _, i := range l.Rows {
		if l.Joined != nil && !l.b.Requests.Path(i).Followed() {
			continue
		}
		var own int64
		for s := range l.b.Requests.Path(i).All {
			if s.Kind == evidence.Running || s.Kind == evidence.Syscall {
				own += s.Dur
			}
		}
		byRoute[l.b.Requests.Route.At(i)] = append(byRoute[l.b.Requests.Route.At(i)], own)
	}
	var sum, floor float64
	for _, v := range byRoute {
		slices.Sort(v)
		for _, x := range v {
			sum += float64(x)
		}
		floor += float64(len(v)) * float64(stats.Quantile(v, quickQuarter))
	}
	if floor == 0 {
		return 1
	}
	return sum / floor
}

// onProcessors are the mechanisms whose time passed on processors, those of the request itself or of the holders it
// waited for.
var onProcessors = []Mechanism{StopTheWorld, MarkAssist, CollectorCPU, RequestsCPU, BackgroundCPU, Wakeup, Kernel, Own}

// moveToHost moves the host's share out of the time on processors.
func (h *HostShare) moveToHost(c *Charges) {
	if h.Share == 0 {
		return
	}
	for _, m := range onProcessors {
		part := int64(float64(c[m]) * h.Share)
		if m == Wakeup {
			part = c[m] // a free processor whose thread the host did not run
		}
		c[m] -= part
		c[HostCPU] += part
	}
}

func (h *HostShare) scaleBounds(ns int64) (low, high float64) {
	if h.Share == 0 {
		return 0, 0
	}
	v := float64(ns)
	return v * min(1, h.Low/h.Share), v * max(1, h.High/h.Share)
}
