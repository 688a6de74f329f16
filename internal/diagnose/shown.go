package diagnose

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// The least figures that are listed for a host of which nothing else is known.
const (
	leastShare     = .005 // of CPU time, or of the time
	leastTasks     = .1
	leastPages     = 1   // 1/s
	mostProcesses  = 3   // that are named
	leastProcess   = .05 // cores
	leastDiskShare = .01
)

// listHostFigures returns what the evidence shows of a host where no process can be judged: some
// users have nothing but such files as the output of vmstat.
func (r *run) listHostFigures() (all []Evidence) {
	for i, s := range r.b.Subjects {
		if _, ok := r.name[evidence.SubjectID(i)]; ok && s.Kind == evidence.Process {
			return nil
		}
	}
	c := &check.Case{Bundle: r.b}
	s := metrics.ShownOf(r.b)
	share := func(id, text string, v metrics.Value, least float64) {
		if v.Known() && v.Number >= least {
			all = append(all, c.Figure(id, text, 100*v.Number, "%", v.Origin))
		}
	}
	number := func(id, text string, v metrics.Value, least float64, unit string) {
		if v.Known() && v.Number >= least {
			all = append(all, c.Figure(id, text, v.Number, unit, v.Origin))
		}
	}
	share("host.busy_percent", "CPUs busy", s.Busy, 0)
	share("host.user_percent", "of this in programs", s.User, leastShare)
	share("host.system_percent", "in the kernel", s.System, leastShare)
	share("host.softirq_percent", "with interrupts", s.Softirq, leastShare)
	share("host.iowait_percent", "CPUs idle waiting for a disk", s.Iowait, leastShare)
	share("host.steal_percent", "CPU time that the hypervisor gave to others", s.Steal, leastShare)
	number("host.running_tasks", "tasks that ran or waited for a CPU", s.Running, leastTasks, "")
	number("host.blocked_tasks", "tasks that waited for a disk", s.Blocked, leastTasks, "")
	share("host.cpu_pressure_percent", "time in which some task waited for a CPU", s.PressureCPU, leastShare)
	share("host.memory_pressure_percent", "for memory", s.PressureMemory, leastShare)
	share("host.disk_pressure_percent", "for disks", s.PressureIO, leastShare)
	number("host.swap_in_pages_per_s", "pages read back from swap", s.SwapIn, leastPages, "1/s")
	number("host.swap_out_pages_per_s", "pages swapped out", s.SwapOut, leastPages, "1/s")
	number("host.direct_scanned_pages_per_s", "pages scanned by allocations (direct reclaim)", s.DirectScanned, leastPages, "1/s")
	number("host.faults_per_s", "page faults", s.Faults, leastPages, "1/s")
	number("host.major_faults_per_s", "page faults that waited for a disk", s.MajorFaults, leastPages, "1/s")
	for _, d := range s.Disks {
		if !d.Busy.Known() || d.Busy.Number < leastDiskShare {
			continue
		}
		share("disk.busy_percent", "disk "+d.Name+" busy", d.Busy, 0)
		for _, x := range []struct {
			id, of string
			v      metrics.Value
		}{{"disk.read_ms", "a read of it took", d.ReadTook}, {"disk.write_ms", "a write", d.WriteTook}, {"disk.flush_ms", "a flush", d.FlushTook}} {
			if x.v.Known() {
				all = append(all, c.Figure(x.id, x.of, 1e3*x.v.Number, "ms", x.v.Origin))
			}
		}
	}
	for _, p := range s.Processes[:min(len(s.Processes), mostProcesses)] {
		if p.Cores >= leastProcess {
			all = append(all, c.Figure("host.process_cores", "CPU time of "+p.String(), p.Cores, "cores", r.processorOrigin(p.Name)))
		}
	}
	return all
}

// processorOrigin returns where the CPU time of the processes of a name was read from.
func (r *run) processorOrigin(name string) (o evidence.Origin) {
	i := slices.IndexFunc(r.b.Subjects, func(s evidence.Subject) bool { return s.Kind == evidence.Process && s.Name == name })
	if i >= 0 {
		if k := metrics.ProcessorTime(r.b, evidence.SubjectID(i), metrics.Whole); k != nil {
			o = k.Origin
		}
	}
	return o
}
