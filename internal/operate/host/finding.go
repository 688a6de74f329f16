package host

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/workload"
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

// From these shares of time on somebody pays enough to be told. The kernel's own averages of pressure
// move by a few per cent on a machine where all is well.
const (
	fullCPUs   = .9   // of the CPUs are in use: a thread that wakes up finds none free nine times of ten
	leastWait  = .2   // of the time in which it could run a service waits for a CPU
	leastSteal = .1   // of the CPUs the hypervisor gives to others
	leastStall = .1   // of the time somebody waits for memory
	leastDisk  = .2   // of the time somebody waits for a disk, which who syncs does by design
	leastStop  = .05  // of its quota's periods a service is stopped in
	leastIRQ   = .2   // of the busy CPU time goes to interrupts
	leastPays  = .01  // CPUs that a service uses, for its waiting to count
	swapping   = 100  // pages/s read back from swap: at .1 ms each that is a hundredth of the time
	reclaiming = 2500 // pages/s taken by who allocates, where pressure is not measured: some 1 % of a CPU
)

// findings asks what can be wrong, and ranks what is.
func (r *Report) findings(disks []metrics.DiskUse) (all []Finding) {
	for _, ask := range []func() *Finding{r.stolen, r.crowded, r.throttled, r.memory, func() *Finding { return r.disk(disks) }, r.softirq, r.kernel} {
		if f := ask(); f != nil {
			all = append(all, *f)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Cost, a.Cost) })
	return all
}

// stolen is a hypervisor that gives the CPUs to others.
func (r *Report) stolen() *Finding {
	if r.CPUs == 0 || number(r.CPU.Steal) < leastSteal*float64(r.CPUs) {
		return nil
	}
	share := *r.CPU.Steal / float64(r.CPUs)
	return &Finding{Cause: "linux.noisy-neighbour", Cost: share, Pays: r.names(r.busy()),
		Title:    fmt.Sprintf("The hypervisor gives %s of the CPU time to other machines.", units.Percent(share)),
		Evidence: []Evidence{{"CPUs the hypervisor gave to others (steal)", *r.CPU.Steal, "CPUs"}, {"CPUs", float64(r.CPUs), "1"}}}
}

// crowded is services that are ready and have no CPU.
func (r *Report) crowded() *Finding {
	if r.CPUs == 0 {
		return nil
	}
	var takes, pays []*Service
	for i := range r.Services {
		s := &r.Services[i]
		if s.Kind != kindKernel && number(s.CPU) >= leastWait*float64(r.CPUs) {
			takes = append(takes, s)
		}
		if s.Kind == kindService && number(s.Waits) >= leastWait && number(s.CPU) >= leastPays && number(s.Throttled) < leastStop {
			pays = append(pays, s)
		}
	}
	// On a host of many CPUs somebody waits now and then though most are free: so two of the three must
	// be so, that they are in use, that somebody waits, and that it is known who.
	in := number(r.CPU.Busy) + number(r.CPU.Steal)
	full, waited := in >= fullCPUs*float64(r.CPUs), number(r.Pressure.CPU) >= leastWait
	if !(full && waited || full && len(pays) > 0 || waited && len(pays) > 0) {
		return nil
	}
	slices.SortStableFunc(pays, func(a, b *Service) int { return cmp.Compare(number(b.Waits), number(a.Waits)) })
	f := &Finding{Cause: "linux.cpu-saturation", Takes: r.names(takes), Pays: r.names(pays), Cost: number(r.Pressure.CPU)}
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
	case top != nil && len(others) > 0 && number(top.CPU) >= number(others[0].CPU)*2:
		// Who takes much and makes another wait is a neighbour.
		f.Cause, f.Pays = "linux.noisy-neighbour", r.names(others)
		f.Cost = max(f.Cost, *others[0].Waits)
		f.Title += fmt.Sprintf(": %s %s, and %s waits for a CPU %s of its runnable time.", top.title(), uses(top), others[0].title(), units.Percent(*others[0].Waits))
	case len(pays) > 0:
		f.Cost = max(f.Cost, *pays[0].Waits)
		f.Title += fmt.Sprintf(": %s waits for one %s of its runnable time.", pays[0].title(), units.Percent(*pays[0].Waits))
	default:
		f.Title += fmt.Sprintf(": tasks waited for one %s of the time.", units.Percent(*r.Pressure.CPU))
	}
	f.Evidence = []Evidence{{"CPUs busy", number(r.CPU.Busy), "CPUs"}}
	f.add("share of the time in which a task waited for a CPU", r.Pressure.CPU, "1")
	for _, s := range takes[:min(len(takes), mostShown)] {
		f.add("CPUs that "+s.title()+" used", s.CPU, "CPUs")
	}
	for _, s := range pays[:min(len(pays), mostShown)] {
		f.add("threads of "+s.title()+" that waited for a CPU, on average", s.Waiting, "threads")
	}
	f.next(pays, takes)
	return f
}

// throttled is a quota that stops a service.
func (r *Report) throttled() *Finding {
	var worst *Service
	var pays []*Service
	for _, s := range r.busy() {
		if number(s.Throttled) < leastStop {
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
	f := &Finding{Cause: "linux.cpu-throttled", Cost: *worst.Throttled, Pays: r.names(pays),
		Title: fmt.Sprintf("A CPU quota throttles %s in %s of its periods.", worst.title(), units.Percent(*worst.Throttled))}
	for _, s := range pays {
		f.add("share of the periods in which its quota throttled "+s.title(), s.Throttled, "1")
	}
	f.next(pays, nil)
	return f
}

// memory is services that wait for memory.
func (r *Report) memory() *Finding {
	swap, reclaim := number(r.Memory.SwapIn), number(r.Memory.DirectReclaim)
	waits := number(r.Pressure.Memory)
	if number(r.Memory.OOMKills) == 0 && waits < leastStall && !(r.Pressure.Memory == nil && (swap >= swapping || reclaim >= reclaiming)) {
		return nil
	}
	f := &Finding{Cause: "linux.memory-reclaim", Cost: waits}
	what := "for memory"
	if swap >= swapping {
		f.Cause, what = "linux.swap", "for memory that is read back from swap"
	}
	switch {
	case number(r.Memory.OOMKills) > 0:
		f.Title, f.Cost = "The kernel killed processes because memory ran out.", 1
	case r.Pressure.Memory != nil:
		f.Title = fmt.Sprintf("Services wait %s %s of the time.", what, units.Percent(waits))
	default:
		f.Title = "Services wait " + what + "; this kernel does not measure how long."
	}
	var pays []*Service
	for _, s := range r.busy() {
		if s.Class == workload.Reclaim || s.Class == workload.Compaction || part(s, workload.Reclaim)+part(s, workload.Compaction) >= leastStall {
			pays = append(pays, s)
		}
	}
	f.Pays = r.names(pays)
	f.add("share of the time in which a task waited for memory", r.Pressure.Memory, "1")
	f.add("memory available", r.Memory.AvailableBytes, "bytes")
	f.add("pages read back from swap", r.Memory.SwapIn, "1/s")
	f.add("pages reclaimed by allocating tasks (direct reclaim)", r.Memory.DirectReclaim, "1/s")
	f.add("processes killed because memory ran out", r.Memory.OOMKills, "1/s")
	f.next(pays, nil)
	return f
}

// disk is services that wait for disks.
func (r *Report) disk(disks []metrics.DiskUse) *Finding {
	if number(r.Pressure.IO) < leastDisk {
		return nil
	}
	var takes []*Service
	for _, s := range r.busy() {
		if number(s.Written)+number(s.Read) > 0 {
			takes = append(takes, s)
		}
	}
	slices.SortStableFunc(takes, func(a, b *Service) int {
		return cmp.Compare(number(b.Written)+number(b.Read), number(a.Written)+number(a.Read))
	})
	f := &Finding{Cause: "linux.disk-sync", Cost: *r.Pressure.IO, Takes: r.names(takes[:min(len(takes), mostShown)]),
		Title: fmt.Sprintf("Services wait for disks %s of the time", units.Percent(*r.Pressure.IO))}
	if len(disks) > 0 && disks[0].Busy >= fullCPUs {
		f.Cause = "linux.disk-busy"
		f.Title += fmt.Sprintf("; %s is busy %s of it", disks[0].Name, units.Percent(disks[0].Busy))
	}
	if len(takes) > 0 {
		f.Title += fmt.Sprintf(": %s reads and writes most.", takes[0].title())
	} else {
		f.Title += "."
	}
	f.add("share of the time in which a task waited for a disk", r.Pressure.IO, "1")
	for _, d := range disks[:min(len(disks), mostShown)] {
		f.Evidence = append(f.Evidence, Evidence{"share of the time in which " + d.Name + " had requests", d.Busy, "1"})
	}
	for _, s := range takes[:min(len(takes), mostShown)] {
		f.add("written to files by "+s.title(), s.Written, "bytes/s")
		f.add("read from disks by "+s.title(), s.Read, "bytes/s")
	}
	f.next(takes[:min(len(takes), 1)], nil)
	return f
}

// softirq is interrupts that take the CPUs.
func (r *Report) softirq() *Finding {
	busy, irq := number(r.CPU.Busy), number(r.CPU.Softirq)
	if busy <= 0 || irq < leastIRQ*busy || irq < leastIRQ {
		return nil
	}
	var takes []*Service
	for _, s := range r.busy() {
		if part(s, workload.Network) >= leastIRQ {
			takes = append(takes, s)
		}
	}
	f := &Finding{Cause: "linux.softirq", Cost: irq / max(busy, float64(r.CPUs)), Takes: r.names(takes),
		Title: fmt.Sprintf("Interrupts, usually of the network, take %s of the busy CPU time.", units.Percent(irq/busy))}
	f.Evidence = []Evidence{{"CPUs that interrupts used", irq, "CPUs"}, {"CPUs busy", busy, "CPUs"}}
	f.next(takes, nil)
	return f
}

// kernels is which cause each kind of the kernel's work is.
var kernels = map[workload.Class]string{
	workload.PageFault: "linux.page-faults", workload.Compaction: "linux.thp-stall", workload.Reclaim: "linux.memory-reclaim",
	workload.Network: "linux.softirq", workload.Sync: "linux.disk-sync", workload.Futex: "linux.futex",
}

// kernel is a kernel that takes more of the CPUs than the programs do.
func (r *Report) kernel() *Finding {
	system, user := number(r.CPU.System), number(r.CPU.User)
	if r.CPUs == 0 || r.CPU.User == nil || system <= user || system < .25*float64(r.CPUs) {
		return nil
	}
	var most *Service
	for _, s := range r.busy() {
		if most == nil || number(s.CPU)*number(s.System) > number(most.CPU)*number(most.System) {
			most = s
		}
	}
	if most == nil {
		return nil
	}
	taken := number(most.CPU) * number(most.System)
	f := &Finding{Cause: kernels[most.Class], Cost: system / float64(r.CPUs), Takes: []string{most.title()},
		Title: fmt.Sprintf("The kernel uses more CPU time than the programs (%s against %s)", cpus(system), cpus(user))}
	switch {
	case taken < system/2:
		f.Title += "; no single service causes most of it."
		f.Takes = nil
	case f.Cause == "":
		f.Title += fmt.Sprintf(", most of it for %s.", most.title())
	default:
		f.Title += fmt.Sprintf(", most of it for %s: %s.", most.title(), most.Class.Title())
	}
	f.Evidence = []Evidence{{"CPUs the kernel used", system, "CPUs"}, {"CPUs the programs used", user, "CPUs"}, {"CPUs the kernel used for " + most.title(), taken, "CPUs"}}
	f.next([]*Service{most}, nil)
	return f
}

// uses is "uses 1.2 CPUs"; of several they use them.
func uses(s *Service) string {
	if s.Kind == kindUnlisted {
		return "use " + cpus(*s.CPU)
	}
	return "uses " + cpus(*s.CPU)
}

// busy is the services that used any CPU time.
func (r *Report) busy() (all []*Service) {
	for i := range r.Services {
		if s := &r.Services[i]; s.Kind == kindService && number(s.CPU) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func part(s *Service, c workload.Class) float64 {
	for _, p := range s.Parts {
		if p.Class == c {
			return p.Share
		}
	}
	return 0
}

// mostNamed bounds lists of services, mostShown those whose figures are shown.
const (
	mostNamed = 5
	mostShown = 3
)

func (r *Report) names(all []*Service) (out []string) {
	for _, s := range all[:min(len(all), mostNamed)] {
		out = append(out, s.title())
	}
	return out
}

// Title names a service: "nginx 4711 (5 processes)".
func (s *Service) Title() string { return s.title() }

func (s *Service) title() string {
	t := s.Name
	if s.PID != 0 {
		t += fmt.Sprintf(" %d", s.PID)
	}
	if s.Processes > 1 {
		t += fmt.Sprintf(" (%d processes)", s.Processes)
	}
	return t
}

func (f *Finding) add(text string, v *float64, unit string) {
	if v != nil {
		f.Evidence = append(f.Evidence, Evidence{text, *v, unit})
	}
}

// next names the commands that tell more of who pays, and of who takes.
func (f *Finding) next(all, then []*Service) {
	for _, s := range slices.Concat(all, then) {
		command := fmt.Sprintf("unstall %d --kernel", s.PID)
		if s.PID != 0 && len(f.Next) < 2 && !slices.Contains(f.Next, command) {
			f.Next = append(f.Next, command)
		}
	}
}

// percent writes a share in whole per cent.

func cpus(n float64) string { return units.Of(n, "cores") }
