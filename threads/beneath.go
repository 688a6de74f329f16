package threads

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/unstall/unstall/evidence"
)

// beneath lays what the kernel recorded of a process's threads (format/kernelstacks) over looks by which
// its runtime tells their stacks. To a runtime a thread that waits in the kernel runs, or is in native
// code: it knows neither that a page fault reads the disk, nor why a write takes long. A look whose thread
// the kernel kept waiting at that moment, longer than for an instant, is that wait; where in the program it
// is stays as the runtime says.
//
// Of locks, polls, sleeps and the network the runtime says more than the kernel does: these stay.
func (t *Threads) beneath(s evidence.SubjectID) {
	if t.of[t.b.Subjects[s].Runtime].Settle != nil {
		return // the kernel's own looks: they have it already
	}
	v := &t.b.Intervals
	waits := make(map[evidence.LaneID][]int)
	for _, i := range v.Select(evidence.InKernel, s) {
		if KeptByKernel(t.b.Names.Text(v.Cause[i])) {
			waits[v.Lane[i]] = append(waits[v.Lane[i]], i)
		}
	}
	if len(waits) == 0 {
		return
	}
	for _, rows := range waits {
		slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	}
	looks := t.looks[s]
	for n := range looks {
		l := &looks[n]
		if l.Time == 0 || !mayBeKept(&l.View) {
			continue
		}
		if i := covering(v, waits[l.Lane], l.Time); i >= 0 {
			l.View.State, l.View.Pattern = evidence.Syscall, KeptWords(t.b, i)
			if l.View.Wait < 0 {
				l.View.Wait = 0
			}
		}
	}
}

// KeptByKernel says whether a mechanism of the kernel says more than a runtime knows.
func KeptByKernel(mechanism string) bool { return keeps[mechanism] }

var keeps = map[string]bool{
	evidence.KernelFsync: true, evidence.KernelDisk: true, evidence.KernelDiskFault: true, evidence.KernelSwapIn: true, evidence.KernelThrottled: true,
	evidence.KernelReclaim: true, evidence.KernelCompaction: true, evidence.KernelFileLock: true, evidence.KernelPipe: true, evidence.KernelMapping: true, evidence.KernelFork: true,
}

// mayBeKept says whether the kernel may keep a thread waiting without its runtime's knowing for what.
func mayBeKept(v *View) bool {
	switch v.State {
	case evidence.Running, evidence.KindUnknown, evidence.Syscall:
		return true
	case evidence.NetWait: // a read or write of the runtime's, of what is not known: it may be a pipe's or a file's
		return strings.HasPrefix(v.Pattern, "sync I/O: ") && !strings.Contains(v.Pattern, "Socket") && !strings.Contains(v.Pattern, "Network")
	}
	return false
}

// covering is the wait in which a moment lies, -1 none.
func covering(v *evidence.Intervals, rows []int, at int64) int {
	n := sort.Search(len(rows), func(n int) bool { return v.Start[rows[n]] > at })
	for skipped := 0; n > 0 && skipped < mostSkipped; skipped++ {
		n--
		if i := rows[n]; v.End[i] >= at {
			return i
		}
	}
	return -1
}

// KeptWords is a wait in the kernel, of [evidence.Intervals], in words, as [Native] has them: "fsync of /var/lib/journal".
func KeptWords(b *evidence.Bundle, i int) string {
	v := &b.Intervals
	class, file := b.Names.Text(v.Cause[i]), b.Names.Text(v.NameOf(i, evidence.Operation))
	call := (&kernelDetail{b: b, calls: make(map[evidence.StackID]string)}).callOf(v.Stack[i])
	of := ""
	if strings.HasPrefix(file, "/") {
		of = " of " + file
	}
	switch class {
	case evidence.KernelDiskFault:
		if of != "" {
			return class + " (reading " + file + ")"
		}
		return class
	case evidence.KernelFsync:
		return class + of
	case evidence.KernelPipe:
		if writes(call) {
			return call + " to a pipe that " + reader("") + TooSlowly
		}
		return cmp.Or(call, "read") + " from a pipe"
	case evidence.KernelFileLock:
		return cmp.Or(call, "flock") + of
	case evidence.KernelDisk:
		return cmp.Or(call, class) + of + " (from disk)"
	case evidence.KernelThrottled:
		return cmp.Or(call, "write") + of + " (" + class + ")"
	}
	return class
}
