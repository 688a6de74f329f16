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
//	%Cpu0  : 21.3 us,  5.2 sy,  0.0 ni,  2.1 id,  0.0 wa,  0.0 hi,  0.4 si, 71.0 st     after the key 1: a line for each CPU
//	CPU:   2% usr   1% sys   0% nic  95% idle   0% io   0% irq   0% sirq                 BusyBox, with and without decimals
//	CPU0:  0.0% usr  0.0% sys  0.0% nic 11.3% idle  0.0% io  0.0% irq 88.6% sirq         after the key 1
//	Load average: 0.93 0.71 0.40 3/68 4211
func (p *parser) parseTop(text string) bool {
	if rest, ok := strings.CutPrefix(text, "Load average: "); ok {
		return p.setTopLoad(rest, " ")
	}
	if rest, ok := strings.CutPrefix(text, "CPU:"); ok {
		share, ok := parseBusyBox(rest)
		return ok && p.addTop(share)
	}
	rest, ok := strings.CutPrefix(text, "%Cpu(s):")
	if !ok {
		rest, ok = strings.CutPrefix(text, "Cpu(s):")
	}
	if !ok {
		return strings.HasPrefix(text, "top - ") && p.topLoad(text)
	}
	share, ok := parseModes(rest)
	return ok && p.addTop(share)
}

// parseModes reads "21.3 us,  5.2 sy, …" as shares.
func parseModes(rest string) (share map[string]float64, ok bool) {
	share = make(map[string]float64)
	for _, x := range splitModes(rest) {
		x = strings.Replace(strings.TrimSpace(x), "%", " ", 1)
		value, mode, ok := strings.Cut(x, " ")
		v, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
		if ok && err == nil && v >= 0 && v <= 100.5 {
			share[strings.TrimSpace(mode)] = v / 100
		}
	}
	_, ok = share["id"]
	return share, ok && len(share) >= 4
}

// ofBusyBox are the names of modes in top of BusyBox, which stand behind their figures without commas, and those of procps.
var ofBusyBox = map[string]string{"usr": "us", "sys": "sy", "nic": "ni", "idle": "id", "io": "wa", "irq": "hi", "sirq": "si"}

// parseBusyBox reads "2% usr   1% sys …" as shares, by the names of procps.
func parseBusyBox(rest string) (share map[string]float64, ok bool) {
	f := strings.Fields(rest)
	if len(f) != 2*len(ofBusyBox) {
		return nil, false
	}
	share = make(map[string]float64)
	for i := 0; i < len(f); i += 2 {
		digits, percent := strings.CutSuffix(f[i], "%")
		v, err := strconv.ParseFloat(strings.Replace(digits, ",", ".", 1), 64)
		name := ofBusyBox[f[i+1]]
		if !percent || err != nil || name == "" || !(v >= 0) || v > 100.5 {
			return nil, false
		}
		share[name] = v / 100
	}
	return share, len(share) == len(ofBusyBox)
}

// splitModes splits at the commas behind the names of modes: "0.0 hi,100.0 si" has no blank there, and decimal commas stand within figures.
func splitModes(s string) (all []string) {
	from := 0
	for i := 1; i < len(s); i++ {
		if s[i] == ',' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			all = append(all, s[from:i])
			from = i + 1
		}
	}
	return append(all, s[from:])
}

// ofOneCPU splits "%Cpu0  : 21.3 us, …"; procps 3.2 writes no percent sign.
func ofOneCPU(text string) (cpu int, rest string, ok bool) {
	text = strings.TrimPrefix(text, "%")
	after, ok := strings.CutPrefix(text, "Cpu")
	if !ok {
		after, ok = strings.CutPrefix(text, "CPU")
	}
	number, rest, has := strings.Cut(after, ":")
	if !ok || !has || len(number) > 8 {
		return 0, "", false
	}
	cpu, err := strconv.Atoi(strings.TrimSpace(number))
	return cpu, rest, err == nil && cpu >= 0 && cpu < mostCPUs
}

// cpusOfTop are the lines of single CPUs of one screen.
type cpusOfTop struct {
	sum map[string]float64
	n   int
	max struct{ busy, soft float64 }
}

// parseTopCPU reads the line of one CPU. CPU 0 begins the next screen.
func (p *parser) parseTopCPU(text string) bool {
	cpu, rest, ok := ofOneCPU(text)
	if !ok {
		return false
	}
	share, ok := parseModes(rest)
	if !ok {
		share, ok = parseBusyBox(rest)
	}
	if !ok {
		return false
	}
	x := &p.topCPUs
	if cpu == 0 {
		p.endTopCPUs()
	}
	if x.sum == nil {
		x.sum = make(map[string]float64)
	}
	x.n++
	for k, v := range share {
		x.sum[k] += v
	}
	if len(p.cpuRows) < mostCPUs {
		p.cpuRows[cpu] = true
	}
	x.max.busy = max(x.max.busy, 1-share["id"]-share["wa"]-share["st"])
	x.max.soft = max(x.max.soft, share["hi"]+share["si"])
	return true
}

// endTopCPUs adds a screen of single CPUs, as the mean of all.
func (p *parser) endTopCPUs() {
	x := p.topCPUs
	p.topCPUs = cpusOfTop{}
	if x.n == 0 {
		return
	}
	for k := range x.sum {
		x.sum[k] /= float64(x.n)
	}
	if p.addTop(x.sum) {
		p.keepMax(&p.host, evidence.SeriesHostCPUBusiest, "cores", x.max.busy)
		p.keepMax(&p.host, evidence.SeriesHostCPUSoftirqMost, "cores", x.max.soft)
	}
}

// addTop adds the shares of a screen.
func (p *parser) addTop(share map[string]float64) bool {
	idle := share["id"]
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
	return ok && p.setTopLoad(rest, ", ")
}

// setTopLoad reads the load of the last minute, which is the first of several.
func (p *parser) setTopLoad(rest, between string) bool {
	first, _, _ := strings.Cut(rest, between)
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
		f[0] == "PID", len(f) >= 11, isBusyBoxRow(f):
		p.ignored++
		return true
	}
	return false
}

// isBusyBoxRow says whether words are a process in top of BusyBox: PID PPID USER STAT VSZ %VSZ and, of newer ones, the last CPU, %CPU COMMAND.
func isBusyBoxRow(f []string) bool {
	if len(f) < 8 {
		return false
	}
	_, err := strconv.ParseUint(f[0], 10, 32)
	_, err2 := strconv.ParseUint(f[1], 10, 32)
	share, whole := strings.CutSuffix(f[5], "%")
	v, err3 := strconv.ParseFloat(share, 64)
	return err == nil && err2 == nil && err3 == nil && v >= 0 && (whole || strings.Contains(share, "."))
}

// isTop says whether a line is one of top's.
func isTop(text string) bool {
	if rest, ok := strings.CutPrefix(text, "CPU:"); ok {
		_, ok = parseBusyBox(rest)
		return ok
	}
	if strings.HasPrefix(text, "%Cpu(s):") && strings.Contains(text, " id") || strings.HasPrefix(text, "Cpu(s):") && strings.Contains(text, "%id") {
		return true
	}
	_, rest, ok := ofOneCPU(text)
	if ok {
		if _, ok = parseModes(rest); !ok {
			_, ok = parseBusyBox(rest)
		}
	}
	return ok
}
