package linux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// begin records a service in the background.
func begin(t *testing.T, s *service) *probetest.Recording {
	t.Helper()
	a := probetest.One(t, Probe.Find, s.target())
	if len(a.SwitchesOn) > 0 {
		t.Errorf("switches on %q", a.SwitchesOn)
	}
	r := probetest.Begin(t, a)
	r.Wait(t, "procfs.txt", probetest.Some)
	return r
}

// moments is enough where n are recorded.
func moments(n int) func([]byte) bool { return probetest.Lines(n, " /proc/loadavg --") }

func TestRecord(t *testing.T) {
	s := start(t, oldLine, "GOGC=50", "GOMEMLIMIT=1GiB", "GODEBUG=madvdontneed=1", "API_TOKEN=hunter2")
	out := begin(t, s)
	s.get("a", 0, 200)
	out.Wait(t, "procfs.txt", moments(6))
	s.command("half")
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	if len(out.Warnings) > 0 || len(out.Lacks) > 0 {
		t.Errorf("warned %v, lacks %v", out.Warnings, out.Lacks)
	}
	for _, k := range out.Kept {
		name := k.Meta.Name
		if strings.Contains(k.String(), "hunter2") || strings.Contains(k.String(), "API_TOKEN") {
			t.Errorf("%s holds a secret", name)
		}
		if m := k.Meta; m.About.PID != s.Process.Pid || m.About.StartTime == 0 || m.Probe != "linux" || m.Lines != (name == "access.log") {
			t.Errorf("%s: %+v", name, m)
		}
	}

	b := out.Read(t, "procfs.txt")
	if len(b.Warnings) > 0 {
		t.Errorf("procfs.txt: %v", b.Warnings)
	}
	about := b.Subjects[1]
	if about.PID != s.Process.Pid || about.Name == "" || len(b.Subjects) < 3 {
		t.Errorf("it is about %+v", about)
	}
	for key, want := range map[string]float64{evidence.FactGOGC: 50, evidence.FactGOMEMLIMIT: 1 << 30} {
		if f, ok := b.Fact(1, key); !ok || f.Number != want {
			t.Errorf("%s: %+v", key, f)
		}
	}
	if f, ok := b.Fact(1, evidence.FactGODEBUG); !ok || f.Value != "madvdontneed=1" {
		t.Errorf("GODEBUG: %+v", f)
	}
	if f, _ := b.Fact(1, evidence.FactCommand); !strings.Contains(f.Value, "--password=[redacted] --listen http://app:[redacted]@127.0.0.1/ ") {
		t.Errorf("command line %q", f.Value)
	}
	for name, least := range map[string]float64{"process.cpu": 0, "process.rss": 1 << 20, "process.minorFaults": 0, "process.runDelay": 0, "process.io.written": 1, "host.cpu.busy": 0, "host.faults": 0,
		evidence.SeriesProcessSwitches: 1, evidence.SeriesHostSoftirqsTimer: 1, evidence.SeriesHostMemoryFree: 1 << 20, evidence.SeriesHostCPUBusiest: 0} {
		subject := evidence.SubjectID(1)
		if strings.HasPrefix(name, "host.") {
			subject = 0
		}
		series := b.SeriesOf(subject, name)
		if series == nil || len(series.T) < 3 {
			t.Errorf("no %s", name)
			continue
		}
		var most float64
		for _, v := range series.V {
			most = max(most, v)
		}
		if most < least {
			t.Errorf("%s is at most %g", name, most)
		}
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil {
		if f, ok := b.Fact(0, evidence.FactTHP); !ok || !strings.Contains("always madvise never", f.Value) {
			t.Errorf("huge pages: %+v", f)
		}
	}
	if f, ok := b.Fact(0, evidence.FactKernel); !ok || !strings.Contains(f.Value, ".") {
		t.Errorf("kernel: %+v", f)
	}
	// The first and the last moment hold all processes.
	if neighbour := b.SeriesOf(2, "process.cpu"); neighbour == nil || neighbour.T[0]-b.SeriesOf(0, "host.cpu.busy").T[0] > 5e9 {
		t.Error("no neighbour, or late")
	}
	if k := out.Named("procfs.txt"); k.Writes != bytes.Count(k.Bytes(), []byte(" /proc/loadavg --\n")) {
		t.Errorf("%d writes", k.Writes)
	}

	b = out.Read(t, "build.txt")
	if got := b.Subjects[0]; got.Version != strings.Fields(runtime.Version())[0] || got.Runtime != "go" {
		t.Errorf("built with %+v", got)
	}

	log := out.Named("access.log")
	if !strings.HasSuffix(log.Meta.Origin, fmt.Sprintf("%s (open fd %s)", s.log, log.Meta.Origin[strings.LastIndex(log.Meta.Origin, " ")+1:len(log.Meta.Origin)-1])) {
		t.Errorf("origin %q", log.Meta.Origin)
	}
	if !strings.HasSuffix(log.String(), `"GET /half HTTP/1.1" 200`) || strings.Contains(log.String(), "/old") {
		t.Errorf("begins %.100q and ends %q", log, log.Bytes()[max(0, log.Len()-100):])
	}
	if b = out.Read(t, "access.log"); b.Requests.Len() != 200 {
		t.Errorf("%d requests", b.Requests.Len())
	}
}

// The environment of a process without settings says so.
func TestUnset(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if v, ok := os.LookupEnv(name); ok {
			os.Unsetenv(name)
			defer os.Setenv(name, v)
		}
	}
	s := start(t, "")
	out := begin(t, s)
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	b := out.Read(t, "procfs.txt")
	if f, ok := b.Fact(1, evidence.FactGOGC); !ok || f.Number != 100 {
		t.Errorf("GOGC %+v", f)
	}
	if out.Named("access.log") != nil {
		t.Error("an empty log was recorded")
	}
}

// A log that was rotated or emptied is followed, one that just begins is found.
func TestRotation(t *testing.T) {
	s := start(t, "")
	out := begin(t, s)
	s.get("first", 0, 20)
	out.Wait(t, "access.log", probetest.Lines(20, ""))
	s.get("left", 0, 20)
	s.command("rotate")
	s.get("rotated", 0, 20)
	out.Wait(t, "access.log", probetest.Lines(60, ""))
	s.command("truncate")
	s.get("emptied", 0, 10)
	out.Wait(t, "access.log", probetest.Lines(70, ""))
	s.get("last", 0, 10)
	s.command("nothing")
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	log := out.Text("access.log")
	for name, n := range map[string]int{"first": 20, "left": 20, "rotated": 20, "emptied": 10, "last": 10} {
		for i := range n {
			if got := strings.Count(log, fmt.Sprintf(" /%s/%d ", name, i)); got != 1 {
				t.Errorf("/%s/%d is there %d times", name, i, got)
			}
		}
	}
	if b := out.Read(t, "access.log"); b.Requests.Len() != 80 {
		t.Errorf("%d requests", b.Requests.Len())
	}
}

// A log into which nothing is written is said to be so.
func TestSilentLog(t *testing.T) {
	s := start(t, oldLine)
	out := begin(t, s)
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "nothing was written to "+s.log) {
		t.Errorf("warned %v", out.Warnings)
	}
}

// A process that ends, waited for or not, ends its recording.
func TestEnds(t *testing.T) {
	for _, reap := range []bool{true, false} {
		s := start(t, oldLine)
		out := begin(t, s)
		out.Wait(t, "procfs.txt", moments(2))
		s.get("a", 0, 10)
		if err := s.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if reap {
			_ = s.Wait()
		}
		if err := out.Ended(); err != nil {
			t.Fatal(err)
		}
		if len(out.Warnings) != 1 || !strings.HasPrefix(out.Warnings[0], fmt.Sprintf("pid %d ended after ", s.Process.Pid)) {
			t.Errorf("warned %v", out.Warnings)
		}
		if b := out.Read(t, "procfs.txt"); b.SeriesOf(1, "process.cpu") == nil || len(b.Warnings) > 0 {
			t.Errorf("nothing was kept, or %v", b.Warnings)
		}
		if b := out.Read(t, "access.log"); b.Requests.Len() != 10 {
			t.Errorf("%d requests", b.Requests.Len())
		}
	}
}

// A number that was given to another process is not recorded.
func TestReused(t *testing.T) {
	s := start(t, "")
	x := s.target()
	x.Start = time.Now().Add(-time.Hour)
	out := probetest.NewSink()
	err := Probe.Find(context.Background(), x)[0].Record(context.Background(), probe.Plan{For: time.Minute}, out)
	if err == nil || !strings.Contains(err.Error(), "another process has this id") || len(out.Kept) > 0 {
		t.Errorf("%v, %d artifacts", err, len(out.Kept))
	}
}

// A sink that is full ends the recording with its error.
func TestFull(t *testing.T) {
	s := start(t, "")
	out := begin(t, s)
	out.Fill()
	if err := out.End(); err == nil || !strings.HasPrefix(err.Error(), "procfs.txt: ") {
		t.Errorf("error %v", err)
	}
}

// The plan's duration ends it, and nothing stays open.
func TestDuration(t *testing.T) {
	s := start(t, oldLine)
	before := descriptors(t)
	out := probetest.Record(t, probetest.One(t, Probe.Find, s.target()), probe.Plan{For: time.Millisecond, Passive: true})
	if !moments(1)(out.Named("procfs.txt").Bytes()) {
		t.Error("no moment was written")
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestFindNothing(t *testing.T) {
	x := targetOf(1 << 30)
	if found := Probe.Find(context.Background(), x); found != nil {
		t.Errorf("found %+v", found)
	}
	x.PID = 0
	if found := Probe.Find(context.Background(), x); found != nil {
		t.Errorf("found %+v", found)
	}
}

// What another user may not read is said, the rest is recorded.
func TestStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	s := start(t, oldLine, "GOGC=50")
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "stranger")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	exe := dir + "/stranger"
	if err := os.WriteFile(exe, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, fmt.Sprint(s.Process.Pid))
	cmd.Dir = "/"
	cmd.Env = []string{"UNSTALL_TEST_ROLE=stranger"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	got, err := cmd.Output()
	if err != nil {
		t.Skip("cannot run as another user: ", err)
	}
	for _, want := range []string{"lack environment", "lack log files it has open", "lack build info", "lack bytes read", "lack how much of its memory is in huge pages", "why belongs to user root, do sudo unstall ", "recorded procfs.txt\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "recorded access.log") || strings.Contains(string(got), "fact GOGC") || !strings.Contains(string(got), "series process.cpu") {
		t.Errorf("%s", got)
	}
}

// stranger is who records another user's process, and says what came of it.
func stranger(pid string) {
	n, _ := strconv.Atoi(pid)
	x := targetOf(n)
	x.User, x.UID = "root", 0
	for _, a := range Probe.Find(context.Background(), x) {
		for _, l := range a.Lacks {
			fmt.Printf("lack %s, why %s, do %s\n", l.What, l.Why, l.Do)
		}
		out := probetest.NewSink()
		if err := a.Record(context.Background(), probe.Plan{For: 600 * time.Millisecond}, out); err != nil {
			fmt.Println("error", err)
		}
		for _, name := range out.Names() {
			fmt.Println("recorded", name)
		}
		var t testing.T
		b := out.Read(&t, "procfs.txt")
		for _, f := range b.Facts {
			fmt.Println("fact", f.Key)
		}
		for _, s := range b.Series {
			if s.Subject == 1 {
				fmt.Println("series", s.Name)
			}
		}
	}
}
