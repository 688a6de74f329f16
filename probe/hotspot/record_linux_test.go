package hotspot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/lab/jvmapp"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/probe/hotspot/attach"
)

// busy allocates, has two threads that share a lock, and a secret in its arguments.
const busy = `
public class App {
	static volatile Object sink;
	static final Object lock = new Object();
	public static void main(String[] args) {
		for (int i = 0; i < 2; i++) {
			Thread t = new Thread(() -> { while (true) synchronized (lock) { pause(2); } }, "worker-" + i);
			t.setDaemon(true);
			t.start();
		}
		Thread t = new Thread(() -> { while (true) { sink = new byte[400_000]; pause(1); } }, "allocator");
		t.setDaemon(true);
		t.start();
		Host.say("busy");
	}
	static void pause(int ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { } }
}`

const secret = "-Ddb.password=hunter2secret"

var releases = []int{11, 17, 25}

func resolved(t *testing.T, pid int) discover.Target {
	t.Helper()
	on, err := discover.Resolve(t.Context(), fmt.Sprint(pid))
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// live finds what can be recorded of a JVM that runs.
func live(t *testing.T, a *jvmapp.App) probe.Access {
	t.Helper()
	found := find(t.Context(), resolved(t, a.PID))
	if len(found) != 1 || len(found[0].Lacks) > 0 {
		t.Fatalf("found %+v", found)
	}
	return found[0]
}

// start starts a busy JVM.
func start(t *testing.T, release int, args ...string) *jvmapp.App {
	t.Helper()
	a := jvmapp.Start(t, release, busy, args...)
	a.Line(t)
	return a
}

// outputsOf is where a JVM logs to.
func outputsOf(t *testing.T, pid int) []output {
	t.Helper()
	vm, err := attach.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	text, err := vm.Text(t.Context(), "VM.log list", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	all := parseOutputs(text)
	if len(all) < 2 {
		t.Fatalf("outputs %q of %q", all, text)
	}
	return all
}

// clean demands that nothing of ours stayed.
func clean(t *testing.T, pid int, before []output) {
	t.Helper()
	if after := outputsOf(t, pid); !slices.Equal(before, after) {
		t.Errorf("logs to %q, before to %q", after, before)
	}
	if left, _ := filepath.Glob(fmt.Sprintf("/tmp/%s*-%d-*", probe.OwnFile, pid)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// text is an artifact's content, "" if there is none.
func (s *sink) text(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.meta.Name == name {
			return k.String()
		}
	}
	return ""
}

func TestLive(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := start(t, release, "-Xmx32m", secret)
			before := outputsOf(t, a.PID)
			to := newSink()
			if err := live(t, a).Record(t.Context(), probe.Plan{For: 3 * time.Second}, to); err != nil {
				t.Fatal(err)
			}
			if len(to.warnings) > 0 || len(to.lacks) > 0 {
				t.Errorf("warned %q, lacks %+v", to.warnings, to.lacks)
			}
			clean(t, a.PID, before)
			for name, want := range map[string]string{
				"gc.log":           "][info][gc",
				"vm-version.txt":   fmt.Sprintf("JDK %d.", release),
				"vm-flags.txt":     "MaxHeapSize",
				"vm-command.txt":   "-Ddb.password=[redacted]",
				"heap-0001.txt":    "garbage-first heap",
				"heap-0002.txt":    "garbage-first heap",
				"threads-0001.txt": `"worker-0"`,
				"threads-0002.txt": "cpu=",
				"classes-0001.txt": "[B",
				"hsperfdata.txt":   "sun.gc.collector.0.invocations=",
			} {
				if !strings.Contains(to.text(name), want) {
					t.Errorf("%s has no %q: %.300s", name, want, to.text(name))
				}
			}
			for _, k := range to.kept {
				if !k.closed || k.meta.Probe != name || k.meta.About.PID != a.PID || strings.Contains(k.String(), "hunter2") {
					t.Errorf("%s: closed %v, %+v, or it holds a secret", k.meta.Name, k.closed, k.meta)
				}
			}
		})
	}
}

// TestOwnLogStays records JVMs with logs of their own, into a file and to standard
// output.
func TestOwnLogStays(t *testing.T) {
	for _, release := range releases {
		for i, c := range []struct {
			name, flag string
			want       string // in gc.log; "" nothing
			not        string
		}{
			{"no safepoints", "gc*:file=%s/gc.log", "safepoint", "][gc"},
			{"everything", "gc*,safepoint:file=%s/gc-%%p.log:uptime,level:filecount=3,filesize=1M", "", ""},
			{"minimal", "gc:file=%s/gc.log", "safepoint", "][gc"},
			{"no collections", "class+load:file=%s/classes.log", "][gc", ""},
		} {
			if i > 0 && release != 17 {
				continue
			}
			t.Run(fmt.Sprint(release, " ", c.name), func(t *testing.T) {
				a := start(t, release, "-Xmx32m", "-Xlog:"+fmt.Sprintf(c.flag, t.TempDir()))
				before := outputsOf(t, a.PID)
				to := newSink()
				if err := live(t, a).Record(t.Context(), probe.Plan{For: 1500 * time.Millisecond}, to); err != nil {
					t.Fatal(err)
				}
				clean(t, a.PID, before)
				log := to.text("gc.log")
				if !strings.Contains(log, c.want) || c.want == "" && log != "" || c.not != "" && strings.Contains(log, c.not) {
					t.Errorf("gc.log: %.300s", log)
				}
				if minimal := len(to.lacks) > 0; minimal != (c.name == "minimal") {
					t.Errorf("lacks %+v", to.lacks)
				}
			})
		}
	}
}

// TestInterrupted interrupts a recording.
func TestInterrupted(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	ctx, cancel := context.WithCancel(t.Context())
	to := newSink()
	done := make(chan error, 1)
	record := live(t, a)
	go func() { done <- record.Record(ctx, probe.Plan{For: time.Hour}, to) }()
	to.wait(t, done, "gc.log", func(b []byte) bool { return len(b) > 0 })
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	clean(t, a.PID, before)
	if len(to.warnings) > 0 || to.text("classes-0001.txt") != "" {
		t.Errorf("warned %q", to.warnings)
	}
}

// TestKilled kills the JVM in the middle of a recording.
func TestKilled(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	to := newSink()
	done := make(chan error, 1)
	record := live(t, a)
	go func() { done <- record.Record(t.Context(), probe.Plan{For: time.Hour}, to) }()
	to.wait(t, done, "gc.log", func(b []byte) bool { return len(b) > 0 })
	if err := syscall.Kill(a.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = a.Stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(to.warnings, func(s string) bool { return strings.Contains(s, "the target ended; what came is kept") }) {
		t.Errorf("warned %q", to.warnings)
	}
	if left, _ := filepath.Glob(fmt.Sprintf("/tmp/%s*-%d-*", probe.OwnFile, a.PID)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	_ = os.Remove(record.Where)
	if counters, _ := filepath.Glob(fmt.Sprintf("/tmp/hsperfdata_*/%d", a.PID)); len(counters) == 1 {
		_ = os.Remove(counters[0])
	}
}

// TestLeftOn has a log that a recorder left which was killed, and one that another
// records at this moment.
func TestLeftOn(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	vm, err := attach.Find(a.PID)
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf("/tmp/%sgc-%d-%d-%d-1-abcdef01.log", probe.OwnFile, a.PID, pidNamespace(), dead.Process.Pid)
	beside := ownFile("gc", vm, "log")
	for _, file := range []string{left, beside} {
		if said, err := vm.Text(t.Context(), "VM.log output="+file+" what=gc=info", 1000); err != nil || said != "" {
			t.Fatal(said, err)
		}
	}
	to := newSink()
	if err := live(t, a).Record(t.Context(), probe.Plan{For: 1500 * time.Millisecond}, to); err != nil {
		t.Fatal(err)
	}
	if len(to.warnings) != 1 || !strings.Contains(to.warnings[0], "a recording that was killed had left its GC log on: it is off now") {
		t.Errorf("warned %q", to.warnings)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", left, err)
	}
	if _, err := vm.Text(t.Context(), "VM.log output="+beside+" what=all=off", 1000); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(beside)
	clean(t, a.PID, before)
}

// TestFlight keeps a flight recording.
func TestFlight(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := start(t, release, "-Xmx64m")
			before := outputsOf(t, a.PID)
			to := newSink()
			if err := live(t, a).Record(t.Context(), probe.Plan{For: 3 * time.Second, Flight: true}, to); err != nil {
				t.Fatal(err)
			}
			clean(t, a.PID, before)
			if got := to.text("flight-0001.jfr"); !strings.HasPrefix(got, "FLR\x00") || len(got) < 10_000 || len(to.warnings) > 0 || len(to.lacks) > 0 {
				t.Errorf("a flight recording of %d bytes; warned %q, lacks %+v", len(got), to.warnings, to.lacks)
			}
			vm, err := attach.Find(a.PID)
			if err != nil {
				t.Fatal(err)
			}
			if said, err := vm.Text(t.Context(), "JFR.check", 4000); err != nil || strings.Contains(said, "unstall") {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}

// TestPassive asks the JVM nothing, and does not start its listener.
func TestPassive(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	to := newSink()
	if err := live(t, a).Record(t.Context(), probe.Plan{For: 1500 * time.Millisecond, Passive: true}, to); err != nil {
		t.Fatal(err)
	}
	if len(to.kept) != 1 || strings.Count(to.text("hsperfdata.txt"), "== ") < 3 || len(to.lacks) != 1 || to.lacks[0].Do != "record without --passive" {
		t.Errorf("%d artifacts, lacks %+v", len(to.kept), to.lacks)
	}
	if _, err := os.Stat(fmt.Sprintf("/tmp/.java_pid%d", a.PID)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its listener: %v", err)
	}
}

// TestDisabled gives the counters of a JVM that cannot be attached to, and says why.
func TestDisabled(t *testing.T) {
	a := start(t, 17, "-Xmx32m", "-XX:+DisableAttachMechanism")
	found := find(t.Context(), resolved(t, a.PID))
	if len(found) != 1 || len(found[0].Lacks) != 1 || !strings.Contains(found[0].Lacks[0].Why, "DisableAttachMechanism") || len(found[0].SwitchesOn) > 0 {
		t.Fatalf("found %+v", found)
	}
	to := newSink()
	if err := found[0].Record(t.Context(), probe.Plan{For: 1500 * time.Millisecond}, to); err != nil {
		t.Fatal(err)
	}
	if len(to.kept) != 1 || to.kept[0].meta.Name != "hsperfdata.txt" {
		t.Errorf("%d artifacts", len(to.kept))
	}
}

// TestFull cannot store any more.
func TestFull(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	to := newSink()
	to.full = true
	if err := live(t, a).Record(t.Context(), probe.Plan{For: 20 * time.Second}, to); err != nil {
		t.Fatal(err)
	}
	clean(t, a.PID, before)
}
