package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/service"
)

// truth is what is known of a recording from outside.
type truth struct {
	ID        string   `json:"id"`
	About     string   `json:"about"`
	Recorded  string   `json:"recorded"`
	Recipe    string   `json:"recipe"`
	Command   string   `json:"command"` // of the service
	Env       []string `json:"env,omitempty"`
	Others    []string `json:"others,omitempty"` // what ran beside it
	Toolchain string   `json:"toolchain"`
	Cores     int      `json:"host_cores"`
	Procs     int      `json:"gomaxprocs"`
	PID       int      `json:"pid"`

	Load  *loadgen.Result `json:"load"`
	Trace *window         `json:"trace,omitempty"`
	CPU   *window         `json:"cpu_profile,omitempty"`
	All   *window         `json:"all"` // from the first request to the last, warm-up included

	// Shares of the CPU profile's samples.
	Collector *float64 `json:"collector_share,omitempty"` // stacks with a frame of marking, assisting or sweeping

	Artifacts map[string]int64 `json:"artifacts"` // bytes
}

// window is what happened between two instants of a recording.
type window struct {
	From       int64            `json:"from_ns"`
	Until      int64            `json:"until_ns"`
	Seconds    float64          `json:"seconds"`
	Exact      bool             `json:"exact"` // no request was in progress at either end
	Started    map[string]int64 `json:"requests_started"`
	Finished   map[string]int64 `json:"requests_finished"`
	UnderWay   [2]int64         `json:"requests_under_way"` // at the ends
	GCCycles   uint64           `json:"gc_cycles"`
	GCRate     float64          `json:"gc_cycles_per_s"`
	GCSeconds  float64          `json:"gc_cpu_s"`
	Assist     float64          `json:"gc_assist_s"`
	MutexWait  float64          `json:"mutex_wait_s"`
	AllocRate  float64          `json:"alloc_bytes_per_s"`
	Goroutines [2]int           `json:"goroutines"`
	Cores      float64          `json:"cpu_cores"` // CPU seconds of the process per second
	System     float64          `json:"cpu_system_share"`
	Faults     float64          `json:"minor_faults_per_s"`
	RSS        [2]int64         `json:"rss_bytes"`
	LiveBytes  uint64           `json:"live_bytes"`
	GoalBytes  uint64           `json:"goal_bytes"`

	Latency loadgen.Latency `json:"latency"` // of requests answered in the window

	Beside     float64 `json:"beside_cores"`    // CPU of the dependency and of the intended neighbours
	Neighbours float64 `json:"neighbour_cores"` // CPU of everything but this recording
	Stolen     float64 `json:"stolen_cores"`
}

// mark is one end of a window.
type mark struct {
	service.State
	ours, beside, busy, stolen float64
}

func windowBetween(a, b mark) *window {
	s := float64(b.Time-a.Time) / 1e9
	w := &window{
		From: a.Time, Until: b.Time, Seconds: s,
		Started: map[string]int64{}, Finished: map[string]int64{},
		GCCycles: b.GCCycles - a.GCCycles, GCRate: float64(b.GCCycles-a.GCCycles) / s,
		GCSeconds: b.GCSeconds - a.GCSeconds, Assist: b.Assist - a.Assist, MutexWait: b.MutexWait - a.MutexWait,
		AllocRate:  float64(b.AllocBytes-a.AllocBytes) / s,
		Goroutines: [2]int{a.Goroutines, b.Goroutines},
		Cores:      (b.UserSeconds - a.UserSeconds + b.SysSeconds - a.SysSeconds) / s,
		Faults:     float64(b.MinorFaults-a.MinorFaults) / s,
		RSS:        [2]int64{a.RSS, b.RSS},
		LiveBytes:  b.LiveBytes, GoalBytes: b.GoalBytes,
		Beside:     (b.beside - a.beside) / s,
		Neighbours: max(0, (b.busy-a.busy-(b.ours-a.ours))/s), Stolen: (b.stolen - a.stolen) / s,
	}
	if cpu := w.Cores * s; cpu > 0 {
		w.System = (b.SysSeconds - a.SysSeconds) / cpu
	}
	for route := range b.Started {
		w.Started[route] = b.Started[route] - a.Started[route]
		w.Finished[route] = b.Finished[route] - a.Finished[route]
		w.UnderWay[0] += a.Started[route] - a.Finished[route]
		w.UnderWay[1] += b.Started[route] - b.Finished[route]
	}
	w.Exact = w.UnderWay == [2]int64{}
	return w
}

// addLatencies adds the latencies of the load to the windows.
func (t *truth) addLatencies() {
	for _, w := range []*window{t.Trace, t.CPU, t.All} {
		if w != nil {
			w.Latency = t.Load.Within(w.From, w.Until)
		}
	}
}

// mainWindow returns the recording's main window: that of the trace, else all of it.
func (t *truth) mainWindow() *window {
	if t.Trace != nil {
		return t.Trace
	}
	return t.All
}

func (w *window) totalFinished() (n int64) {
	for _, c := range w.Finished {
		n += c
	}
	return n
}

// collectorFrames are the functions below which GC works.
var collectorFrames = map[string]bool{
	"runtime.gcBgMarkWorker": true, "runtime.gcAssistAlloc": true, "runtime.bgsweep": true, "runtime.deductSweepCredit": true,
	"runtime.gcStart": true, "runtime.gcMarkDone": true, "runtime.gcMarkTermination": true, "runtime.bgscavenge": true,
}

// collectorShare returns the share of CPU samples inside GC.
func collectorShare(path string) (float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	var in, all int64
	for _, s := range p.Sample {
		all += s.Value[0]
		if inCollector(s) {
			in += s.Value[0]
		}
	}
	if all == 0 {
		return 0, fmt.Errorf("%s: has no samples", path)
	}
	return float64(in) / float64(all), nil
}

func inCollector(s *profile.Sample) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil && collectorFrames[strings.TrimSuffix(line.Function.Name, ".func1")] {
				return true
			}
		}
	}
	return false
}
