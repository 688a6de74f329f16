package metrics

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// KernelWork is how threads with work spent their time, where their requests are not known.
//
// A thread that polls, accepts, sleeps, or waits for bytes or its next task has no work. In a server, some threads of which
// poll or accept, a thread counts if it does so itself or if several threads do the same: a single thread that is woken now
// and then, such as a log writer, may do work that no request waits for. In other programs all threads count.
type KernelWork struct {
	Busy   float64 // mean number of threads with work
	Alone  float64 // mean number of threads with work that perhaps no request waits for
	Origin evidence.Origin
	in     map[string]float64 // mean number of threads in each class
	alone  map[string]float64
}

// unworked are classes of waits of threads without work, as far as a stack tells.
var unworked = []string{evidence.KernelPoll, evidence.KernelAccept, evidence.KernelSleep, evidence.KernelChild, evidence.KernelReceive, readsPipe,
	evidence.KernelOther, evidence.KernelUnexplained}

// polls are the classes of threads that wait for clients.
var polls = []string{evidence.KernelPoll, evidence.KernelAccept, evidence.KernelReceive}

// Work splits the time of busy threads. Locks tells which part of a thread's futex waits is for a lock; the rest is for
// work. It returns nil where waits were not watched, or running time is unknown.
func (k *Kernel) Work(locks func(evidence.LaneID) float64) *KernelWork {
	if k == nil || k.Waiting == 0 {
		return nil
	}
	x := &KernelWork{Origin: k.waited, in: make(map[string]float64), alone: make(map[string]float64)}
	did := make([]map[string]float64, len(k.Threads)) // mean number of threads in each class, as parts of one
	serving := false
	signalled := make(map[string]int) // threads that are woken for what they do most
	for i := range k.Threads {
		t := &k.Threads[i]
		did[i] = k.workByClass(t, locks(t.Lane))
		serving = serving || t.waitsForClients()
		if !t.waitsForClients() && t.Waited[evidence.KernelFutex] > 0 {
			signalled[largestKey(did[i])]++
		}
	}
	for i := range k.Threads {
		t := &k.Threads[i]
		counts := !serving || t.waitsForClients() || t.Waited[evidence.KernelFutex] > 0 && signalled[largestKey(did[i])] > 1
		for _, class := range slices.Sorted(maps.Keys(did[i])) {
			if v := did[i][class]; counts {
				x.in[class] += v
				x.Busy += v
			} else {
				x.alone[class] += v
				x.Alone += v
			}
		}
	}
	if k.Running > 0 {
		return x
	}
	ran := Mean(k.b, k.subject, evidence.SeriesProcessCPU, k.w).Mostly() // of unknown threads
	if !ran.Known() {
		return nil
	}
	x.in[""] += ran.Number
	x.Busy += ran.Number
	return x
}

// workByClass returns by class how a thread spent its time with work, as parts of one thread.
func (k *Kernel) workByClass(t *KernelThread, lock float64) map[string]float64 {
	did := make(map[string]float64)
	for class, v := range t.Ran {
		did[class] += v / k.Running
	}
	for class, v := range t.Waited {
		switch {
		case slices.Contains(unworked, class):
			continue
		case class == evidence.KernelFutex:
			v *= lock
		}
		if v > 0 {
			did[class] += v / k.Waiting
		}
	}
	return did
}

func (t *KernelThread) waitsForClients() bool {
	return slices.ContainsFunc(polls, func(class string) bool { return t.Waited[class] > 0 })
}

// Threads returns the mean number of threads with work in these classes.
func (x *KernelWork) Threads(classes ...string) (n float64) {
	for _, class := range classes {
		n += x.in[class]
	}
	return n
}

// Share returns the part of busy threads' time in these classes.
func (x *KernelWork) Share(classes ...string) float64 {
	if x.Busy <= 0 {
		return 0
	}
	return x.Threads(classes...) / x.Busy
}

// Beside returns the mean number of threads in these classes that perhaps no request waits for.
func (x *KernelWork) Beside(classes ...string) (n float64) {
	for _, class := range classes {
		n += x.alone[class]
	}
	return n
}
