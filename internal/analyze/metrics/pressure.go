package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// Strain is what the kernel counts of scarce memory and disks, for a process's control group and for the only host, over a
// window (https://docs.kernel.org/accounting/psi.html, https://docs.kernel.org/admin-guide/cgroup-v2.html#memory). Pressure
// does not include all waits for disks: in fsync, a file system's wait for its journal is no I/O of the thread's own.
type Strain struct {
	Memory      Value // share of the time in which a task of the group waited for memory
	HostMemory  Value // … of the host
	IO          Value // share of the time in which a task of the group waited for a disk
	HostIO      Value // … of the host
	High        Value // 1/s: the group met memory.high
	Max         Value // 1/s: the group met its limit
	Group       Value // bytes used by the group
	Refaults    Value // pages/s of files that the group read back soon after they were dropped
	Anonymous   Value // pages/s that the group read back soon after they were swapped out
	Direct      Value // pages/s that allocating tasks reclaimed, of the host
	SwapIn      Value // pages/s, of the host
	SwapOut     Value // pages/s, of the host
	MajorFaults Value // 1/s, of the process
	Softirq     Value // cores of the host that interrupts took
	Iowait      Value // cores of the host that were idle while a task waited for a disk
}

// StrainOf reads the strain of a process.
func StrainOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) Strain {
	of := func(name string) Value { return Mean(b, subject, name, w) }
	host := func(name string) Value {
		return toCurve(pickSeries(b, w, func(s *evidence.Series) bool { return s.Name == name })).Over(w)
	}
	return Strain{
		Memory: of(evidence.SeriesCgroupPressureMemorySome), HostMemory: host(evidence.SeriesHostPressureMemorySome),
		IO: of(evidence.SeriesCgroupPressureIOSome), HostIO: host(evidence.SeriesHostPressureIOSome),
		High: of(evidence.SeriesCgroupMemoryHigh), Max: of(evidence.SeriesCgroupMemoryMax), Group: of(evidence.SeriesCgroupMemory),
		Refaults: of(evidence.SeriesCgroupRefaultsFiles), Anonymous: of(evidence.SeriesCgroupRefaultsAnonymous),
		Direct: host(evidence.SeriesHostReclaimDirect), SwapIn: host(evidence.SeriesHostSwapIn), SwapOut: host(evidence.SeriesHostSwapOut),
		MajorFaults: of(evidence.SeriesProcessMajorFaults),
		Softirq:     host(evidence.SeriesHostCPUSoftirq), Iowait: host(evidence.SeriesHostCPUIowait),
	}
}
