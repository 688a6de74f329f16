package sysstat

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseTop reads the lines above the processes of top of procps, of a screen that was copied or of top -b: CPU time by mode since the screen
// before, in percent of all CPUs, and the load.
//
//	top - 10:11:12 up 12 days,  1:02,  1 user,  load average: 6.12, 5.90, 5.55
//	%Cpu(s): 21.3 us,  5.2 sy,  0.0 ni,  2.1 id,  0.0 wa,  0.0 hi,  0.4 si, 71.0 st
//	Cpu(s): 21.3%us,  5.2%sy,  0.0%ni,  2.1%id,  0.0%wa,  0.0%hi,  0.4%si, 71.0%st      before procps 3.3
func (p *parser) parseTop(text string) bool {
	rest, ok := strings.CutPrefix(text, "%Cpu(s):")
	if !ok {
		rest, ok = strings.CutPrefix(text, "Cpu(s):")
	}
	if !ok {
		return strings.HasPrefix(text, "top - ") && p.topLoad(text)
	}
	share := make(map[string]float64)
	for _, x := range strings.Split(rest, ", ") {
		x = strings.Replace(strings.TrimSpace(x), "%", " ", 1)
		value, mode, ok := strings.Cut(x, " ")
		v, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
		if ok && err == nil && v >= 0 && v <= 100.5 {
			share[strings.TrimSpace(mode)] = v / 100
		}
	}
	idle, ok := share["id"]
	if !ok || len(share) < 4 {
		return false
	}
	p.h = nil
	p.clock.nextReport()
	p.flushSums()
	p.sumsAt = p.clock.now
	_, soft := share["si"]
	_, stolen := share["st"]
	p.addModes(mode{evidence.SeriesHostCPUBusy, max(0, 1-idle-share["wa"]-share["st"]), true}, mode{evidence.SeriesHostCPUUser, share["us"] + share["ni"], true},
		mode{evidence.SeriesHostCPUSystem, share["sy"], true}, mode{evidence.SeriesHostCPUIowait, share["wa"], true}, mode{evidence.SeriesHostCPUSteal, share["st"], stolen},
		mode{evidence.SeriesHostCPUSoftirq, share["hi"] + share["si"], soft})
	p.tops++
	return true
}

// topLoad reads the load of the first line.
func (p *parser) topLoad(text string) bool {
	_, rest, ok := strings.Cut(text, "load average: ")
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rest, ", ")
	v, err := strconv.ParseFloat(strings.Replace(first, ",", ".", 1), 64)
	if err == nil && v >= 0 && v < 1e6 {
		p.topLoads = v
	}
	return err == nil
}

// belowTop says whether a line is one of those below top's, of memory and of processes, which nothing here asks for.
func (p *parser) belowTop(text string) bool {
	f := strings.Fields(text)
	switch {
	case headingOf(f) != nil, strings.Contains(text, "-memory-"):
		return false
	case strings.HasPrefix(text, "KiB ") || strings.HasPrefix(text, "MiB ") || strings.HasPrefix(text, "GiB ") || strings.HasPrefix(text, "Tasks:") || strings.HasPrefix(text, "Threads:") || strings.HasPrefix(text, "Mem:") || strings.HasPrefix(text, "Swap:"),
		f[0] == "PID", len(f) >= 11:
		p.ignored++
		return true
	}
	return false
}

// isTop says whether a line is one of top's.
func isTop(text string) bool {
	return strings.HasPrefix(text, "%Cpu(s):") && strings.Contains(text, " id") || strings.HasPrefix(text, "Cpu(s):") && strings.Contains(text, "%id")
}
