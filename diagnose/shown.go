package diagnose

import (
	"slices"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// The least that is worth telling of a host of which nothing else is known.
const (
	leastShare     = .005 // of CPU time, or of the time
	leastTasks     = .1
	leastPages     = 1   // 1/s
	mostProcesses  = 3   // that are named
	leastProcess   = .05 // cores
	leastDiskShare = .01
)

// shown is what the evidence shows of a host where no process can be judged: files such as
// vmstat's are all that some people have.
func (r *run) shown() (all []Evidence) {
	for i, s := range r.b.Subjects {
		if _, ok := r.name[evidence.SubjectID(i)]; ok && s.Kind == evidence.Process {
			return nil
		}
	}
	c := &cause.Case{Bundle: r.b}
	s := reading.ShownOf(r.b)
	share := func(text string, v reading.Value, least float64) {
		if v.Known() && v.Number >= least {
			all = append(all, c.Figure(text, 100*v.Number, "%", v.Origin))
		}
	}
	number := func(text string, v reading.Value, least float64, unit string) {
		if v.Known() && v.Number >= least {
			all = append(all, c.Figure(text, v.Number, unit, v.Origin))
		}
	}
	share("CPUs busy", s.Busy, 0)
	share("of it in programs", s.User, leastShare)
	share("in the kernel", s.System, leastShare)
	share("with interrupts", s.Softirq, leastShare)
	share("CPUs idle while a disk was waited for", s.Iowait, leastShare)
	share("CPU time that the hypervisor gave to others", s.Steal, leastShare)
	number("tasks that ran or waited for a CPU", s.Running, leastTasks, "")
	number("tasks that waited for a disk", s.Blocked, leastTasks, "")
	share("time in which some task waited for a CPU", s.PressureCPU, leastShare)
	share("for memory", s.PressureMemory, leastShare)
	share("for disks", s.PressureIO, leastShare)
	number("pages read back from swap", s.SwapIn, leastPages, "1/s")
	number("pages swapped out", s.SwapOut, leastPages, "1/s")
	number("pages that allocations looked at to take memory back", s.DirectScanned, leastPages, "1/s")
	number("page faults", s.Faults, leastPages, "1/s")
	number("page faults that waited for a disk", s.MajorFaults, leastPages, "1/s")
	for _, d := range s.Disks {
		if !d.Busy.Known() || d.Busy.Number < leastDiskShare {
			continue
		}
		share("disk "+d.Name+" busy", d.Busy, 0)
		for _, x := range []struct {
			of string
			v  reading.Value
		}{{"a read of it took", d.ReadTook}, {"a write", d.WriteTook}, {"a flush", d.FlushTook}} {
			if x.v.Known() {
				all = append(all, c.Figure(x.of, 1e3*x.v.Number, "ms", x.v.Origin))
			}
		}
	}
	for _, p := range s.Processes[:min(len(s.Processes), mostProcesses)] {
		if p.Cores >= leastProcess {
			all = append(all, c.Figure("CPU time of "+p.String(), p.Cores, "cores", r.processorOrigin(p.Name)))
		}
	}
	return all
}

// processorOrigin is where the CPU time of processes of a name is from.
func (r *run) processorOrigin(name string) (o evidence.Origin) {
	i := slices.IndexFunc(r.b.Subjects, func(s evidence.Subject) bool { return s.Kind == evidence.Process && s.Name == name })
	if i >= 0 {
		if k := reading.ProcessorTime(r.b, evidence.SubjectID(i), reading.Whole); k != nil {
			o = k.Origin
		}
	}
	return o
}
