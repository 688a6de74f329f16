package service

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// State is the process's own state at an instant. Counters count from
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

func (s *Service) currentState() State {
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
	state.UserSeconds, state.SysSeconds, state.MinorFaults = ownUsage()
	if len(s.processes) > 0 {
		state.UserSeconds, state.SysSeconds, state.MinorFaults, state.RSS = usageOf(s.processes)
	}
	return state
}

// usageOf returns the usage of processes and their children so far: proc_pid_stat(5). It includes children that
// have ended and were waited for.
func usageOf(pids []int) (user, system float64, faults, rss int64) {
	for _, pid := range pids {
		all := []int{pid}
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
		for _, f := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(f); err == nil {
				all = append(all, child)
			}
		}
		for _, pid := range all {
			b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			if err != nil {
				continue
			}
			f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])) // the third field and later ones
			if len(f) < 22 {
				continue
			}
			n := func(field int) int64 {
				v, _ := strconv.ParseInt(f[field-3], 10, 64)
				return v
			}
			const ticks = 100 // per second, on every Linux that Go runs on
			user, system = user+float64(n(14)+n(16))/ticks, system+float64(n(15)+n(17))/ticks
			faults, rss = faults+n(10), rss+n(24)*int64(os.Getpagesize())
		}
	}
	return user, system, faults, rss
}

// residentSet reads the second field of /proc/self/statm, pages; 0 without
// the file.
func residentSet() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if f := strings.Fields(string(b)); err == nil && len(f) > 1 {
		pages, _ := strconv.ParseInt(f[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}
