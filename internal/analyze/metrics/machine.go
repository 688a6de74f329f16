package metrics

import (
	"cmp"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Machine is what the kernel counted of a whole host during the recording. Unknown figures are NaN.
type Machine struct {
	Subject evidence.SubjectID
	Window  Window
	CPUs    int // 0 unknown

	Busy, User, System, Softirq, Iowait, Steal float64 // cores
	PressureCPU, PressureMemory, PressureIO    float64 // share of the time in which some task waited
	MemoryAvailable                            float64 // bytes
	SwapIn, DirectReclaim                      float64 // pages/s
	CompactStalls, OOMKills                    float64 // 1/s
	NetRX, Block                               float64 // softirqs for packets and for finished disk requests, 1/s

	Disks   []DiskUse // the busiest first
	Sampled bool      // running code was sampled all the time
}

// DiskUse is how busy a disk was.
type DiskUse struct {
	Name string
	Busy float64 // share of the time in which it had any request
}

// MachineOf reads the recorded host, the first of several; nil: there is none.
func MachineOf(b *evidence.Bundle) *Machine {
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == evidence.SeriesHostCPUBusy && len(s.T) > 1 {
			return machineOf(b, s.Subject, Window{s.T[0], s.T[len(s.T)-1]})
		}
	}
	return nil
}

// Over reads the same host over another window.
func (m *Machine) Over(b *evidence.Bundle, w Window) *Machine { return machineOf(b, m.Subject, w) }

func machineOf(b *evidence.Bundle, h evidence.SubjectID, w Window) *Machine {
	m := &Machine{Subject: h, Window: w, CPUs: b.Subjects[h].CPUs}
	for _, x := range []struct {
		series string
		to     *float64
	}{
		{evidence.SeriesHostCPUBusy, &m.Busy}, {evidence.SeriesHostCPUUser, &m.User}, {evidence.SeriesHostCPUSystem, &m.System}, {evidence.SeriesHostCPUSoftirq, &m.Softirq},
		{evidence.SeriesHostCPUIowait, &m.Iowait}, {evidence.SeriesHostCPUSteal, &m.Steal},
		{evidence.SeriesHostPressureCPUSome, &m.PressureCPU}, {evidence.SeriesHostPressureMemorySome, &m.PressureMemory}, {evidence.SeriesHostPressureIOSome, &m.PressureIO},
		{evidence.SeriesHostMemoryAvailable, &m.MemoryAvailable}, {evidence.SeriesHostSwapIn, &m.SwapIn}, {evidence.SeriesHostReclaimDirect, &m.DirectReclaim},
		{evidence.SeriesHostCompactStalls, &m.CompactStalls}, {evidence.SeriesHostOOMKills, &m.OOMKills},
		{evidence.SeriesHostSoftirqsNetRX, &m.NetRX}, {evidence.SeriesHostSoftirqsBlock, &m.Block},
	} {
		*x.to = math.NaN()
		if v := Mean(b, h, x.series, w); v.Known() {
			*x.to = v.Number
		}
	}
	for i := range b.Series {
		s := &b.Series[i]
		if name, ok := strings.CutPrefix(s.Name, evidence.SeriesDiskBusy+":"); ok && s.Subject == h {
			if v := Mean(b, h, s.Name, w); v.Known() {
				m.Disks = append(m.Disks, DiskUse{name, v.Number})
			}
		}
	}
	sorting.Short(m.Disks, func(a, b DiskUse) int { return cmp.Compare(b.Busy, a.Busy) })
	for i := range b.Coverage {
		m.Sampled = m.Sampled || b.Coverage[i].Kind == evidence.CoverOnCPU && b.Coverage[i].Subject == h
	}
	return m
}
