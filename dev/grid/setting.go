package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Setting is how a service paces its collector.
type Setting struct {
	Name    string  `json:"name"`
	GOGC    int     `json:"gogc"` // percent; -1: off
	Ballast int     `json:"ballast_mib,omitempty"`
	Limit   int     `json:"limit_mib,omitempty"` // GOMEMLIMIT, 0: none
	Times   float64 `json:"times_live,omitempty"`
	Touch   int     `json:"touch_mib,omitempty"` // heap to touch at the start
}

// calibration is the setting that everything is predicted from: Go's default.
const calibration = "GOGC=100"

// gridSettings returns the settings of the grid, given the live heap and the other memory of the
// runtime (bytes) under the calibration's load.
func gridSettings(live, nonheap float64) (all []Setting) {
	const mib = 1 << 20
	for _, gogc := range []int{100, 50, 200, 400} {
		s := Setting{Name: "GOGC=" + strconv.Itoa(gogc), GOGC: gogc}
		if gogc > 100 {
			s.Touch = int(live * float64(gogc) / 100 / mib)
		}
		all = append(all, s)
	}
	for _, ballast := range []int{256, 512, 1024} {
		all = append(all, Setting{Name: fmt.Sprintf("ballast %d MiB", ballast), GOGC: 100, Ballast: ballast, Touch: ballast + int(live/mib)})
	}
	for _, times := range []float64{1.2, 1.5, 2, 3, 5, 10, 20} {
		s := Setting{GOGC: -1, Times: times, Limit: memoryLimit(live, nonheap, times)}
		s.Name = fmt.Sprintf("GOMEMLIMIT=%dMiB", s.Limit)
		if times >= 3 {
			s.Touch = int((times - 1) * live / mib)
		}
		all = append(all, s)
	}
	return all
}

// memoryLimit returns the memory limit (MiB) under which the heap may grow to that many times the
// live heap: the runtime subtracts non-heap memory, and 3 % of the limit as a reserve
// (memoryLimitHeapGoal in https://go.dev/src/runtime/mgcpacer.go).
func memoryLimit(live, nonheap, times float64) int {
	return int(math.Round((times*live + nonheap) / .97 / (1 << 20)))
}

// processEnv returns the environment of the gateway's process.
func (s Setting) processEnv() []string {
	env := []string{"GODEBUG=gctrace=1", "GOMAXPROCS=" + strconv.Itoa(processors), "GOGC=off", "GOMEMLIMIT=off"}
	if s.GOGC >= 0 {
		env[2] = "GOGC=" + strconv.Itoa(s.GOGC)
	}
	if s.Limit > 0 {
		env[3] = fmt.Sprintf("GOMEMLIMIT=%dMiB", s.Limit)
	}
	return env
}

// gatewayArgs returns the arguments of the gateway.
func (s Setting) gatewayArgs() []string {
	args := append([]string{}, gateway...)
	if s.Ballast > 0 {
		args = append(args, "-ballast="+strconv.Itoa(s.Ballast))
	}
	if s.Touch > 0 {
		args = append(args, "-pretouch="+strconv.Itoa(s.Touch))
	}
	return args
}

// cycleHeadroom estimates the bytes that are allocated from cycle to cycle.
func (s Setting) cycleHeadroom(live float64) float64 {
	switch {
	case s.Limit > 0:
		return max(s.Times-1, .1) * live
	default:
		return (live + float64(s.Ballast<<20)) * float64(s.GOGC) / 100
	}
}

// chooseSettings returns the settings with these names, and the calibration.
func chooseSettings(all []Setting, names []string) (chosen []Setting, err error) {
	if len(names) == 0 {
		return all, nil
	}
	for _, s := range all {
		if s.Name == calibration || slices.Contains(names, s.Name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(s Setting) bool { return s.Name == name }) {
			var known []string
			for _, s := range all {
				known = append(known, s.Name)
			}
			return nil, fmt.Errorf("-only: there is no %q, there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}
