package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// looked is a process of no runtime without any requests: what its threads do at each of 40 looks, those
// of odd and of even ones.
func looked(even, odd string) *check.Case {
	b := evidence.NewBundle()
	b.Subjects = []evidence.Subject{{Name: "svc", PID: 4711}}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "syscalls.txt"}), "syscalls")
	at := int64(1763689985e9)
	for n := range 40 {
		threads := even
		if n%2 == 1 {
			threads = odd
		}
		for tid, text := range strings.Split(threads, "\n") {
			p.Sample(evidence.Sample{Time: at, Lane: evidence.LaneID(tid + 1), Stack: stacktest.Intern(p, stacktest.Kernel(strings.Split(text, "|")...)), Type: p.Name(evidence.SampleSyscall), Value: 1, Origin: p.Origin(1)})
		}
		at += 25e6
	}
	p.Cover(evidence.Coverage{Kind: evidence.CoverSyscalls, From: 1763689985e9, Until: at, Origin: p.Origin(1)})
	p.Close()
	threads.Adopt(b, platform.Stacks())
	return &check.Case{Bundle: b}
}

// A process whose threads stand at one place is told of without any requests; one that waits for
// work, runs, or writes its log now and then is not.
func TestStanding(t *testing.T) {
	const (
		accepts = "accept|- of listener|- sp 0x7000\n"
		idle    = "read|- of client|- sp 0x7000"
		syncs   = "fsync|- of /j|- sp 0x6000|fsync (libc.so.6)|commit_batch|serve"
	)
	for name, c := range map[string]struct{ even, odd, want string }{
		"requests sync a file":        {accepts + syncs + "\n" + syncs, accepts + syncs + "\n" + idle, "fsync of /j in commit_batch"},
		"a program writes to a pipe":  {"write|- of pipe|- sp 0x6000|write (libc.so.6)|log_line", "write|- of pipe|- sp 0x6000|write (libc.so.6)|log_line", "write to a pipe that its reader empties too slowly in log_line"},
		"it waits for clients":        {accepts + idle + "\n" + idle, accepts + idle + "\n" + idle, ""},
		"it runs":                     {accepts + "running\nrunning", accepts + "running\n" + syncs, ""},
		"a log is synced beside them": {accepts + idle + "\nfsync|- of /log|- sp 0x6000|keep_log", accepts + idle + "\nclock_nanosleep|- sp 0x6000|keep_log", ""},
	} {
		v := judgeWaiting(looked(c.even, c.odd))
		if c.want == "" && v.State == check.Supported || c.want != "" && (v.State != check.Supported || !strings.Contains(v.Title, c.want) || len(v.Fix) == 0 || v.Weight <= 0) {
			t.Errorf("%s: %s: %s, %q", name, v.State, v.Title, v.Fix)
		}
	}
}
