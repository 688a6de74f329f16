package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
)

// Finding is something that is wrong with a machine.
type Finding struct {
	Cause    string     `json:"cause"` // its id, as `unstall causes` has it
	Title    string     `json:"title"` // one sentence: what happens, by how much
	Cost     float64    `json:"cost"`  // share of the time that somebody pays, by which findings are ranked
	Takes    []string   `json:"takes"` // services that cause it, the most first
	Pays     []string   `json:"pays"`  // services that wait
	Evidence []Evidence `json:"evidence"`
	Next     []string   `json:"next"` // commands
}

// Evidence is a figure of a finding.
type Evidence struct {
	Text  string  `json:"text"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Shares of time from which a wait is reported. The kernel's own averages of pressure move by a few per cent on a
// healthy machine.
const (
	fullCPUs   = .9   // of the CPUs are in use: a thread that wakes up finds none free nine times of ten
	leastWait  = .2   // of a service's runnable time is waiting for a CPU
	leastSteal = .1   // of the CPUs the hypervisor gives to others
	leastStall = .1   // of the time a task waits for memory
	leastDisk  = .2   // of the time a task waits for a disk, which programs that sync do by design
	leastStop  = .05  // of the periods of its quota the service is stopped in
	leastIRQ   = .2   // of the busy CPU time goes to interrupts
	leastPays  = .01  // CPUs that a service uses, for its waiting to count
	swapping   = 100  // pages/s read back from swap: at .1 ms each that is a hundredth of the time
	reclaiming = 2500 // pages/s reclaimed by tasks that allocate, where pressure is not measured: some 1 % of a CPU
)

// rankFindings runs every check and returns the findings, the most costly first.
func (r *Report) rankFindings(disks []metrics.DiskUse) (all []Finding) {
	for _, ask := range []func() *Finding{r.findSteal, r.findCPUSaturation, r.findThrottling, r.findMemoryStall, func() *Finding { return r.findDiskWait(disks) }, r.findInterruptLoad, r.findKernelLoad} {
		if f := ask(); f != nil {
			all = append(all, *f)
		}
	}
	sorting.Short(all, func(a, b Finding) int { return cmp.Compare(b.Cost, a.Cost) })
	return all
}

// findSteal returns a finding if the hypervisor gives CPU time to other machines.
func (r *Report) findSteal() *Finding {
	if r.CPUs == 0 || valueOrZero(r.CPU.Steal) < leastSteal*float64(r.CPUs) {
		return nil
	}
	share := *r.CPU.Steal / float64(r.CPUs)
	return &Finding{Cause: "linux.noisy-neighbour", Cost: share, Pays: r.serviceTitles(r.busyServices()),
		Title:    fmt.Sprintf("The hypervisor gives %s of the CPU time to other machines.", units.Percent(share)),
		Evidence: []Evidence{{"CPUs the hypervisor gave to others (steal)", *r.CPU.Steal, "CPUs"}, {"CPUs", float64(r.CPUs), "1"}}}
}

// findCPUSaturation returns a finding if runnable services have no CPU.
func (r *Report) findCPUSaturation() *Finding {
	if r.CPUs == 0 {
		return nil
	}
	var takes, pays []*Service
	for i := range r.Services {
		s := &r.Services[i]
		if s.Kind != kindKernel && valueOrZero(s.CPU) >= leastWait*float64(r.CPUs) {
			takes = append(takes, s)
		}
		if s.Kind == kindService && valueOrZero(s.Waits) >= leastWait && valueOrZero(s.CPU) >= leastPays && valueOrZero(s.Throttled) < leastStop {
			pays = append(pays, s)
		}
	}
	// On a host of many CPUs a task waits now and then although most CPUs are free. So two of three must hold:
	// the CPUs are in use, a task waits, and the waiting service is known.
	in := valueOrZero(r.CPU.Busy) + valueOrZero(r.CPU.Steal)
	full, waited := in >= fullCPUs*float64(r.CPUs), valueOrZero(r.Pressure.CPU) >= leastWait
	if !(full && waited || full && len(pays) > 0 || waited && len(pays) > 0) {
		return nil
	}
	sorting.Short(pays, func(a, b *Service) int { return cmp.Compare(valueOrZero(b.Waits), valueOrZero(a.Waits)) })
	f := &Finding{Cause: "linux.cpu-saturation", Takes: r.serviceTitles(takes), Pays: r.serviceTitles(pays), Cost: valueOrZero(r.Pressure.CPU)}
	f.Title = fmt.Sprintf("All %d CPUs are busy", r.CPUs)
	switch {
	case !full:
		f.Title = fmt.Sprintf("The CPUs are %s busy, at times all at once", units.Percent(in/float64(r.CPUs)))
	case r.CPUs == 1:
		f.Title = "The only CPU is busy"
	}
	var top *Service
	if len(takes) > 0 {
		top = takes[0]
	}
	others := slices.DeleteFunc(slices.Clone(pays), func(s *Service) bool { return s == top })
	switch {
	case top != nil && len(others) > 0 && valueOrZero(top.CPU) >= valueOrZero(others[0].CPU)*2:
		// A service that uses much and makes another wait is a neighbour.
		f.Cause, f.Pays = "linux.noisy-neighbour", r.serviceTitles(others)
		f.Cost = max(f.Cost, *others[0].Waits)
		f.Title += fmt.Sprintf(": %s %s, and %s waits for a CPU %s of its runnable time.", top.formatTitle(), formatUse(top), others[0].formatTitle(), units.Percent(*others[0].Waits))
	case len(pays) > 0:
		f.Cost = max(f.Cost, *pays[0].Waits)
		f.Title += fmt.Sprintf(": %s waits for one %s of its runnable time.", pays[0].formatTitle(), units.Percent(*pays[0].Waits))
	default:
		f.Title += fmt.Sprintf(": tasks waited for one %s of the time.", units.Percent(*r.Pressure.CPU))
	}
	f.Evidence = []Evidence{{"CPUs busy", valueOrZero(r.CPU.Busy), "CPUs"}}
	f.addEvidence("share of the time in which a task waited for a CPU", r.Pressure.CPU, "1")
	for _, s := range takes[:min(len(takes), mostShown)] {
		f.addEvidence("CPUs that "+s.formatTitle()+" used", s.CPU, "CPUs")
	}
	for _, s := range pays[:min(len(pays), mostShown)] {
		f.addEvidence("threads of "+s.formatTitle()+" that waited for a CPU, on average", s.Waiting, "threads")
	}
	f.addCommands(pays, takes)
	return f
}

// findThrottling returns a finding if a CPU quota stops a service.
func (r *Report) findThrottling() *Finding {
	var worst *Service
	var pays []*Service
	for _, s := range r.busyServices() {
		if valueOrZero(s.Throttled) < leastStop {
			continue
		}
		pays = append(pays, s)
		if worst == nil || *s.Throttled > *worst.Throttled {
			worst = s
		}
	}
	if worst == nil {
		return nil
	}
	f := &Finding{Cause: "linux.cpu-throttled", Cost: *worst.Throttled, Pays: r.serviceTitles(pays),
		Title: fmt.Sprintf("A CPU quota throttles %s in %s of its periods.", worst.formatTitle(), units.Percent(*worst.Throttled))}
	for _, s := range pays {
		f.addEvidence("share of the periods in which its quota throttled "+s.formatTitle(), s.Throttled, "1")
	}
	f.addCommands(pays, nil)
	return f
}

// findMemoryStall returns a finding if services wait for memory.
func (r *Report) findMemoryStall() *Finding {
	swap, reclaim := valueOrZero(r.Memory.SwapIn), valueOrZero(r.Memory.DirectReclaim)
	waits := valueOrZero(r.Pressure.Memory)
	if valueOrZero(r.Memory.OOMKills) == 0 && waits < leastStall && !(r.Pressure.Memory == nil && (swap >= swapping || reclaim >= reclaiming)) {
		return nil
	}
	f := &Finding{Cause: "linux.memory-reclaim", Cost: waits}
	what := "for memory"
	if swap >= swapping {
		f.Cause, what = "linux.swap", "for memory that is read back from swap"
	}
	switch {
	case valueOrZero(r.Memory.OOMKills) > 0:
		f.Title, f.Cost = "The kernel killed processes because memory ran out.", 1
	case r.Pressure.Memory != nil:
		f.Title = fmt.Sprintf("Services wait %s %s of the time.", what, units.Percent(waits))
	default:
		f.Title = "Services wait " + what + "; this kernel does not measure how long."
	}
	var pays []*Service
	for _, s := range r.busyServices() {
		if s.Class == workload.Reclaim || s.Class == workload.Compaction || classShare(s, workload.Reclaim)+classShare(s, workload.Compaction) >= leastStall {
			pays = append(pays, s)
		}
	}
	f.Pays = r.serviceTitles(pays)
	f.addEvidence("share of the time in which a task waited for memory", r.Pressure.Memory, "1")
	f.addEvidence("memory available", r.Memory.AvailableBytes, "bytes")
	f.addEvidence("pages read back from swap", r.Memory.SwapIn, "1/s")
	f.addEvidence("pages reclaimed by allocating tasks (direct reclaim)", r.Memory.DirectReclaim, "1/s")
	f.addEvidence("processes killed because memory ran out", r.Memory.OOMKills, "1/s")
	f.addCommands(pays, nil)
	return f
}

// findDiskWait returns a finding if services wait for disks.
func (r *Report) findDiskWait(disks []metrics.DiskUse) *Finding {
	if valueOrZero(r.Pressure.IO) < leastDisk {
		return nil
	}
	var takes []*Service
	for _, s := range r.busyServices() {
		if valueOrZero(s.Written)+valueOrZero(s.Read) > 0 {
			takes = append(takes, s)
		}
	}
	sorting.Short(takes, func(a, b *Service) int {
		return cmp.Compare(valueOrZero(b.Written)+valueOrZero(b.Read), valueOrZero(a.Written)+valueOrZero(a.Read))
	})
	f := &Finding{Cause: "linux.disk-sync", Cost: *r.Pressure.IO, Takes: r.serviceTitles(takes[:min(len(takes), mostShown)]),
		Title: fmt.Sprintf("Services wait for disks %s of the time", units.Percent(*r.Pressure.IO))}
	if len(disks) > 0 && disks[0].Busy >= fullCPUs {
		f.Cause = "linux.disk-busy"
		f.Title += fmt.Sprintf("; %s is busy %s of it", disks[0].Name, units.Percent(disks[0].Busy))
	}
	if len(takes) > 0 {
		f.Title += fmt.Sprintf(": %s reads and writes most.", takes[0].formatTitle())
	} else {
		f.Title += "."
	}
	f.addEvidence("share of the time in which a task waited for a disk", r.Pressure.IO, "1")
	for _, d := range disks[:min(len(disks), mostShown)] {
		f.Evidence = append(f.Evidence, Evidence{"share of the time in which " + d.Name + " had requests", d.Busy, "1"})
	}
	for _, s := range takes[:min(len(takes), mostShown)] {
		f.addEvidence("written to files by "+s.formatTitle(), s.Written, "bytes/s")
		f.addEvidence("read from disks by "+s.formatTitle(), s.Read, "bytes/s")
	}
	f.addCommands(takes[:min(len(takes), 1)], nil)
	return f
}

// findInterruptLoad returns a finding if interrupts take much of the CPU time.
func (r *Report) findInterruptLoad() *Finding {
	busy, irq := valueOrZero(r.CPU.Busy), valueOrZero(r.CPU.Softirq)
	if busy <= 0 || irq < leastIRQ*busy || irq < leastIRQ {
		return nil
	}
	var takes []*Service
	for _, s := range r.busyServices() {
		if classShare(s, workload.Network) >= leastIRQ {
			takes = append(takes, s)
		}
	}
	f := &Finding{Cause: "linux.softirq", Cost: irq / max(busy, float64(r.CPUs)), Takes: r.serviceTitles(takes),
		Title: fmt.Sprintf("Interrupts, usually of the network, take %s of the busy CPU time.", units.Percent(irq/busy))}
	f.Evidence = []Evidence{{"CPUs that interrupts used", irq, "CPUs"}, {"CPUs busy", busy, "CPUs"}}
	f.addCommands(takes, nil)
	return f
}

// kernels maps each kind of kernel work to its cause.
var kernels = map[workload.Class]string{
	workload.PageFault: "linux.page-faults", workload.Compaction: "linux.thp-stall", workload.Reclaim: "linux.memory-reclaim",
	workload.Network: "linux.softirq", workload.Sync: "linux.disk-sync", workload.Futex: "linux.futex",
}

// findKernelLoad returns a finding if the kernel takes more CPU time than the programs do.
func (r *Report) findKernelLoad() *Finding {
	system, user := valueOrZero(r.CPU.System), valueOrZero(r.CPU.User)
	if r.CPUs == 0 || r.CPU.User == nil || system <= user || system < .25*float64(r.CPUs) {
		return nil
	}
	var most *Service
	for _, s := range r.busyServices() {
		if most == nil || valueOrZero(s.CPU)*valueOrZero(s.System) > valueOrZero(most.CPU)*valueOrZero(most.System) {
			most = s
		}
	}
	if most == nil {
		return nil
	}
	taken := valueOrZero(most.CPU) * valueOrZero(most.System)
	f := &Finding{Cause: kernels[most.Class], Cost: system / float64(r.CPUs), Takes: []string{most.formatTitle()},
		Title: fmt.Sprintf("The kernel uses more CPU time than the programs (%s against %s)", formatCPUs(system), formatCPUs(user))}
	switch {
	case taken < system/2:
		f.Title += "; no single service causes most of it."
		f.Takes = nil
	case f.Cause == "":
		f.Title += fmt.Sprintf(", most of it for %s.", most.formatTitle())
	default:
		f.Title += fmt.Sprintf(", most of it for %s: %s.", most.formatTitle(), most.Class.Title())
	}
	f.Evidence = []Evidence{{"CPUs the kernel used", system, "CPUs"}, {"CPUs the programs used", user, "CPUs"}, {"CPUs the kernel used for " + most.formatTitle(), taken, "CPUs"}}
	f.addCommands([]*Service{most}, nil)
	return f
}

// formatUse returns "uses 1.2 CPUs", or "use 1.2 CPUs" for the processes that are not listed.
func formatUse(s *Service) string {
	if s.Kind == kindUnlisted {
		return "use " + formatCPUs(*s.CPU)
	}
	return "uses " + formatCPUs(*s.CPU)
}

// busyServices returns the services that used any CPU time.
func (r *Report) busyServices() (all []*Service) {
	for i := range r.Services {
		if s := &r.Services[i]; s.Kind == kindService && valueOrZero(s.CPU) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func classShare(s *Service, c workload.Class) float64 {
	for _, p := range s.Parts {
		if p.Class == c {
			return p.Share
		}
	}
	return 0
}

// mostNamed bounds lists of services, mostShown the services whose figures are shown.
const (
	mostNamed = 5
	mostShown = 3
)

func (r *Report) serviceTitles(all []*Service) (out []string) {
	for _, s := range all[:min(len(all), mostNamed)] {
		out = append(out, s.formatTitle())
	}
	return out
}

// Title names a service: "nginx 4711 (5 processes)".
func (s *Service) Title() string { return s.formatTitle() }

func (s *Service) formatTitle() string {
	t := s.Name
	if s.PID != 0 {
		t += fmt.Sprintf(" %d", s.PID)
	}
	if s.Processes > 1 {
		t += fmt.Sprintf(" (%d processes)", s.Processes)
	}
	return t
}

func (f *Finding) addEvidence(text string, v *float64, unit string) {
	if v != nil {
		f.Evidence = append(f.Evidence, Evidence{text, *v, unit})
	}
}

// addCommands adds the commands that show more about the services, two at most.
func (f *Finding) addCommands(all, then []*Service) {
	for _, s := range slices.Concat(all, then) {
		command := fmt.Sprintf("unstall %d --kernel", s.PID)
		if s.PID != 0 && len(f.Next) < 2 && !slices.Contains(f.Next, command) {
			f.Next = append(f.Next, command)
		}
	}
}

func formatCPUs(n float64) string { return units.Of(n, "cores") }
