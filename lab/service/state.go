package service

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// State is what the process knows of itself at an instant. Counters count from
// the start of the process.
type State struct {
	Time        int64            `json:"time_ns"` // since the epoch
	Started     map[string]int64 `json:"started"` // requests by route
	Finished    map[string]int64 `json:"finished"`
	GCCycles    uint64           `json:"gc_cycles"`
	GCSeconds   float64          `json:"gc_cpu_s"`     // /cpu/classes/gc/total; moves only with each cycle
	Assist      float64          `json:"gc_assist_s"`  // of which mark assist
	MutexWait   float64          `json:"mutex_wait_s"` // /sync/mutex/wait/total
	AllocBytes  uint64           `json:"alloc_bytes"`
	LiveBytes   uint64           `json:"live_bytes"` // marked by the last cycle
	GoalBytes   uint64           `json:"goal_bytes"`
	Goroutines  int              `json:"goroutines"`
	UserSeconds float64          `json:"cpu_user_s"`
	SysSeconds  float64          `json:"cpu_sys_s"`
	MinorFaults int64            `json:"minor_faults"`
	RSS         int64            `json:"rss_bytes"`
	Error       string           `json:"error,omitempty"`
}

func (s *Service) state() State {
	state := State{
		Time:       time.Now().UnixNano(),
		Started:    map[string]int64{},
		Finished:   map[string]int64{},
		Goroutines: runtime.NumGoroutine(),
		RSS:        residentSet(),
	}
	for route, c := range s.routes {
		state.Finished[route] = c.finished.Load()
		state.Started[route] = c.started.Load()
	}
	sample := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"}, {Name: "/sync/mutex/wait/total:seconds"},
	}
	metrics.Read(sample)
	state.GCCycles, state.AllocBytes = sample[0].Value.Uint64(), sample[1].Value.Uint64()
	state.LiveBytes, state.GoalBytes = sample[2].Value.Uint64(), sample[3].Value.Uint64()
	state.GCSeconds, state.Assist, state.MutexWait = sample[4].Value.Float64(), sample[5].Value.Float64(), sample[6].Value.Float64()
	state.UserSeconds, state.SysSeconds, state.MinorFaults = usage()
	return state
}

// residentSet reads the second field of /proc/self/statm, pages; 0 where there
// is none.
func residentSet() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if f := strings.Fields(string(b)); err == nil && len(f) > 1 {
		pages, _ := strconv.ParseInt(f[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
