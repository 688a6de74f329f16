package ledger

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A system call of a trace is told as what its thread waited for in the kernel, where the same functions made both.
func TestBeneath(t *testing.T) {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "svc", PID: 4711}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "x"}), "x")
	stack := func(kernel, program string) evidence.StackID {
		var frames []evidence.Frame
		for f := range strings.FieldsSeq(kernel) {
			frames = append(frames, evidence.Frame{Func: p.Name(f), File: p.Name(evidence.KernelFile)})
		}
		for f := range strings.FieldsSeq(program) {
			frames = append(frames, evidence.Frame{Func: p.Name(f), File: p.Name("svc")})
		}
		return p.Stack(frames)
	}
	const ms, at = int64(1e6), int64(1763689985e9)
	commit, log := "syscall.Syscall os.(*File).Sync main.commit main.serve", "syscall.Syscall os.(*File).Write main.log main.audit"
	wait := func(lane evidence.LaneID, from, to int64, cause, file, kernel, program string) {
		p.Interval(evidence.Interval{Lane: lane, Kind: evidence.InKernel, Start: at + from*ms, End: at + to*ms, Cause: p.Name(cause), Stack: stack(kernel, program),
			Extra: []evidence.Extra{{Key: evidence.Operation, Value: float64(p.Name(file))}}, Origin: p.Origin(1)})
	}
	wait(1, 1, 9, evidence.KernelFsync, "/journal", "jbd2_log_wait_commit __x64_sys_fsync", commit)
	wait(2, 2, 9, evidence.KernelPipe, "", "anon_pipe_write __x64_sys_write", log)
	wait(3, 0, 10, evidence.KernelFutex, "", "futex_wait __x64_sys_futex", commit)
	p.Close()
	k := (&Ledger{b: b}).kernelWaitsOf()
	for _, c := range []struct {
		from, to int64
		stack    string
		want     string
	}{
		{0, 10, commit, "fsync of /journal"},
		{0, 10, log, "write to a pipe that its reader empties too slowly"},
		{0, 10, "syscall.Syscall os.(*File).Read main.load main.start", "Sync"}, // somebody else's
		{0, 40, commit, "Sync"},                                                 // most of the call was something else
		{10, 12, commit, "Sync"},
	} {
		s := evidence.Segment{Kind: evidence.Syscall, Dur: (c.to - c.from) * ms, Stack: stack("", c.stack), Cause: b.Names.ID("Sync")}
		if k.nameSyscall(b, at+c.from*ms, &s); b.Names.Text(s.Cause) != c.want {
			t.Errorf("%d–%d ms in %s: %q, want %q", c.from, c.to, c.stack, b.Names.Text(s.Cause), c.want)
		}
	}
}
