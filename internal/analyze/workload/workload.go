// Package workload classifies the work on which a service spends its CPU time, by the kernel's counters: page faults, switches, packets,
// pages written, and, where running threads were sampled, the kernel's work for them. Counts are per second of CPU time, so that a service
// looks alike whether it is busy or nearly idle, and whether a neighbour leaves it one CPU or two.
//
// Its opinion: a service is classified by its own figures. The kernel's counts for the whole host (softirqs, disk requests, pressure) are
// shown beside them and decide nothing, because they are as often a neighbour's. A bound is the cost of the kernel's work for one event
// (share.go), derived from how the kernel works and not from runs; unknown figures are NaN and decide nothing either.
package workload

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
)

// Class is a kind of work.
type Class string

// The classes. Ids are added, never renamed.
const (
	User       Class = "user"       // its own code
	PageFault  Class = "page-fault" // memory it touches first: faults, mmap and munmap, fork
	Compaction Class = "compaction" // moving pages about until there is a huge one
	Reclaim    Class = "reclaim"    // taking memory from others until there is some; swap
	Network    Class = "network"    // sockets, and the softirqs they set off
	Sync       Class = "sync"       // files and disks: fsync, write-back, reads that miss the cache
	Futex      Class = "futex"      // locks and conditions of the program
	Switch     Class = "switch"     // threads that hand over to each other: pipes, sched_yield, short sleeps
	Saturation Class = "saturation" // its own code, with many more ready threads than CPUs
	System     Class = "system"     // other kernel work
	Idle       Class = "idle"       // too little CPU time to say
)

// Classes in the order in which tables show them.
var Classes = []Class{User, Saturation, PageFault, Compaction, Reclaim, Network, Sync, Futex, Switch, System, Idle}

// titles describe the classes in a few words.
func (c Class) Title() string { return titles[c] }

var titles = map[Class]string{
	User:       "its own code",
	PageFault:  "page faults",
	Compaction: "memory compaction",
	Reclaim:    "memory reclaim",
	Network:    "network",
	Sync:       "files and disks",
	Futex:      "locks (futex)",
	Switch:     "switches between threads",
	Saturation: "too many ready threads",
	System:     "other kernel work",
	Idle:       "almost no CPU time",
}

// Vector is a service's figures over a time.
type Vector struct {
	metrics.Work
	CPUs float64 // there are
	Host Beside
}

// Beside is the kernel's counts for the whole host: shown, but not decisive.
type Beside struct {
	Busy           float64 // CPUs
	Softirq        float64 // share of the busy CPU time
	NetRX          float64 // softirqs for received packets, 1/s
	Block          float64 // softirqs for finished disk requests, 1/s
	PressureCPU    float64 // share of the time in which some task waited for a CPU
	PressureMemory float64
	PressureIO     float64
}

// Unknown is a vector without any known figure.
func Unknown() Vector {
	n := math.NaN()
	return Vector{Work: metrics.Work{Seconds: n, CPU: n, System: n, Delay: n, MinorFaults: n, MajorFaults: n, Voluntary: n, Involuntary: n, Segments: n, Dirtied: n, Read: n},
		CPUs: n, Host: Beside{n, n, n, n, n, n, n}}
}

// Demand returns the mean number of its threads that ran or were ready; NaN unknown. A neighbour that takes CPUs away makes threads wait,
// but does not add any.
func (v *Vector) Demand() float64 { return v.CPU + v.Delay }
