package ledger

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// kernelWaits holds what the kernel recorded of a process's threads (internal/format/kernelstacks), for requests whose
// states come from a runtime's trace. The trace tells that a goroutine was in a system call and which function made it;
// the kernel tells which file the call was on and what it waited for there.
type kernelWaits struct {
	rows    []int // waits, by start
	longest int64 // ns
	mutex   sync.Mutex
	calls   map[int]map[string]bool // by row: the program's functions on its stack, as far as they were asked for
	words   map[int]evidence.NameID
}

// mostlyWaits is the part of a system call's time that a kernel wait must fill for both to be one: a call may begin long
// before it waits.
const mostlyWaits = .5 // of the call's time

func (l *Ledger) kernelWaitsOf() *kernelWaits {
	v, kept := &l.b.Intervals, threads.NewKept(l.b, l.Subject)
	k := &kernelWaits{calls: make(map[int]map[string]bool), words: make(map[int]evidence.NameID)}
	for _, i := range v.Select(evidence.InKernel, l.Subject) {
		if v.Stack.At(i) != 0 && threads.KeptByKernel(l.b.Names.Text(v.Cause.At(i))) {
			k.rows = append(k.rows, i)
			k.words[i] = l.b.Names.TellWait(kept.Of(i))
			k.longest = max(k.longest, v.End[i]-v.Start[i])
		}
	}
	if len(k.rows) == 0 {
		return nil
	}
	slices.SortStableFunc(k.rows, func(a, b int) int { return cmp.Compare(v.Start[a], v.Start[b]) })
	return k
}

// nameSyscalls sets the cause of a system call, or of one that the holder of what a request waits for is in.
func (k *kernelWaits) nameSyscalls(b *evidence.Bundle, at int64, s *evidence.Segment) {
	k.nameSyscall(b, at, s)
	if s.HolderKind == evidence.Syscall {
		holder := evidence.Segment{Kind: evidence.Syscall, Dur: s.Dur, Stack: s.HolderStack, Cause: s.HolderCause}
		k.nameSyscall(b, at, &holder)
		s.HolderCause = holder.Cause
	}
}

// nameSyscall sets the cause of a system call to what the kernel did in it, if a wait fills most of the call's time and
// has the calling function on its stack.
func (k *kernelWaits) nameSyscall(b *evidence.Bundle, at int64, s *evidence.Segment) {
	if k == nil || s.Kind != evidence.Syscall || s.Stack == 0 || s.Dur <= 0 {
		return
	}
	v := &b.Intervals
	best, most := -1, int64(mostlyWaits*float64(s.Dur))
	n := sort.Search(len(k.rows), func(n int) bool { return v.Start[k.rows[n]] >= at+s.Dur })
	for n--; n >= 0 && v.Start[k.rows[n]] >= at-k.longest; n-- {
		i := k.rows[n]
		if in := min(v.End[i], at+s.Dur) - max(v.Start[i], at); in > most && k.hasCaller(b, i, s.Stack) {
			best, most = i, in
		}
	}
	if best >= 0 {
		s.Cause = k.words[best]
	}
}

// hasCaller reports whether the program's function that made the call is on the stack of a wait.
func (k *kernelWaits) hasCaller(b *evidence.Bundle, i int, call evidence.StackID) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	on := k.calls[i]
	if on == nil {
		on = make(map[string]bool)
		for _, f := range b.Stacks.Frames(b.Intervals.Stack.At(i)) {
			if b.Names.Text(f.File) != evidence.KernelFile {
				on[b.Names.Text(f.Func)] = true
			}
		}
		k.calls[i] = on
	}
	same := 0
	for _, f := range b.Stacks.Frames(call) {
		if on[b.Names.Text(f.Func)] {
			if same++; same == leastSameFrames {
				return true
			}
		}
	}
	return false
}

// leastSameFrames is how many functions two stacks must have in common: a single one may be the runtime's own.
const leastSameFrames = 3
