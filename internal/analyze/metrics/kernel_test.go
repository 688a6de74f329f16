package metrics

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// kernelBundle has a process of two threads: one that polls, runs and syncs, one that is woken for
// work or waits for a lock, over 10 s of which 8 were watched.
func kernelBundle() *evidence.Bundle {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Kind: evidence.Host}, {Kind: evidence.Process, PID: 7}}
	const s = int64(1e9)
	b.Coverage = []evidence.Coverage{{Subject: 1, Kind: evidence.CoverOnCPU, From: 2 * s, Until: 10 * s}, {Subject: 1, Kind: evidence.CoverOffCPU, From: 2 * s, Until: 10 * s}}
	x := &b.Samples
	add := func(typ, class string, lane evidence.LaneID, at, ns int64, functions ...string) {
		var frames []evidence.Frame
		for _, f := range functions {
			frames = append(frames, evidence.Frame{Func: b.Names.ID(f), File: b.Names.ID(evidence.KernelFile)})
		}
		x.Subject, x.Time, x.Lane, x.Stack = append(x.Subject, 1), append(x.Time, at), append(x.Lane, lane), append(x.Stack, b.Stacks.ID(frames))
		x.Type, x.Unit = append(x.Type, b.Names.ID(typ)), append(x.Unit, b.Names.ID("nanoseconds"))
		x.Class, x.Value, x.Origin = append(x.Class, b.Names.ID(class)), append(x.Value, ns), append(x.Origin, evidence.NewOrigin(0, 3))
	}
	for i := range int64(8) {
		at := (i + 3) * s
		add(evidence.SampleOnCPU, "", 11, at, s/10, "main")
		add(evidence.SampleOnCPU, evidence.KernelPageFault, 11, at, s/10, "clear_page")
		add(evidence.SampleOffCPU, evidence.KernelPoll, 11, at, s/2, "ep_poll")
		add(evidence.SampleOffCPU, evidence.KernelFsync, 11, at, s/5, "vfs_fsync_range")
		add(evidence.SampleOffCPU, evidence.KernelPipe, 11, at, s/20, "anon_pipe_read.isra.0")
		add(evidence.SampleOffCPU, evidence.KernelFutex, 12, at, s, "futex_wait")
	}
	add(evidence.SampleOffCPU, evidence.KernelFsync, 11, 20*s, s, "vfs_fsync_range") // after the window
	return b
}

func TestKernel(t *testing.T) {
	b := kernelBundle()
	w := Window{From: 0, Until: 10e9}
	if KernelOf(b, 0, w) != nil || KernelOf(b, 1, Window{From: 11e9, Until: 12e9}) != nil {
		t.Error("it knows of what nobody watched")
	}
	k := KernelOf(b, 1, w)
	near(t, "CPUs", k.CPU().Number, .2)
	near(t, "CPUs in faults", k.CPU(evidence.KernelPageFault).Number, .1)
	near(t, "share of faults", k.CPUShare(evidence.KernelPageFault).Number, .5)
	near(t, "threads in fsync", k.Waits(evidence.KernelFsync).Number, .2)
	near(t, "watched", k.Waits().Watched, .8)
	if all := k.Stacks(evidence.KernelFsync, evidence.KernelPoll); len(all) != 2 || all[0].Class != evidence.KernelPoll || all[1].Seconds < 1.59 || all[1].Seconds > 1.61 || !all[1].Waits {
		t.Errorf("stacks are %+v", all)
	}
	if functions, program := k.Frames(k.Stacks(evidence.KernelFsync)[0].Stack); !slices.Equal(functions, []string{"vfs_fsync_range"}) || program != nil {
		t.Errorf("frames are %q, %q", functions, program)
	}
	if v := (*Kernel)(nil).CPU(); v.Known() {
		t.Errorf("nobody sampled it: %+v", v)
	}
}

func TestKernelWork(t *testing.T) {
	k := KernelOf(kernelBundle(), 1, Window{From: 0, Until: 10e9})
	idle := k.Work(func(evidence.LaneID) float64 { return 0 })
	near(t, "threads with work", idle.Busy, .4)
	near(t, "share in fsync", idle.Share(evidence.KernelFsync), .5)
	near(t, "in work that nobody waits for", idle.Alone, 0)
	half := k.Work(func(evidence.LaneID) float64 { return .5 })
	near(t, "threads with work beside a lock", half.Busy, .4) // one that is woken alone does not count
	near(t, "beside", half.Beside(evidence.KernelFutex), .5)
}
