package threads

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// applyKernelWaits lays what the kernel recorded of a process's threads
// (internal/format/kernelstacks) over looks by which its runtime tells their stacks. To a runtime
// a thread that waits in the kernel runs, or is in native code: it knows neither that a page fault
// reads the disk, nor why a write takes long. A look whose thread the kernel kept waiting at that
// moment, longer than for an instant, is that wait; where in the program it is stays as the
// runtime says.
//
// Of locks, polls, sleeps and the network the runtime says more than the kernel does: these stay.
func (t *Threads) applyKernelWaits(s evidence.SubjectID) {
	if t.of[t.b.Subjects[s].Runtime].Settle != nil {
		return // the kernel's own looks: they have it already
	}
	v := &t.b.Intervals
	waits := make(map[evidence.LaneID][]int)
	for _, i := range v.Select(evidence.InKernel, s) {
		if KeptByKernel(t.b.Names.Text(v.Cause.At(i))) {
			waits[v.Lane.At(i)] = append(waits[v.Lane.At(i)], i)
		}
	}
	if len(waits) == 0 {
		return
	}
	for _, rows := range waits {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	}
	words := NewKept(t.b, s)
	looks := t.looks[s]
	found := make(map[inCall]map[string]int)
	waited := make(map[string]evidence.Wait) // by their words
	keep := func(l *Sample, by string, wait evidence.Wait) {
		if l.View.State, l.View.Pattern, l.View.Waits = evidence.Syscall, by, wait; l.View.Wait < 0 {
			l.View.Wait = 0
		}
	}
	var rest []*Sample
	for n := range looks {
		l := &looks[n]
		if l.Time == 0 || !mayBeKept(&l.View) {
			continue
		}
		i := findCovering(v, waits[l.Lane], l.Time)
		call := inCall{l.View.Pattern, l.View.Owner}
		switch {
		case i >= 0:
			if found[call] == nil {
				found[call] = make(map[string]int)
			}
			by, wait := words.withoutFile(i)
			found[call][by]++
			waited[by] = wait
			by, wait = words.Of(i)
			keep(l, by, wait)
		case call.pattern != "":
			rest = append(rest, l)
		}
	}
	usual := t.usualWaits(s, waited)
	for _, l := range rest { // of short waits not each is recorded by itself
		by := nearlyOne(found[inCall{l.View.Pattern, l.View.Owner}])
		if by == "" {
			by = usual[kindOf(l.View.Pattern)]
		}
		if by != "" {
			keep(l, by, waited[by])
		}
	}
}

// Kinds of calls on files, as runtimes call them and as the kernel does.
const (
	writing = "write"
	reading = "read"
	syncing = "fsync"
)

// kindOf is the kind of a call of a runtime's, by its name: "sync I/O: RandomAccessFile.writeBytes"; "" another.
func kindOf(pattern string) string {
	_, method, _ := strings.Cut(pattern[max(0, strings.LastIndex(pattern, "/")):], ".")
	method = strings.ToLower(method)
	switch {
	case strings.HasPrefix(method, "write"), strings.HasPrefix(method, "pwrite"):
		return writing
	case strings.HasPrefix(method, "read"), strings.HasPrefix(method, "pread"):
		return reading
	case strings.HasPrefix(method, "force"), strings.HasPrefix(method, "fsync"), strings.HasPrefix(method, "flush"):
		return syncing
	}
	return ""
}

// usualWaits is what nearly all time of a process's waits in calls on files was, by their kind, in words; what is
// known of these is added to waited.
func (t *Threads) usualWaits(s evidence.SubjectID, waited map[string]evidence.Wait) map[string]string {
	k := &kernelDetail{b: t.b, calls: make(map[evidence.StackID]string)}
	off := t.b.Names.Lookup(evidence.SampleOffCPU)
	type waits struct{ class, call string }
	ns, all := make(map[string]map[waits]int64), make(map[string]int64)
	x := &t.b.Samples
	for i := range x.Len() {
		if off == 0 || x.Type[i] != off || x.Subject[i] != s {
			continue
		}
		w := waits{t.b.Names.Text(x.Class[i]), k.callOf(x.Stack[i])}
		kind := ""
		switch {
		case w.class == evidence.KernelSend || w.class == evidence.KernelReceive || w.class == evidence.KernelPreempted:
		case isWriteCall(w.call):
			kind = writing
		case isReadCall(w.call) || strings.HasPrefix(w.call, "pread"):
			kind = reading
		case w.call == "fsync" || w.call == "fdatasync":
			kind = syncing
		}
		if kind == "" {
			continue
		}
		if ns[kind] == nil {
			ns[kind] = make(map[waits]int64)
		}
		ns[kind][w] += x.Value[i]
		all[kind] += x.Value[i]
	}
	usual := make(map[string]string)
	for kind, by := range ns {
		for w, v := range by {
			if float64(v) >= nearlyAll*float64(all[kind]) && KeptByKernel(w.class) {
				words, wait := keptWords(w.class, w.call, "")
				usual[kind], waited[words] = words, wait
			}
		}
	}
	return usual
}

// inCall is what looks have in common that are in the same call of the runtime's, made in the same function.
type inCall struct{ pattern, owner string }

// KeptByKernel says whether a mechanism of the kernel says more than a runtime knows.
func KeptByKernel(mechanism string) bool { return keeps[mechanism] }

var keeps = map[string]bool{
	evidence.KernelFsync: true, evidence.KernelDisk: true, evidence.KernelDiskFault: true, evidence.KernelSwapIn: true, evidence.KernelThrottled: true,
	evidence.KernelReclaim: true, evidence.KernelCompaction: true, evidence.KernelFileLock: true, evidence.KernelPipe: true, evidence.KernelMapping: true, evidence.KernelFork: true,
}

// mayBeKept says whether the kernel may keep a thread waiting without its runtime's knowing for what.
func mayBeKept(v *threadstack.View) bool {
	switch v.State {
	case evidence.Running, evidence.KindUnknown, evidence.Syscall:
		return true
	case evidence.NetWait: // a read or write of the runtime's, of what is not known: it may be a pipe's or a file's
		return strings.HasPrefix(v.Pattern, "sync I/O: ") && !strings.Contains(v.Pattern, "Socket") && !strings.Contains(v.Pattern, "Network")
	}
	return false
}

// findCovering returns the wait in which a moment lies, -1 none.
func findCovering(v *evidence.Intervals, rows []int, at int64) int {
	n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > at })
	for skipped := 0; n > 0 && skipped < mostSkipped; skipped++ {
		n--
		if i := rows[n]; v.End[i] >= at {
			return i
		}
	}
	return -1
}

// Kept puts a process's waits in the kernel into words.
type Kept struct {
	d     *kernelDetail
	files map[string]map[evidence.NameID]bool // of each mechanism
}

// mostKept is the largest number of files of one kind of wait that are named. If there are more, such as one for each request, no single
// file is the reason.
const mostKept = 4

// NewKept looks at the waits of a process.
func NewKept(b *evidence.Bundle, s evidence.SubjectID) *Kept {
	k := &Kept{d: &kernelDetail{b: b, calls: make(map[evidence.StackID]string)}, files: make(map[string]map[evidence.NameID]bool)}
	v := &b.Intervals
	for _, i := range v.Select(evidence.InKernel, s) {
		class := b.Names.Text(v.Cause.At(i))
		if k.files[class] == nil {
			k.files[class] = make(map[evidence.NameID]bool)
		}
		if len(k.files[class]) <= mostKept {
			k.files[class][v.NameOf(i, evidence.Operation)] = true
		}
	}
	return k
}

// Of is a wait, of [evidence.Intervals], in words, as [Native] has them: "fsync of /var/lib/journal".
func (k *Kept) Of(i int) (string, evidence.Wait) {
	b, v := k.d.b, &k.d.b.Intervals
	if len(k.files[b.Names.Text(v.Cause.At(i))]) > mostKept {
		return k.withoutFile(i)
	}
	return k.wordsOf(i, b.Names.Text(v.NameOf(i, evidence.Operation)))
}

// withoutFile is Of without the wait's file.
func (k *Kept) withoutFile(i int) (string, evidence.Wait) { return k.wordsOf(i, "") }

func (k *Kept) wordsOf(i int, file string) (string, evidence.Wait) {
	v := &k.d.b.Intervals
	return keptWords(k.d.b.Names.Text(v.Cause.At(i)), k.d.callOf(v.Stack.At(i)), file)
}

func keptWords(class, call, file string) (string, evidence.Wait) {
	of, wait := "", evidence.Wait{Class: class, Call: class}
	if wait.File = strings.HasPrefix(file, "/"); wait.File {
		of = " of " + file
	}
	switch class {
	case evidence.KernelDiskFault:
		if wait.Call = ""; wait.File {
			return class + " (reading " + file + ")", wait
		}
		return class, wait
	case evidence.KernelFsync:
		return class + of, wait
	case evidence.KernelPipe:
		if wait.Call = cmp.Or(call, "read"); isWriteCall(call) {
			wait.Kind = evidence.RoomToWrite
			return call + " to a pipe that " + readerName("") + tooSlowly, wait
		}
		return wait.Call + " from a pipe", wait
	case evidence.KernelFileLock:
		wait.Call = cmp.Or(call, "flock")
		return wait.Call + of, wait
	case evidence.KernelDisk:
		wait.Call = cmp.Or(call, class)
		return wait.Call + of + " (from disk)", wait
	case evidence.KernelThrottled:
		wait.Call = cmp.Or(call, "write")
		return wait.Call + of + " (" + class + ")", wait
	}
	return class, wait
}
