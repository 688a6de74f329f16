package workload

import (
	"maps"
	"math"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Costs of the kernel's work for one event, s of CPU time: the middle of the range on today's machines, of which virtual ones are
// the slow end. A class needs a quarter of the CPU time ([leastShare]), so that half or twice the cost gives the same class to a
// service with that much of one kind of work.
const (
	// An exception, a walk through four levels of tables, a page taken from the free list, 4 KiB zeroed
	// (about .1 µs), charged and put on a list: .5 µs on bare metal, 1.7 µs where a hypervisor has
	// tables of its own to fill (EPT).
	costFault = 1e-6
	// One thread leaves a CPU and another comes, with the wake-up before it: .7 µs for the switch, as
	// much for try_to_wake_up, and an interrupt to another CPU where that slept: 2 to 5 µs.
	costVoluntary = 3e-6
	// The same without a wake-up: the scheduler picks and switches.
	costInvoluntary = 1e-6
	// A segment through tcp_sendmsg and ip_output, or through a softirq, tcp_v4_rcv and tcp_recvmsg: 2 to 4 µs.
	costSegment = 2.5e-6
	// 4 KiB copied into the page cache, the page taken, charged, marked dirty, written back and freed.
	costDirtied = 1.5e-6
	// The same the other way, with a request to the disk for some pages each.
	costRead = 1.5e-6
	// A page that a task waits for is written by itself: a request is made, dispatched and finished, and fsync also writes the file
	// system's journal: 5 to 10 µs.
	costRequest = 5e-6
)

const (
	// leastSamples is the number of samples from which shares come from samples: of 20, a quarter is 5 samples, which a kind of work
	// with a tenth of the time reaches once in 23.
	leastSamples = 20
	// leastShare is the part of the CPU time from which one kind of the kernel's work classifies a service: with less, removing all of
	// it leaves three quarters.
	leastShare = .25
	// leastCPU is the CPU time from which counts are divided by it: 2 ticks of the kernel's clock; below, the clock's rounding is half
	// of it.
	leastCPU = .02
	// overloaded is the number of ready threads per CPU from which a service's own code is saturation: each thread waits as long as it
	// runs, even without neighbours.
	overloaded = 2
)

// kernelClasses maps a mechanism of the kernel to a class. Other facts classify a mechanism that is not here, or nothing does.
var kernelClasses = map[string]Class{
	"":                         User,
	evidence.KernelPageFault:   PageFault,
	evidence.KernelMapping:     PageFault,
	evidence.KernelFork:        PageFault,
	evidence.KernelCompaction:  Compaction,
	evidence.KernelReclaim:     Reclaim,
	evidence.KernelSwapIn:      Reclaim,
	evidence.KernelSend:        Network,
	evidence.KernelReceive:     Network,
	evidence.KernelAccept:      Network,
	evidence.KernelFsync:       Sync,
	evidence.KernelThrottled:   Sync,
	evidence.KernelDisk:        Sync,
	evidence.KernelDiskFault:   Sync,
	evidence.KernelFiles:       Sync,
	evidence.KernelFileLock:    Sync,
	evidence.KernelFutex:       Futex,
	evidence.KernelPipe:        Switch,
	evidence.KernelSleep:       Switch,
	evidence.KernelChild:       Switch,
	evidence.KernelNUMA:        System,
	evidence.KernelOther:       System,
	evidence.KernelUnexplained: System,
	evidence.KernelPreempted:   System,
}

// Shares are the parts of a service's CPU time by class; they add up to 1. Known is false where neither samples nor counts exist.
type Shares struct {
	Of      map[Class]float64
	Sampled bool // by samples of running threads, else worked out from counts
	Known   bool
}

// Shares are taken from samples where there are enough, else worked out from counts.
func (v *Vector) Shares() Shares {
	if v.Samples >= leastSamples && v.Kernel != nil {
		return v.sampledShares()
	}
	return v.Counted()
}

// sampledShares gives each mechanism to its class.
func (v *Vector) sampledShares() Shares {
	s := Shares{Of: make(map[Class]float64), Sampled: true, Known: true}
	sockets := v.Kernel[evidence.KernelSend] + v.Kernel[evidence.KernelReceive] + v.Kernel[evidence.KernelAccept]
	var all float64
	for _, mechanism := range slices.Sorted(maps.Keys(v.Kernel)) {
		share, class := v.Kernel[mechanism], kernelClasses[mechanism]
		switch mechanism {
		case evidence.KernelInterrupt:
			continue // it interrupts any task
		case evidence.KernelSoftirq:
			// So does a softirq of somebody else's packets. Those that a service sets off itself by what it
			// sends and receives take no longer than a few times that.
			if share > 4*sockets {
				continue
			}
			class = Network
		case evidence.KernelPoll:
			// What waits for several things at once mostly waits for sockets.
			if class = Network; sockets == 0 {
				class = Switch
			}
		}
		s.Of[class] += share
		all += share
	}
	if all <= 0 {
		return Shares{}
	}
	for c := range s.Of {
		s.Of[c] /= all
	}
	// Calls that nothing else explains, such as sched_yield, are switches if they are as many as that.
	if by := orNone(v.Voluntary)*costVoluntary + orNone(v.Involuntary)*costInvoluntary; by > 0 {
		part := min(s.Of[System], by)
		if part >= s.Of[System]/2 {
			s.Of[Switch] += s.Of[System]
			delete(s.Of, System)
		}
	}
	return s
}

// Counted works the shares out from counts and what each costs. The kernel's part is known, so that
// they divide no more than that.
func (v *Vector) Counted() Shares {
	if !(v.CPU*v.Seconds >= leastCPU) || math.IsNaN(v.System) {
		return Shares{}
	}
	system := min(max(v.System, 0), 1)
	of := map[Class]float64{
		PageFault: orNone(v.MinorFaults) * costFault,
		Network:   orNone(v.Segments) * costSegment,
		Sync:      orNone(v.Dirtied)*costDirtied + orNone(v.Read)*costRead,
	}
	if v.switchClass() == Sync {
		of[Sync] += min(orNone(v.Voluntary), orNone(v.Dirtied)+orNone(v.Read)) * costRequest
	}
	of[v.switchClass()] += orNone(v.Voluntary)*costVoluntary + orNone(v.Involuntary)*costInvoluntary
	var all float64
	for _, class := range slices.Sorted(maps.Keys(of)) {
		all += of[class]
	}
	if all > system && all > 0 {
		for c := range of {
			of[c] *= system / all
		}
		all = system
	}
	of[User] = 1 - system
	of[System] = system - all
	return Shares{Of: of, Known: true}
}

// switchClass returns what waiting threads wait for, as far as counts tell: a packet for every other switch, or a page for every
// fourth, shows it; else it is the switches themselves. A thread that has a page written waits for the page, for the inode or the
// journal, and for the disk's cache.
func (v *Vector) switchClass() Class {
	switch waits := orNone(v.Voluntary); {
	case waits <= 0:
		return Switch
	case orNone(v.Segments) >= waits/2:
		return Network
	case orNone(v.Dirtied)+orNone(v.Read) >= waits/4:
		return Sync
	}
	return Switch
}

func orNone(v float64) float64 {
	if math.IsNaN(v) || v < 0 {
		return 0
	}
	return v
}
