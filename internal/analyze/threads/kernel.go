package threads

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// kernelDetail adds to looks at threads what the kernel recorded of these threads (internal/format/kernelstacks): the function of the
// program in a system call, if the look has none (Go, code compiled at run time); where a running thread runs; which file a page fault
// reads; and that a thread which seems to run compacts or reclaims memory. A recorded wait covers the looks at its thread during it. A
// look that none covers gets the function in which nearly all waits in the same call were, weighted by their time.
type kernelDetail struct {
	b     *evidence.Bundle
	waits map[laneOf][]int // rows of intervals, by start
	runs  map[laneOf][]int // rows of samples of running threads, by time
	most  map[callOf]map[evidence.StackID]int64

	period int64
	calls  map[evidence.StackID]string
	usuals map[callOf]evidence.StackID
	files  map[evidence.SubjectID]evidence.NameID
	made   map[detailed]evidence.StackID
}

type callOf struct {
	subject evidence.SubjectID
	call    string
}

// detailed is a look's stack with what the kernel's recording adds.
type detailed struct {
	look, with evidence.StackID
	file       evidence.NameID
	call       string
	ready      bool
}

const (
	lookTakes   = int64(5e6) // ns from the beginning of a look until its last thread is read
	nearlyAll   = .8         // of the time of waits in a call
	mostSkipped = 64         // waits of one thread that are searched for the one that covers a look
)

// addKernelDetail adds what the kernel recorded to looks; rows are their samples.
func addKernelDetail(b *evidence.Bundle, rows []int) {
	d := &kernelDetail{b: b, waits: make(map[laneOf][]int), runs: make(map[laneOf][]int), most: make(map[callOf]map[evidence.StackID]int64),
		calls: make(map[evidence.StackID]string), usuals: make(map[callOf]evidence.StackID), files: make(map[evidence.SubjectID]evidence.NameID), made: make(map[detailed]evidence.StackID)}
	if !d.indexBundle() {
		return
	}
	x := &b.Samples
	x.Stack = slices.Clone(x.Stack) // the bundle that was read shares the column
	for _, i := range rows {
		x.Stack[i] = d.detailedStack(x.Subject[i], x.Lane[i], x.Time[i], x.Stack[i])
	}
}

// indexBundle indexes what the kernel recorded, and says whether there is anything.
func (d *kernelDetail) indexBundle() bool {
	v := &d.b.Intervals
	for _, i := range v.Select(evidence.InKernel, -1) {
		k := laneOf{v.Subject.At(i), v.Lane.At(i)}
		d.waits[k] = append(d.waits[k], i)
	}
	on, off := d.b.Names.Lookup(evidence.SampleOnCPU), d.b.Names.Lookup(evidence.SampleOffCPU)
	x := &d.b.Samples
	for i := range x.Len() {
		switch {
		case x.Type[i] == 0:
		case x.Type[i] == on:
			k := laneOf{x.Subject[i], x.Lane[i]}
			d.runs[k] = append(d.runs[k], i)
			d.period = max(d.period, x.Value[i])
		case x.Type[i] == off:
			k := callOf{x.Subject[i], d.callOf(x.Stack[i])}
			if d.most[k] == nil {
				d.most[k] = make(map[evidence.StackID]int64)
			}
			d.most[k][x.Stack[i]] += x.Value[i]
		}
	}
	for _, rows := range d.waits {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	}
	for _, rows := range d.runs {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(x.Time[a], x.Time[b]) })
	}
	return len(d.waits)+len(d.runs)+len(d.most) > 0
}

// detailedStack returns the stack of a look with what the kernel recorded added.
func (d *kernelDetail) detailedStack(s evidence.SubjectID, lane evidence.LaneID, at int64, stack evidence.StackID) evidence.StackID {
	seen := threadstack.Of(d.b, stack)
	call, on := nativeCall(&seen)
	owner, _ := nativeOwner(seen.Frames)
	k := laneOf{s, lane}
	add := detailed{look: stack}
	if call == evidence.CallRunning {
		if i := d.nearestRun(k, at); i >= 0 {
			add.with = d.b.Samples.Stack[i]
			switch class := d.b.Names.Text(d.b.Samples.Class[i]); {
			case makes[class]:
				add.call = class
			case waits[class]:
				add.call = d.callOf(add.with)
			case d.isForkCopy(add.with):
				add.call = forks
			}
		}
		if i := d.findMaking(k, at); i >= 0 {
			add.call = d.b.Names.Text(d.b.Intervals.Cause.At(i))
		}
		add.ready = add.call == "" && d.wasReady(k, at)
		return d.extendStack(add)
	}
	if i := d.findWait(k, at, call); i >= 0 {
		v := &d.b.Intervals
		if add.with = v.Stack.At(i); on == (evidence.Object{}) && call == evidence.CallPageFault {
			add.file = v.NameOf(i, evidence.Operation)
		}
	}
	if on == (evidence.Object{}) && add.file == 0 && call == evidence.CallPageFault && reasonOf(seen.Kernel) == "from disk" {
		add.file = d.usualFile(s)
	}
	if owner != "" {
		add.with = 0
	} else if add.with == 0 || !hasOwner(d.b, add.with) {
		add.with = d.usualStack(s, call)
	}
	return d.extendStack(add)
}

// wasReady says whether a thread waited for a processor at the moment of a look, which shows such a thread as running.
func (d *kernelDetail) wasReady(k laneOf, at int64) bool {
	v, rows := &d.b.Intervals, d.waits[k]
	n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > at })
	for skipped := 0; n > 0 && skipped < mostSkipped; skipped++ {
		n--
		if i := rows[n]; v.End[i] > at && d.b.Names.Text(v.Cause.At(i)) == evidence.KernelPreempted {
			return true
		}
	}
	return false
}

// isForkCopy says whether a stack is of a fork that copies the process's memory map. Its length depends on the process's size, so it
// counts as a wait and not as the program's own work.
func (d *kernelDetail) isForkCopy(stack evidence.StackID) bool {
	return slices.ContainsFunc(d.b.Stacks.Frames(stack), func(f evidence.Frame) bool {
		name, _, _ := strings.Cut(d.b.Names.Text(f.Func), ".")
		return name == "dup_mm" || name == "dup_mmap" || name == "copy_page_range"
	})
}

// findMaking returns the compaction or reclaim during which a thread was looked at, -1 none.
func (d *kernelDetail) findMaking(k laneOf, at int64) int {
	v := &d.b.Intervals
	return d.findInterval(k, at, func(i int) bool {
		return makes[d.b.Names.Text(v.Cause.At(i))]
	})
}

// Classes of kernel work of a running thread that are not its own work. In makes, it frees memory for itself. In waits, it prepares or
// ends a request to a disk that it waits for.
var (
	makes = map[string]bool{evidence.KernelCompaction: true, evidence.KernelReclaim: true}
	waits = map[string]bool{evidence.KernelDiskFault: true, evidence.KernelSwapIn: true, evidence.KernelFsync: true, evidence.KernelThrottled: true, evidence.KernelFileLock: true}
)

// findWait returns the recorded wait of a call that covers a look at a thread, -1 if there is none.
func (d *kernelDetail) findWait(k laneOf, at int64, call string) int {
	v := &d.b.Intervals
	return d.findInterval(k, at, func(i int) bool { return v.Stack.At(i) != 0 && sameCall(d.callOf(v.Stack.At(i)), call) })
}

// findInterval returns the first interval of a thread that covers a look and matches, -1 if there is none.
func (d *kernelDetail) findInterval(k laneOf, at int64, match func(i int) bool) int {
	v, rows := &d.b.Intervals, d.waits[k]
	n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > at+lookTakes })
	best := -1
	for skipped := 0; n > 0 && skipped < mostSkipped; skipped++ {
		n--
		if i := rows[n]; v.End[i] >= at && match(i) {
			best = i // earlier ones are better: the look's beginning is its best known time
		}
	}
	return best
}

// nearestRun returns the sample of a running thread nearest to a look, within a period; -1 none.
func (d *kernelDetail) nearestRun(k laneOf, at int64) int {
	x, rows := &d.b.Samples, d.runs[k]
	n := sort.Search(len(rows), func(n int) bool { return x.Time[rows[n]] >= at })
	best, least := -1, d.period
	for _, m := range []int{n - 1, n} {
		if m >= 0 && m < len(rows) {
			if apart := max(at-x.Time[rows[m]], x.Time[rows[m]]-at); apart <= least {
				best, least = rows[m], apart
			}
		}
	}
	return best
}

// usualStack returns a stack of the function in which nearly all waits in a call were; 0 if there
// is none.
func (d *kernelDetail) usualStack(s evidence.SubjectID, call string) (found evidence.StackID) {
	if found, known := d.usuals[callOf{s, call}]; known {
		return found
	}
	defer func() { d.usuals[callOf{s, call}] = found }()
	by, of := make(map[string]int64), make(map[string]evidence.StackID)
	var all int64
	for k, stacks := range d.most {
		if k.subject != s || !sameCall(k.call, call) {
			continue
		}
		for stack, ns := range stacks {
			owner, _ := nativeOwner(functionsOf(d.b, stack))
			if owner == "" {
				continue // the stack breaks off before the program's functions
			}
			all += ns
			by[owner] += ns
			if best, known := of[owner]; !known || ns > stacks[best] || ns == stacks[best] && stack < best {
				of[owner] = stack
			}
		}
	}
	for owner, ns := range by {
		if float64(ns) >= nearlyAll*float64(all) {
			return of[owner]
		}
	}
	return 0
}

// usualFile returns the file that nearly all recorded page faults of a process read, by their time; 0 if there are several.
func (d *kernelDetail) usualFile(s evidence.SubjectID) (file evidence.NameID) {
	if file, known := d.files[s]; known {
		return file
	}
	v := &d.b.Intervals
	by := make(map[evidence.NameID]int64)
	var all int64
	for k, rows := range d.waits {
		if k.subject != s {
			continue
		}
		for _, i := range rows {
			if d.b.Names.Text(v.Cause.At(i)) == evidence.KernelDiskFault {
				all += v.End[i] - v.Start[i]
				by[v.NameOf(i, evidence.Operation)] += v.End[i] - v.Start[i]
			}
		}
	}
	for name, ns := range by {
		if name != 0 && float64(ns) >= nearlyAll*float64(all) {
			file = name
		}
	}
	d.files[s] = file
	return file
}

// extendStack returns the look's stack with the detail added.
func (d *kernelDetail) extendStack(add detailed) evidence.StackID {
	if add.with == 0 && add.file == 0 && add.call == "" && !add.ready {
		return add.look
	}
	if id, ok := d.made[add]; ok {
		return id
	}
	info := d.b.Stacks.Info(add.look)
	if add.call != "" {
		info.Call = add.call
	}
	if info.Ready = add.ready; add.file != 0 {
		info.On = evidence.ObjectOf(d.b.Names.Text(add.file))
	}
	var functions []evidence.Frame
	for _, f := range functionsOf(d.b, add.with) {
		functions = append(functions, evidence.Frame{Func: d.b.Names.ID(f)})
	}
	id := stackWith(d.b, add.look, info, functions)
	d.made[add] = id
	return id
}

// functionsOf returns the program's functions of a stack that also has the kernel's, in the form that looks have.
func functionsOf(b *evidence.Bundle, stack evidence.StackID) (out []string) {
	for _, f := range b.Stacks.Frames(stack) {
		file := b.Names.Text(f.File)
		if file == evidence.KernelFile {
			continue
		}
		name := b.Names.Text(f.Func)
		if strings.Contains(file, ".so") {
			name += " (" + file + ")"
		}
		out = append(out, name)
	}
	return out
}

func hasOwner(b *evidence.Bundle, stack evidence.StackID) bool {
	owner, _ := nativeOwner(functionsOf(b, stack))
	return owner != ""
}

// callOf returns the system call of a stack, by the kernel's functions on it and named as in looks; "page fault" if there is only the
// function of a fault; "" if there is neither.
func (d *kernelDetail) callOf(stack evidence.StackID) string {
	call, known := d.calls[stack]
	if known {
		return call
	}
	for _, f := range d.b.Stacks.Frames(stack) {
		if d.b.Names.Text(f.File) != evidence.KernelFile {
			break
		}
		name := d.b.Names.Text(f.Func)
		if _, sys, ok := strings.Cut(name, "_sys_"); ok && strings.HasPrefix(name, "__") {
			call = strings.TrimSuffix(sys, "64")
			break
		}
		if sys, ok := strings.CutPrefix(name, "ksys_"); ok { // a tail call leaves no frame of __x64_sys_…
			call = strings.TrimSuffix(strings.TrimSuffix(sys, "64"), "_pgoff")
			break
		}
		if strings.Contains(name, "page_fault") || name == "do_user_addr_fault" || name == "do_mem_abort" {
			call = evidence.CallPageFault
		}
	}
	d.calls[stack] = call
	return call
}

// sameCall says whether a call by the kernel's name is that of a look, whose name may have more words ("futex mutex") or stand for
// several calls ("epoll_wait" for epoll_pwait2).
func sameCall(kernel, look string) bool {
	first, _, _ := strings.Cut(look, " ")
	if look == evidence.CallPageFault {
		first = look
	}
	switch kernel {
	case "":
		return false
	case "accept4":
		kernel = "accept"
	case "epoll_pwait", "epoll_pwait2":
		kernel = "epoll_wait"
	case "pselect6":
		kernel = "pselect"
	case "renameat2":
		kernel = "renameat"
	}
	return kernel == first
}
