package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// A thread that its runtime says runs, or is in a call, is where the kernel kept it waiting at that moment; what
// the runtime knows better stays.
func TestBeneath(t *testing.T) {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "shop", PID: 4711, Runtime: "jvm"}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
	const ms, at = int64(1e6), int64(1763689985e9)
	stack := func(frames []string, file string) evidence.StackID {
		var all []evidence.Frame
		for _, f := range frames {
			all = append(all, evidence.Frame{Func: p.Name(f), File: p.Name(file)})
		}
		return p.Stack(all)
	}
	wait := func(lane evidence.LaneID, cause, file string, kernel ...string) {
		v := evidence.Interval{Lane: lane, Kind: evidence.InKernel, Start: at, End: at + 20*ms, Cause: p.Name(cause), Stack: stack(kernel, evidence.KernelFile), Origin: p.Origin(1)}
		if file != "" {
			v.Extra = []evidence.Extra{{Key: evidence.Operation, Value: float64(p.Name(file))}}
		}
		p.Interval(v)
	}
	look := func(lane evidence.LaneID, after int64, frames ...string) {
		p.Sample(evidence.Sample{Time: at + after, Lane: lane, Stack: stacktest.Intern(p, stacktest.Of(under("tomcat", frames...)...)), Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(1)})
	}
	wait(1, evidence.KernelDiskFault, "/x.idx", "filemap_fault", "asm_exc_page_fault")
	look(1, 10*ms, "java.nio.DirectByteBuffer.get")
	look(1, 30*ms, "java.nio.DirectByteBuffer.get") // it is over
	wait(2, evidence.KernelPipe, "", "anon_pipe_write", "__x64_sys_write", "do_syscall_64")
	look(2, 10*ms, "java.io.FileOutputStream.writeBytes", "java.io.FileOutputStream.write")
	wait(3, evidence.KernelFutex, "", "futex_wait", "__x64_sys_futex")
	look(3, 10*ms, "java.util.HashMap.get")
	wait(4, evidence.KernelFsync, "/j", "jbd2_log_wait_commit", "__x64_sys_fdatasync")
	look(4, 10*ms, "sun.nio.ch.FileDispatcherImpl.force0", "sun.nio.ch.FileChannelImpl.force")
	for lane := evidence.LaneID(6); lane < 9; lane++ {
		wait(lane, evidence.KernelFsync, "/book", "submit_bio_wait", "ksys_write")
		look(lane, 10*ms, "java.io.RandomAccessFile.writeBytes", "java.io.RandomAccessFile.write")
	}
	look(9, 10*ms, "java.io.RandomAccessFile.writeBytes", "java.io.RandomAccessFile.write") // its wait was too short to be recorded by itself
	wait(5, evidence.KernelReclaim, "", "try_to_free_mem_cgroup_pages", "asm_exc_page_fault")
	look(5, 10*ms, park, "java.util.concurrent.locks.ReentrantLock.lock")
	p.Close()
	got := make(map[evidence.LaneID][]string)
	for _, l := range Of(b, Readers{"jvm": JVMStacks}).Samples(0) {
		got[l.Lane] = append(got[l.Lane], l.View.Reason())
	}
	const in = " in CartController.get()"
	for lane, want := range map[evidence.LaneID][]string{
		1: {"page fault from disk (reading /x.idx)" + in, ""},
		2: {"write to a pipe that its reader empties too slowly" + in},
		3: {""},
		4: {"fsync of /j" + in},
		8: {"fsync of /book" + in},
		9: {"fsync" + in},
		5: {"CartController.get()"},
	} {
		if len(got[lane]) != len(want) || got[lane][0] != want[0] || got[lane][len(want)-1] != want[len(want)-1] {
			t.Errorf("thread %d: %q, want %q", lane, got[lane], want)
		}
	}
}
