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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/jvmapp"
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
	on, err := discover.Resolve(t.Context(), fmt.Sprint(pid), platform.Recognisers())
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// live returns the access to a running JVM.
func live(t *testing.T, a *jvmapp.App) probe.Access {
	t.Helper()
	return probetest.One(t, findAccess, resolved(t, a.PID))
}

// start starts a busy JVM.
func start(t *testing.T, release int, args ...string) *jvmapp.App {
	t.Helper()
	a := jvmapp.Start(t, release, busy, args...)
	a.Line(t)
	return a
}

// outputsOf returns a JVM's log outputs.
func outputsOf(t *testing.T, pid int) []output {
	t.Helper()
	vm, err := attach.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	text, err := vm.Text(t.Context(), "VM.log list", 1<<20)
	for range 5 { // on a busy host the JVM may not answer in time
		if !errors.Is(err, attach.ErrSilent) {
			break
		}
		text, err = vm.Text(t.Context(), "VM.log list", 1<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := parseOutputs(text)
	if len(all) < 2 {
		t.Fatalf("outputs %q of %q", all, text)
	}
	return all
}

// clean checks that nothing of the recording stayed.
func clean(t *testing.T, pid int, before []output) {
	t.Helper()
	if after := outputsOf(t, pid); !slices.Equal(before, after) {
		t.Errorf("logs to %q, before to %q", after, before)
	}
	if left, _ := filepath.Glob(fmt.Sprintf("/tmp/%s*-%d-*", probe.OwnFile, pid)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestLive(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := start(t, release, "-Xmx32m", secret)
			before := outputsOf(t, a.PID)
			to := probetest.Record(t, live(t, a), probe.Plan{For: 3 * time.Second})
			if len(to.Warnings) > 0 || len(to.Lacks) > 0 {
				t.Errorf("warned %q, lacks %+v", to.Warnings, to.Lacks)
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
				if !strings.Contains(to.Text(name), want) {
					t.Errorf("%s has no %q: %.300s", name, want, to.Text(name))
				}
			}
			for _, k := range to.Kept {
				if !k.Closed || k.Meta.Probe != name || k.Meta.About.PID != a.PID || strings.Contains(k.String(), "hunter2") {
					t.Errorf("%s: closed %v, %+v, or it holds a secret", k.Meta.Name, k.Closed, k.Meta)
				}
			}
		})
	}
}

// TestOwnLogStays records JVMs with logs of their own, in a file and on standard output.
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
				to := probetest.Record(t, live(t, a), probe.Plan{For: 1500 * time.Millisecond})
				clean(t, a.PID, before)
				log := to.Text("gc.log")
				if !strings.Contains(log, c.want) || c.want == "" && log != "" || c.not != "" && strings.Contains(log, c.not) {
					t.Errorf("gc.log: %.300s", log)
				}
				if minimal := len(to.Lacks) > 0; minimal != (c.name == "minimal") {
					t.Errorf("lacks %+v", to.Lacks)
				}
			})
		}
	}
}

// TestInterrupted interrupts a recording.
func TestInterrupted(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	to := probetest.Begin(t, live(t, a))
	to.Wait(t, "gc.log", probetest.Some)
	if err := to.End(); err != nil {
		t.Fatal(err)
	}
	clean(t, a.PID, before)
	if len(to.Warnings) > 0 || to.Text("classes-0001.txt") != "" {
		t.Errorf("warned %q", to.Warnings)
	}
}

// TestKilled kills the JVM in the middle of a recording.
func TestKilled(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	record := live(t, a)
	to := probetest.Begin(t, record)
	to.Wait(t, "gc.log", probetest.Some)
	if err := syscall.Kill(a.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = a.Stop()
	if err := to.Ended(); err != nil {
		t.Fatal(err)
	}
	if !to.Warned("the JVM ended; the data recorded until then is kept") {
		t.Errorf("warned %q", to.Warnings)
	}
	if left, _ := filepath.Glob(fmt.Sprintf("/tmp/%s*-%d-*", probe.OwnFile, a.PID)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	_ = os.Remove(record.Where)
	if counters, _ := filepath.Glob(fmt.Sprintf("/tmp/hsperfdata_*/%d", a.PID)); len(counters) == 1 {
		_ = os.Remove(counters[0])
	}
}

// TestLeftOn has a log that a killed recorder left, and one that another recorder uses at this moment.
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
	left := fmt.Sprintf("/tmp/%sgc-%d-%d-%d-1-abcdef01.log", probe.OwnFile, a.PID, probe.PIDNamespace(), dead.Process.Pid)
	beside := ownFile("gc", vm, "log")
	for _, file := range []string{left, beside} {
		if said, err := vm.Text(t.Context(), "VM.log output="+file+" what=gc=info", 1000); err != nil || said != "" {
			t.Fatal(said, err)
		}
	}
	to := probetest.Record(t, live(t, a), probe.Plan{For: 1500 * time.Millisecond})
	if len(to.Warnings) != 1 || !strings.Contains(to.Warnings[0], "an earlier recording was killed and left its GC log on: it is off now") {
		t.Errorf("warned %q", to.Warnings)
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

// TestFlight makes a flight recording.
func TestFlight(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := start(t, release, "-Xmx64m")
			before := outputsOf(t, a.PID)
			to := probetest.Record(t, live(t, a), probe.Plan{For: 3 * time.Second, Flight: true})
			clean(t, a.PID, before)
			if got := to.Text("flight-0001.jfr"); !strings.HasPrefix(got, "FLR\x00") || len(got) < 10_000 || len(to.Warnings) > 0 || len(to.Lacks) > 0 {
				t.Errorf("a flight recording of %d bytes; warned %q, lacks %+v", len(got), to.Warnings, to.Lacks)
			}
			if said := checked(t, a); strings.Contains(said, "unstall") {
				t.Errorf("still on: %q", said)
			}
		})
	}
}

// checked is a JVM's list of its flight recordings.
func checked(t *testing.T, a *jvmapp.App) string {
	t.Helper()
	vm, err := attach.Find(a.PID)
	if err != nil {
		t.Fatal(err)
	}
	said, err := vm.Text(t.Context(), "JFR.check", 4000)
	if err != nil {
		t.Error(err)
	}
	return said
}

// TestFlightSlows ends a flight recording that makes requests take longer than before.
func TestFlightSlows(t *testing.T) {
	a := start(t, 17, "-Xmx64m")
	l := new(probe.Latencies)
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for took := 10 * time.Millisecond; probe.Wait(ctx, 20*time.Millisecond); {
			if strings.Contains(checked(t, a), "unstall") {
				took = 100 * time.Millisecond
			}
			l.Add(time.Now().UnixNano(), int64(took))
		}
	})
	defer asking.Wait()
	defer stop()
	to := probetest.Record(t, live(t, a), probe.Plan{For: 12 * time.Second, Flight: true, Latencies: l})
	stop()
	asking.Wait() // the end of the test must not break off a command
	if said := strings.Join(to.Warnings, "\n"); !strings.Contains(said, "the flight recording was ended after ") || !strings.Contains(said, ": p50 rose from 10 ms to 100 ms") {
		t.Errorf("warned %q", said)
	}
	if got := to.Text("flight-0001.jfr"); !strings.HasPrefix(got, "FLR\x00") {
		t.Errorf("what was recorded until then was not kept: %d bytes", len(got))
	}
}

// TestPassive sends the JVM no command, and does not start its listener.
func TestPassive(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	to := probetest.Record(t, live(t, a), probe.Plan{For: 1500 * time.Millisecond, Passive: true})
	if len(to.Kept) != 1 || strings.Count(to.Text("hsperfdata.txt"), "== ") < 3 || len(to.Lacks) != 1 || to.Lacks[0].Do != "record without --passive" {
		t.Errorf("%d artifacts, lacks %+v", len(to.Kept), to.Lacks)
	}
	if _, err := os.Stat(fmt.Sprintf("/tmp/.java_pid%d", a.PID)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its listener: %v", err)
	}
}

// TestDisabled records the counters of a JVM that cannot be attached to, and says why.
func TestDisabled(t *testing.T) {
	a := start(t, 17, "-Xmx32m", "-XX:+DisableAttachMechanism")
	found := findAccess(t.Context(), resolved(t, a.PID))
	if len(found) != 1 || len(found[0].Lacks) != 1 || !strings.Contains(found[0].Lacks[0].Why, "DisableAttachMechanism") || len(found[0].SwitchesOn) > 0 {
		t.Fatalf("found %+v", found)
	}
	to := probetest.Record(t, found[0], probe.Plan{For: 1500 * time.Millisecond})
	if len(to.Kept) != 1 || to.Kept[0].Meta.Name != "hsperfdata.txt" {
		t.Errorf("%d artifacts", len(to.Kept))
	}
}

// TestFull records into a sink that cannot store any more.
func TestFull(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	to := probetest.NewSink()
	to.Fill()
	if err := live(t, a).Record(t.Context(), probe.Plan{For: 20 * time.Second}, to); err != nil {
		t.Fatal(err)
	}
	clean(t, a.PID, before)
}
