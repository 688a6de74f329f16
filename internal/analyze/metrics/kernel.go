package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Kernel is where the threads of a process ran and waited in the kernel over a window, by their stacks
// (internal/format/kernelstacks). Classes are evidence.Kernel…; "" is the program's own code.
type Kernel struct {
	Threads []KernelThread // by thread number
	Running float64        // s of the window in which running threads were sampled; 0: they were not
	Waiting float64        // s in which waits were watched; 0: they were not

	b       *evidence.Bundle
	subject evidence.SubjectID
	w       Window
	ran     evidence.Origin
	waited  evidence.Origin
}

// KernelThread is one thread with its s in each class.
type KernelThread struct {
	Lane   evidence.LaneID
	Ran    map[string]float64
	Waited map[string]float64
}

// KernelOf reads a process; nil if neither its running nor its waiting threads were watched in the window.
func KernelOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Kernel {
	k := &Kernel{b: b, subject: subject, w: w}
	k.Running = coveredSeconds(b.Covered(subject, evidence.CoverOnCPU), w)
	k.Waiting = coveredSeconds(b.Covered(subject, evidence.CoverOffCPU), w)
	if k.Running == 0 && k.Waiting == 0 {
		return nil
	}
	threads := make(map[evidence.LaneID]*KernelThread)
	k.eachSample(func(i int, waits bool, ns int64) {
		x := &b.Samples
		t := threads[x.Lane[i]]
		if t == nil {
			t = &KernelThread{Lane: x.Lane[i], Ran: make(map[string]float64), Waited: make(map[string]float64)}
			threads[x.Lane[i]] = t
		}
		a, _ := x.Origin[i].Artifact()
		if waits {
			t.Waited[k.classOf(i)] += float64(ns) / 1e9
			k.waited = evidence.NewOrigin(a, 0)
		} else {
			t.Ran[k.classOf(i)] += float64(ns) / 1e9
			k.ran = evidence.NewOrigin(a, 0)
		}
	})
	for _, lane := range slices.Sorted(maps.Keys(threads)) {
		k.Threads = append(k.Threads, *threads[lane])
	}
	return k
}

// coveredSeconds returns how much of a window was watched, s.
func coveredSeconds(all []evidence.Coverage, w Window) (s float64) {
	for _, c := range all {
		s += max(0, float64(min(c.Until, w.Until)-max(c.From, w.From))/1e9)
	}
	return s
}

// eachSample yields the samples of the window, with the part of their time within it.
func (k *Kernel) eachSample(yield func(i int, waits bool, ns int64)) {
	x := &k.b.Samples
	on, off := k.b.Names.Lookup(evidence.SampleOnCPU), k.b.Names.Lookup(evidence.SampleOffCPU)
	for i := range x.Len() {
		if x.Subject[i] != k.subject || x.Type[i] == 0 || x.Type[i] != on && x.Type[i] != off || x.Time[i] <= k.w.From || x.Time[i] > k.w.Until {
			continue
		}
		ns := x.Value[i]
		if x.Type[i] == off { // recorded at its end
			ns = min(ns, x.Time[i]-k.w.From)
		}
		yield(i, x.Type[i] == off, ns)
	}
}

// readsPipe names a thread's wait to read from a pipe: such a thread has no work, whereas a thread that writes into a full
// pipe has.
const readsPipe = evidence.KernelPipe + " read"

func (k *Kernel) classOf(i int) string {
	class := k.b.Names.Text(k.b.Samples.Class[i])
	if class == evidence.KernelPipe && k.hasFunction(k.b.Samples.Stack[i], "pipe_read", "anon_pipe_read") {
		return readsPipe
	}
	return class
}

// hasFunction reports whether any of some kernel functions is on a stack.
func (k *Kernel) hasFunction(stack evidence.StackID, functions ...string) bool {
	return slices.ContainsFunc(k.b.Stacks.Frames(stack), func(f evidence.Frame) bool {
		name, _, _ := strings.Cut(k.b.Names.Text(f.Func), ".")
		return slices.Contains(functions, name)
	})
}

// CPU returns how many CPUs the process's threads used in these classes; without classes, in all.
func (k *Kernel) CPU(classes ...string) Value {
	if k == nil || k.Running == 0 {
		return Unknown
	}
	return Value{Number: k.sumSeconds(false, classes) / k.Running, Origin: k.ran, Watched: k.Running / k.w.Seconds()}
}

// CPUShare returns the part of the process's CPU time in these classes; unknown if it used none.
func (k *Kernel) CPUShare(classes ...string) Value {
	v, all := k.CPU(classes...), k.CPU()
	if !v.Known() || all.Number == 0 {
		return Unknown
	}
	v.Number /= all.Number
	return v
}

// Waits returns the mean number of threads waiting in these classes; without classes, for anything.
func (k *Kernel) Waits(classes ...string) Value {
	if k == nil || k.Waiting == 0 {
		return Unknown
	}
	return Value{Number: k.sumSeconds(true, classes) / k.Waiting, Origin: k.waited, Watched: k.Waiting / k.w.Seconds()}
}

func (k *Kernel) sumSeconds(waits bool, classes []string) (s float64) {
	for i := range k.Threads {
		of := k.Threads[i].Ran
		if waits {
			of = k.Threads[i].Waited
		}
		for _, class := range slices.Sorted(maps.Keys(of)) {
			if len(classes) == 0 || slices.Contains(classes, class) {
				s += of[class]
			}
		}
	}
	return s
}

// KernelStack is a stack of a process's threads with the time (s) spent in it.
type KernelStack struct {
	Stack   evidence.StackID
	Class   string
	Waits   bool // waiting; else running
	Seconds float64
	Origin  evidence.Origin
}

// Stacks returns the stacks in these classes, in all without any, the longest first.
func (k *Kernel) Stacks(classes ...string) (all []KernelStack) {
	if k == nil {
		return nil
	}
	type key struct {
		stack evidence.StackID
		waits bool
	}
	at := make(map[key]int)
	k.eachSample(func(i int, waits bool, ns int64) {
		class := k.classOf(i)
		if len(classes) > 0 && !slices.Contains(classes, class) {
			return
		}
		x := &k.b.Samples
		of := key{x.Stack[i], waits}
		n, known := at[of]
		if !known {
			n, at[of] = len(all), len(all)
			all = append(all, KernelStack{Stack: x.Stack[i], Class: class, Waits: waits, Origin: x.Origin[i]})
		}
		all[n].Seconds += float64(ns) / 1e9
	})
	slices.SortStableFunc(all, func(a, b KernelStack) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return all
}

// Frames returns a stack's functions of the kernel and of the program, innermost first.
func (k *Kernel) Frames(stack evidence.StackID) (kernel, program []string) {
	for _, f := range k.b.Stacks.Frames(stack) {
		if name := k.b.Names.Text(f.Func); k.b.Names.Text(f.File) == evidence.KernelFile {
			kernel = append(kernel, name)
		} else {
			program = append(program, name)
		}
	}
	return kernel, program
}

// File returns what waits in these classes were for, for most of their time: a path, "socket"; "" unknown.
func (k *Kernel) File(classes ...string) (name string) {
	if k == nil {
		return ""
	}
	v := &k.b.Intervals
	sums := make(map[evidence.NameID]int64)
	for _, i := range v.Select(evidence.InKernel, k.subject) {
		if v.End[i] <= k.w.From || v.Start[i] >= k.w.Until || !slices.Contains(classes, k.b.Names.Text(v.Cause.At(i))) {
			continue
		}
		if of := v.NameOf(i, evidence.Operation); of != 0 {
			sums[of] += v.End[i] - v.Start[i]
		}
	}
	var most evidence.NameID
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		if sums[id] > sums[most] {
			most = id
		}
	}
	return k.b.Names.Text(most)
}

// KernelSpans are kernel delays of a process's threads that were measured one by one: s per second.
type KernelSpans struct {
	Compaction   Value
	Reclaim      Value // because the host lacked memory
	LimitReclaim Value // because the process's group was at its memory limit
}

// KernelSpansOf reads the delays.
func KernelSpansOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) KernelSpans {
	return KernelSpans{
		Compaction:   Mean(b, subject, evidence.SeriesProcessCompaction, w),
		Reclaim:      Mean(b, subject, evidence.SeriesProcessReclaim, w),
		LimitReclaim: Mean(b, subject, evidence.SeriesProcessLimitReclaim, w),
	}
}

// Disks is what the disks of the only host did over a window.
type Disks struct {
	Requests Value // 1/s that they finished
	InFlight Value // mean number under way
}

// DisksOf reads the disks.
func DisksOf(b *evidence.Bundle, w Window) Disks {
	mean := func(name string) Value {
		return toCurve(pickSeries(b, w, func(s *evidence.Series) bool { return s.Name == name })).Over(w)
	}
	return Disks{Requests: mean(evidence.SeriesHostDiskRequests), InFlight: mean(evidence.SeriesHostDiskInFlight)}
}

// Took returns how long one request took, s, by Little's law; NaN unknown, or without requests.
func (d Disks) Took() float64 {
	if !d.Requests.Known() || !d.InFlight.Known() || d.Requests.Number <= 0 {
		return math.NaN()
	}
	return d.InFlight.Number / d.Requests.Number
}
