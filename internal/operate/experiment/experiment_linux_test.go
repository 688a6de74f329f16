package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/lab/jvmapp"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == GuardCommand {
		if err := Guard(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// apartNotes keeps notes in directories of the test, so that it does not meet real tries on this host.
func apartNotes(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
}

// host makes a /sys for the test with transparent huge pages in it.
func host(t *testing.T) (enabled string) {
	t.Helper()
	apartNotes(t)
	sys := t.TempDir()
	t.Setenv("HOST_SYS", sys)
	dir := filepath.Join(sys, "kernel/mm/transparent_hugepage")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	store(t, filepath.Join(dir, "enabled"), "always [madvise] never\n")
	store(t, filepath.Join(dir, "defrag"), "always defer defer+madvise [madvise] never\n")
	return filepath.Join(dir, "enabled")
}

func store(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func notes() (all []string) {
	all, _ = filepath.Glob(os.Getenv("XDG_RUNTIME_DIR") + "/unstall-left/*")
	return all
}

// self is this process as a target.
func self() discover.Target { return discover.Target{PID: os.Getpid()} }

func lend(t *testing.T, typed string, target discover.Target, until time.Duration) *Trial {
	t.Helper()
	c, err := Find(t.Context(), typed, target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewTrial(c, time.Now().Add(until))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.End(context.Background()); <-l.guard.over })
	return l
}

func holds(t *testing.T, file, want string) {
	t.Helper()
	if now, err := readChoice(t.Context(), Place{File: file}); err != nil || now != want {
		t.Fatalf("%s is %q, %v; want %s", filepath.Base(file), now, err, want)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not yet: ", what)
		}
	}
}

func TestChangedAndPutBack(t *testing.T) {
	for name, was := range map[string]string{"thp": "madvise", "thp-defrag": "madvise"} {
		enabled := host(t)
		file := map[string]string{"thp": enabled, "thp-defrag": filepath.Dir(enabled) + "/defrag"}[name]
		l := lend(t, name+"=never", self(), time.Minute)
		holds(t, file, was)
		if len(notes()) != 1 {
			t.Fatal("nothing is written down before the first change")
		}
		for _, value := range []string{"never", was, "never", "never"} {
			if err := l.Set(t.Context(), value); err != nil {
				t.Fatal(err)
			}
			holds(t, file, value)
		}
		r, err := l.End(t.Context())
		if err != nil || r != (Restored{Now: was, Was: was}) {
			t.Errorf("%+v, %v", r, err)
		}
		holds(t, file, was)
		<-l.guard.over
		if left := notes(); len(left) > 0 {
			t.Errorf("left %q", left)
		}
	}
}

// Neither the next turn nor the end writes over another process's change.
func TestSomebodyElse(t *testing.T) {
	enabled := host(t)
	l := lend(t, "thp=never", self(), time.Minute)
	if err := l.Set(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	store(t, enabled, "[always] madvise never\n")
	if err := l.Set(t.Context(), "madvise"); err == nil || err.Error() != "thp is always: another process changed it from never" {
		t.Error(err)
	}
	r, err := l.End(t.Context())
	if err != nil || !r.Kept || r.Now != "always" {
		t.Errorf("%+v, %v", r, err)
	}
	holds(t, enabled, "always")
}

// Only one try runs at a time: a second one changes nothing, and leaves the first one's note.
func TestAnotherTry(t *testing.T) {
	enabled := host(t)
	l := lend(t, "thp=never", self(), time.Minute)
	c, err := Find(t.Context(), "thp-defrag=never", self())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("thp-defrag: another try is still running: pid %d tries thp=never; wait for its end, or end it: kill %d", os.Getpid(), os.Getpid())
	if _, err := NewTrial(c, time.Now().Add(time.Minute)); !errors.Is(err, ErrBusy) || err.Error() != want {
		t.Error(err)
	}
	RestoreLeftovers(t.Context(), func(text string) { t.Error("tidied what is being tried: ", text) })
	if len(notes()) != 1 {
		t.Error(notes())
	}
	if err := l.Set(t.Context(), "never"); err != nil {
		t.Error(err)
	}
	holds(t, enabled, "never")
}

// A try that is stopped (Ctrl-Z) for longer than planned is not waited for. When it continues, it changes nothing
// more.
func TestStoppedForTooLong(t *testing.T) {
	enabled := host(t)
	defer func(was time.Duration) { grace = was }(grace)
	grace = 300 * time.Millisecond
	l := lend(t, "thp=never", self(), 200*time.Millisecond)
	if err := l.writeAndVerify(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	<-l.guard.over
	holds(t, enabled, "madvise")
	if len(notes()) > 0 {
		t.Error(notes())
	}
	if err := l.Set(t.Context(), "never"); err == nil || !strings.Contains(err.Error(), "much longer than planned") {
		t.Error(err)
	}
	holds(t, enabled, "madvise")
}

// If the guard has ended, nothing is changed any more.
func TestGuardKilled(t *testing.T) {
	enabled := host(t)
	l := lend(t, "thp=never", self(), time.Minute)
	if err := l.Set(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	_ = l.guard.command.Process.Kill()
	<-l.guard.over
	if err := l.Set(t.Context(), "madvise"); err == nil || !strings.Contains(err.Error(), "the process that restores it was killed") {
		t.Error(err)
	}
	if r, err := l.End(t.Context()); err != nil || r.Now != "madvise" {
		t.Error(r, err)
	}
	holds(t, enabled, "madvise")
}

// The guard puts the setting back at once when it gets SIGTERM.
func TestGuardTold(t *testing.T) {
	enabled := host(t)
	l := lend(t, "thp=never", self(), time.Minute)
	if err := l.Set(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	_ = l.guard.command.Process.Signal(syscall.SIGTERM)
	<-l.guard.over
	holds(t, enabled, "madvise")
}

func TestTidy(t *testing.T) {
	enabled := host(t)
	leave := func() { // as if this process and the guard had been killed
		l := lend(t, "thp=never", self(), time.Minute)
		if err := l.Set(t.Context(), "never"); err != nil {
			t.Fatal(err)
		}
		_ = l.guard.command.Process.Kill()
		<-l.guard.over
		_ = l.held.Close()
	}
	var said []string
	tidy := func() string {
		said = nil
		RestoreLeftovers(t.Context(), func(text string) { said = append(said, text) })
		return strings.Join(said, "\n")
	}
	leave()
	if text := tidy(); text != "thp: an earlier try of never was killed before it restored the setting: it is madvise again" {
		t.Error(text)
	}
	holds(t, enabled, "madvise")
	if text := tidy(); text != "" || len(notes()) > 0 {
		t.Error(text, notes())
	}

	store(t, enabled, "always [madvise] never\n")
	leave()
	store(t, enabled, "[always] madvise never\n")
	if text := tidy(); text != "thp: an earlier try of never was killed, and another process has changed it since: it stays always (it was madvise before)" {
		t.Error(text)
	}
	holds(t, enabled, "always")

	store(t, enabled, "always [madvise] never\n")
	leave()
	if err := os.Rename(enabled, enabled+"x"); err != nil {
		t.Fatal(err)
	}
	if text := tidy(); text != "" || len(notes()) > 0 {
		t.Error(text, notes())
	}
}

// A setting that cannot be restored is reported at each start, and its note stays.
func TestTidyCannot(t *testing.T) {
	enabled := host(t)
	l := lend(t, "thp=never", self(), time.Minute)
	if err := l.Set(t.Context(), "never"); err != nil {
		t.Fatal(err)
	}
	_ = l.guard.command.Process.Kill()
	<-l.guard.over
	_ = l.held.Close()
	store(t, enabled, "what is this\n")
	for range 2 {
		said := ""
		RestoreLeftovers(t.Context(), func(text string) { said += text })
		if !strings.Contains(said, "an earlier try was killed: thp could not be restored to madvise: ") || len(notes()) != 1 {
			t.Error(said, notes())
		}
	}
	c := *l.Change
	if _, err := NewTrial(&c, time.Now().Add(time.Minute)); err == nil || !strings.Contains(err.Error(), "an earlier try left") {
		t.Error("another try began: ", err)
	}
	store(t, enabled, "always madvise [never]\n")
}

func TestWrongUse(t *testing.T) {
	enabled := host(t)
	for typed, want := range map[string]string{
		"swappiness=1":      "swappiness=1: unknown setting: give one of thp=, thp-defrag=, cpu.max=, jvm.FLAG=",
		"thp":               "thp: give a value: thp=always, madvise or never",
		"thp=":              "thp=: give a value: thp=always, madvise or never",
		"thp=sometimes":     "thp=sometimes: this kernel has always, madvise, never",
		"thp=madvise":       "thp=madvise: it already has this value: nothing to try",
		"jvm.=1":            "jvm.=1: unknown setting: give one of thp=, thp-defrag=, cpu.max=, jvm.FLAG=",
		"thp-defrag=always": "",
	} {
		_, err := Find(t.Context(), typed, self())
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrUse) || err.Error() != want) {
			t.Errorf("%s: %v", typed, err)
		}
	}
	holds(t, enabled, "madvise")
	if _, err := Find(t.Context(), "jvm.MinHeapFreeRatio=20", self()); err == nil || !strings.Contains(err.Error(), "it is not a HotSpot JVM") {
		t.Error(err)
	}
	if err := os.Remove(enabled); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), "thp=never", self()); err == nil || err.Error() != "thp: this kernel has no transparent huge pages: "+enabled+" does not exist" {
		t.Error(err)
	}
}

// The error for a file that cannot be written is one line with what to do.
func TestRefused(t *testing.T) {
	for _, x := range []struct {
		err  error
		want string
	}{
		{syscall.EROFS, "f is on a read-only file system, as in most containers: run unstall on the host, or mount the host's /sys and set HOST_SYS to its path"},
		{syscall.EACCES, "f cannot be written without root: sudo unstall try …"},
		{syscall.EPERM, "f cannot be written without root: sudo unstall try …"},
		{syscall.ENOENT, "f: it no longer exists"},
		{syscall.EINVAL, "write f: invalid argument"},
	} {
		if err := explainWriteError("f", &os.PathError{Op: "write", Path: "f", Err: x.err}); err.Error() != x.want {
			t.Error(err)
		}
	}
}

// The host's setting does not affect a process that has transparent huge pages switched off.
func TestSwitchedOffForItself(t *testing.T) {
	host(t)
	off := exec.Command("sh", "-c", "exec sleep 1000")
	const disable = 41 // PR_SET_THP_DISABLE, which a child inherits
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, disable, 1, 0, 0, 0, 0); e != 0 {
		t.Skip("this kernel cannot: ", e)
	}
	err := off.Start()
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, disable, 0, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = off.Process.Kill(); _ = off.Wait() }()
	if off, known := withoutHugePages(off.Process.Pid); !known {
		t.Skip("this kernel does not say")
	} else if !off {
		t.Fatal("it is not switched off")
	}
	if _, err := Find(t.Context(), "thp=never", discover.Target{PID: off.Process.Pid}); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), "does not reach it") {
		t.Error(err)
	}
}

func TestPlan(t *testing.T) {
	c := &Change{Setting: thp, Place: Place{Name: "thp"}}
	for _, x := range []struct {
		all          time.Duration
		blocks       int
		want         int
		turn, settle time.Duration
	}{
		{2 * time.Minute, 0, 12, 5 * time.Second, time.Second},
		{time.Minute, 0, 6, 5 * time.Second, time.Second},
		{24 * time.Second, 0, 6, 2 * time.Second, time.Second},
		{10 * time.Minute, 0, 12, 25 * time.Second, 5 * time.Second},
		{4 * time.Second, 1, 1, 2 * time.Second, time.Second},
	} {
		p, err := c.NewPlan(x.all, x.blocks)
		if err != nil || p.Blocks != x.want || p.Turn != x.turn || p.Settle != x.settle || p.All() != x.all {
			t.Errorf("%s: %+v, %v", x.all, p, err)
		}
	}
	if _, err := c.NewPlan(23*time.Second, 0); !errors.Is(err, ErrUse) || err.Error() != "--for 23s: 6 blocks of two turns take at least 24s: in each turn of thp the first 1s do not count" {
		t.Error(err)
	}
}

// Both values have one turn in each block, the file holds the value of the turn, and the try ends when the target
// does.
func TestAlternate(t *testing.T) {
	enabled := host(t)
	target := exec.Command("sleep", "1000")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = target.Process.Kill(); _ = target.Wait() }()
	l := lend(t, "thp=never", discover.Target{PID: target.Process.Pid}, time.Minute)
	ctx, done := While(t.Context(), target.Process.Pid)
	defer done()
	turns := map[string]int{}
	p := Plan{Blocks: 1000, Turn: 20 * time.Millisecond, Settle: 5 * time.Millisecond, Seed: 7, Tell: func(block int, value string) {
		holds(t, enabled, value)
		if turns[value]++; block == 3 {
			_ = target.Process.Kill() // it stays a zombie, because Wait is not called yet
		}
	}}
	was, tried, err := l.Alternate(ctx, p)
	if !Gone(err) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d ended after ", target.Process.Pid)) {
		t.Error(err)
	}
	if len(was) != len(tried) || len(was) < 3 || turns["never"] < 3 || turns["madvise"] < 3 {
		t.Errorf("%d and %d turns, %v", len(was), len(tried), turns)
	}
	for i := range was {
		if was[i].Load.Duration != 15*time.Millisecond || was[i].Start.Equal(tried[i].Start) {
			t.Errorf("%+v, %+v", was[i], tried[i])
		}
	}
	if r, err := l.End(t.Context()); err != nil || r.Now != "madvise" {
		t.Error(r, err)
	}
}

func TestQuotaFiles(t *testing.T) {
	const hybrid = "30 23 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" +
		"32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	for _, x := range []struct{ name, groups, mounts, want string }{
		{"version 2", "0::/system.slice/a.service\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"[{/sys/fs/cgroup/system.slice/a.service/cpu.max /system.slice/a.service}]"},
		{"hybrid", "4:cpuset:/x\n3:cpu,cpuacct:/a/b\n0::/a/b\n", hybrid, "[{/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us /a/b} {/sys/fs/cgroup/unified/a/b/cpu.max /a/b}]"},
		{"a container that sees its own", "0::/docker/f00\n", "30 23 0:26 /docker/f00 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "[{/sys/fs/cgroup/cpu.max /docker/f00}]"},
		{"a process of another container", "0::/docker/bar\n", "30 23 0:26 /docker/f00 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "[]"},
		{"of the same beginning", "0::/docker/f001\n", "30 23 0:26 /docker/f00 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "[]"},
		{"nonsense", "\n:\n0:\n", "x\n - \n", "[]"},
	} {
		if got := fmt.Sprint(quotaFiles(x.groups, x.mounts)); got != x.want {
			t.Errorf("%s: %s", x.name, got)
		}
	}
}

// The files of both cgroup versions are read and written as documented.
func TestQuota(t *testing.T) {
	dir := t.TempDir()
	two, one := Place{Name: "cpu.max", File: dir + "/cpu.max"}, Place{Name: "cpu.max", File: dir + "/cpu.cfs_quota_us"}
	store(t, two.File, "max 50000\n")
	store(t, one.File, "-1\n")
	store(t, dir+"/cpu.cfs_period_us", "50000\n")
	for _, p := range []Place{two, one} {
		if now, err := readQuota(t.Context(), p); err != nil || now != "max" {
			t.Error(now, err)
		}
		for typed, want := range map[string]string{"1.5": "1.5", "0.5": "0.5", "2": "2", ".333": "0.333", "max": "max", "1.50": "1.5"} {
			if v, err := quotaValue(t.Context(), p, typed); err != nil || v != want {
				t.Errorf("%s: %s, %v", typed, v, err)
			}
		}
		for _, typed := range []string{"0", "0.001", "-1", "x", "NaN", "1e99", "50000 100000"} {
			if v, err := quotaValue(t.Context(), p, typed); !errors.Is(err, ErrUse) {
				t.Errorf("%s: %s, %v", typed, v, err)
			}
		}
	}
	for value, want := range map[string]string{"1.5": "75000", "max": "-1"} {
		if err := writeQuota(t.Context(), one, value); err != nil {
			t.Error(err)
		}
		if b, _ := os.ReadFile(one.File); string(b) != want {
			t.Errorf("%s: %q", value, b)
		}
	}
	if err := writeQuota(t.Context(), two, "0.5"); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(two.File); string(b) != "25000" { // the kernel keeps the period
		t.Errorf("%q", b)
	}
	store(t, two.File, "75000 50000\n")
	if now, err := readQuota(t.Context(), two); err != nil || now != "1.5" {
		t.Error(now, err)
	}
	_ = os.Remove(two.File)
	if _, err := readQuota(t.Context(), two); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// The limit of a cgroup of this host is changed and put back. Once the cgroup is gone, there is nothing to put
// back.
func TestCgroup(t *testing.T) {
	apartNotes(t)
	group, child := cgroup(t)
	target := discover.Target{PID: child.Process.Pid}
	l := lend(t, "cpu.max=0.5", target, time.Minute)
	if l.Was != "max" || !strings.HasSuffix(l.Place.Affects, fmt.Sprintf(" of only pid %d", target.PID)) {
		t.Errorf("%+v", l.Change)
	}
	if err := l.Set(t.Context(), "0.5"); err != nil {
		t.Fatal(err)
	}
	if now, err := readQuota(t.Context(), l.Place); err != nil || now != "0.5" {
		t.Error(now, err)
	}
	if r, err := l.End(t.Context()); err != nil || r != (Restored{Now: "max", Was: "max"}) {
		t.Error(r, err)
	}
	l = lend(t, "cpu.max=0.5", target, time.Minute)
	if err := l.Set(t.Context(), "0.5"); err != nil {
		t.Fatal(err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	until(t, "the cgroup is removed", func() bool { return os.Remove(group) == nil })
	if err := l.Set(t.Context(), "max"); !Gone(err) {
		t.Error(err)
	}
	if r, err := l.End(t.Context()); err != nil || !r.Gone {
		t.Error(r, err)
	}
	if left := notes(); len(left) > 0 {
		t.Error(left)
	}
	if _, err := Find(t.Context(), "cpu.max=1", discover.Target{PID: 1}); err == nil {
		t.Error("the host's first process has a limit of its own")
	}
}

// cgroup makes a group for CPU limits with one process in it.
func cgroup(t *testing.T) (dir string, child *exec.Cmd) {
	t.Helper()
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, at := range quotaFiles("1:cpu:/\n0::/\n", string(mounts)) {
		dir = filepath.Join(filepath.Dir(at.file), "unstall-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.Base(at.file))); err != nil {
			_ = os.Remove(dir)
			continue
		}
		child = exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = child.Process.Kill()
			_ = child.Wait()
			until(t, "the cgroup is removed", func() bool { err := os.Remove(dir); return err == nil || errors.Is(err, os.ErrNotExist) })
		})
		store(t, dir+"/cgroup.procs", strconv.Itoa(child.Process.Pid))
		return dir, child
	}
	t.Skip("no cgroup with a CPU limit can be made here: needs root")
	return "", nil
}

func TestFlagLine(t *testing.T) {
	const text = `[Global flags]
     intx ActiveProcessorCount                     = -1                                        {product} {default}
    uintx MaxHeapFreeRatio                         = 70                                     {manageable} {default}
   size_t SoftMaxHeapSize                          = 4173332480                             {manageable} {ergonomic}
    ccstr HeapDumpPath                             =                                        {manageable} {default}
     bool HeapDumpOnOutOfMemoryError               := true                                   {manageable}
     bool UseG1GC                                  = true                                      {product} {ergonomic}
`
	for name, want := range map[string]flag{
		"MaxHeapFreeRatio":           {"uintx", "70", true},
		"SoftMaxHeapSize":            {"size_t", "4173332480", true},
		"HeapDumpPath":               {"ccstr", "", true},
		"HeapDumpOnOutOfMemoryError": {"bool", "true", true},
		"UseG1GC":                    {"bool", "true", false},
		"ActiveProcessorCount":       {"intx", "-1", false},
		"HeapFreeRatio":              {},
	} {
		if got := parseFlag(text, name); got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

const idle = `public class App { public static void main(String[] a) throws Exception { Host.say("ready"); } }`

func TestJVM(t *testing.T) {
	apartNotes(t)
	for _, release := range []int{11, 17, 25} {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := jvmapp.Start(t, release, idle, "-Xmx64m", "-XX:+UseSerialGC")
			a.Line(t)
			target := discover.Target{PID: a.PID}
			l := lend(t, "jvm.MinHeapFreeRatio=20", target, time.Minute)
			if l.Was != "40" {
				t.Errorf("it was %s", l.Was)
			}
			for _, value := range []string{"20", "40", "20"} {
				if err := l.Set(t.Context(), value); err != nil {
					t.Fatal(err)
				}
				if now, err := readFlag(t.Context(), l.Place); err != nil || now != value {
					t.Errorf("%s, %v", now, err)
				}
			}
			if r, err := l.End(t.Context()); err != nil || r != (Restored{Now: "40", Was: "40"}) {
				t.Errorf("%+v, %v", r, err)
			}
			for typed, want := range map[string]string{
				"jvm.UseSerialGC=false":              "cannot change this flag while it runs",
				"jvm.NoSuchFlag=1":                   "does not have this flag",
				"jvm.MinHeapFreeRatio=much":          "needs a value of type uintx",
				"jvm.HeapDumpPath=/tmp":              "does not change how pid",
				"jvm.HeapDumpOnOutOfMemoryError=yes": "needs a value of type bool",
			} {
				if _, err := Find(t.Context(), typed, target); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", typed, err)
				}
			}
			l = lend(t, "jvm.MinHeapFreeRatio=20", target, time.Minute)
			if err := l.Set(t.Context(), "20"); err != nil {
				t.Fatal(err)
			}
			_ = a.Stop()
			if r, err := l.End(t.Context()); err != nil || !r.Gone {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// Several settings of the host are changed at once and put back, also if one of them cannot be changed.
func TestTogether(t *testing.T) {
	enabled := host(t)
	defrag := filepath.Dir(enabled) + "/defrag"
	all, err := Host(t.Context(), []string{"thp=always", "thp-defrag=always"}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, enabled, "always")
	holds(t, defrag, "always")
	if err := all.End(t.Context()); err != nil {
		t.Error(err)
	}
	holds(t, enabled, "madvise")
	holds(t, defrag, "madvise")
	if all, err = Host(t.Context(), []string{"thp=madvise"}, time.Now().Add(time.Minute)); err != nil || len(all) != 0 {
		t.Errorf("%v, %v: it already has this value", all, err)
	}
	if _, err = Host(t.Context(), []string{"thp=never", "thp-defrag=sometimes"}, time.Now().Add(time.Minute)); !errors.Is(err, ErrUse) {
		t.Errorf("error %v", err)
	}
	holds(t, enabled, "madvise")
	until(t, "the second processes have ended", func() bool { return len(notes()) == 0 })
}
