package metrics

import (
	"cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Shown is what was recorded of a host, by any recorder and even if the number of CPUs is unknown (vmstat does not tell).
type Shown struct {
	CPUs                                       float64 // 0 unknown
	Busy, User, System, Softirq, Iowait, Steal Value   // shares of all CPUs
	SoftirqMost                                Value   // share of the CPU that interrupts take most of
	Running                                    Value   // tasks that ran or waited for a CPU
	Load                                       Value   // and of these that waited in the kernel, averaged over a minute
	Blocked                                    Value   // tasks that waited for a disk
	PressureCPU, PressureMemory, PressureIO    Value   // shares of the time in which some task waited
	SwapIn, SwapOut                            Value   // pages/s
	DirectScanned                              Value   // pages/s that allocating tasks scanned for reclaim
	BackgroundScanned                          Value   // pages/s that kswapd scanned
	MajorFaults, Faults                        Value   // 1/s
	Disks                                      []Disk
	Processes                                  []Neighbour // by name, most CPU time first
}

// ShownOf reads the only host.
func ShownOf(b *evidence.Bundle) Shown {
	host := func(name string) Value { return ofHost(b, name, Whole) }
	s := Shown{Running: host(evidence.SeriesHostProcsRunning), Load: host(evidence.SeriesHostLoad1), Blocked: host(evidence.SeriesHostProcsBlocked),
		PressureCPU: host(evidence.SeriesHostPressureCPUSome), PressureMemory: host(evidence.SeriesHostPressureMemorySome), PressureIO: host(evidence.SeriesHostPressureIOSome),
		SwapIn: host(evidence.SeriesHostSwapIn), SwapOut: host(evidence.SeriesHostSwapOut), DirectScanned: host(evidence.SeriesHostReclaimDirectScanned), BackgroundScanned: host(evidence.SeriesHostReclaimBackgroundScanned),
		MajorFaults: host(evidence.SeriesHostMajorFaults), Faults: host(evidence.SeriesHostFaults), Disks: EachDisk(b, Whole)}
	s.SoftirqMost = host(evidence.SeriesHostCPUSoftirqMost)
	for i := range b.Series {
		if x := &b.Series[i]; x.Name == evidence.SeriesHostCPUBusy && s.CPUs == 0 {
			s.CPUs = float64(b.Subjects[x.Subject].CPUs)
		}
	}
	for name, to := range map[string]*Value{evidence.SeriesHostCPUBusy: &s.Busy, evidence.SeriesHostCPUUser: &s.User, evidence.SeriesHostCPUSystem: &s.System,
		evidence.SeriesHostCPUSoftirq: &s.Softirq, evidence.SeriesHostCPUIowait: &s.Iowait, evidence.SeriesHostCPUSteal: &s.Steal} {
		if *to = host(evidence.ShareOf(name)); s.CPUs > 0 {
			if v := host(name); v.Known() {
				v.Number /= s.CPUs
				*to = v
			}
		}
	}
	s.Processes = (&Host{b: b, process: -1, w: Whole, from: -1}).Neighbours()
	sorting.Short(s.Processes, func(a, b Neighbour) int { return cmp.Compare(b.Cores, a.Cores) })
	return s
}

// ofHost returns the mean over a window of a series of the only host.
func ofHost(b *evidence.Bundle, name string, w Window) Value {
	return toCurve(pickSeries(b, w, func(s *evidence.Series) bool { return s.Name == name })).Over(w)
}
