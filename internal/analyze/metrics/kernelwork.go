package metrics

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// KernelWork is what threads with work did with their time, where nobody knows their requests.
//
// A thread that polls, accepts, sleeps, waits for bytes or for its next task has none. Of a server,
// which some threads of poll or accept for, a thread counts if it does so itself or is one of
// several that do the same: one alone that is woken now and then, as one that writes a log, may
// do what nobody waits for. Of a program that is no server all threads count.
type KernelWork struct {
	Busy   float64 // threads that had work, on average
	Alone  float64 // threads with work that nobody may wait for, on average
	Origin evidence.Origin
	in     map[string]float64 // threads in each class, on average
	alone  map[string]float64
}

// unworked are classes of waits of threads that have nothing to do, as far as a stack tells.
var unworked = []string{evidence.KernelPoll, evidence.KernelAccept, evidence.KernelSleep, evidence.KernelChild, evidence.KernelReceive, readsPipe,
	evidence.KernelOther, evidence.KernelUnexplained}

// polls are those of threads that wait for clients.
var polls = []string{evidence.KernelPoll, evidence.KernelAccept, evidence.KernelReceive}

// Work shares out the time of busy threads; locks says which part of a thread's waits at a
// futex are for a lock, the others are for work. It is nil where waits were not watched, or how
// long threads ran is not known.
func (k *Kernel) Work(locks func(evidence.LaneID) float64) *KernelWork {
	if k == nil || k.Waiting == 0 {
		return nil
	}
	x := &KernelWork{Origin: k.waited, in: make(map[string]float64), alone: make(map[string]float64)}
	did := make([]map[string]float64, len(k.Threads)) // threads in each class, on average: parts of one
	serving := false
	signalled := make(map[string]int) // threads that are woken for what they do most
	for i := range k.Threads {
		t := &k.Threads[i]
		did[i] = k.workByClass(t, locks(t.Lane))
		serving = serving || t.waitsForClients()
		if !t.waitsForClients() && t.Waited[evidence.KernelFutex] > 0 {
			signalled[mostOf(did[i])]++
		}
	}
	for i := range k.Threads {
		t := &k.Threads[i]
		counts := !serving || t.waitsForClients() || t.Waited[evidence.KernelFutex] > 0 && signalled[mostOf(did[i])] > 1
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
	ran := Mean(k.b, k.subject, evidence.SeriesProcessCPU, k.w).Mostly() // by whom is not known
	if !ran.Known() {
		return nil
	}
	x.in[""] += ran.Number
	x.Busy += ran.Number
	return x
}

// workByClass returns by class how a thread spent its time while it had work, as a part of one
// thread.
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

func mostOf(did map[string]float64) (most string) {
	for _, class := range slices.Sorted(maps.Keys(did)) {
		if did[class] > did[most] {
			most = class
		}
	}
	return most
}

// Threads is how many threads with work were in these classes, on average.
func (x *KernelWork) Threads(classes ...string) (n float64) {
	for _, class := range classes {
		n += x.in[class]
	}
	return n
}

// Share is the part of the time of busy threads in these classes.
func (x *KernelWork) Share(classes ...string) float64 {
	if x.Busy <= 0 {
		return 0
	}
	return x.Threads(classes...) / x.Busy
}

// Beside is how many threads that nobody may wait for were in these classes, on average.
func (x *KernelWork) Beside(classes ...string) (n float64) {
	for _, class := range classes {
		n += x.alone[class]
	}
	return n
}
