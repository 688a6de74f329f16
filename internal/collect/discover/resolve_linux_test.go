package discover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unique is a name that no process of another run of these tests has. It fits into the 15 bytes that the kernel keeps.
func unique(name string) string { return fmt.Sprintf("t%07d-%s", os.Getpid(), name) }

func TestResolveProcess(t *testing.T) {
	name := unique("under-test")
	exe := copyOf(t, t.TempDir(), name)
	before := time.Now()
	cmd := play("idle", exe, "--password=hunter2")
	start(t, cmd)
	pid := cmd.Process.Pid
	for _, arg := range []string{fmt.Sprint(pid), name, name[:15]} {
		got, err := Resolve(t.Context(), arg, known)
		if err != nil {
			t.Fatal(err)
		}
		if got.Arg != arg || got.PID != pid || got.Name != name || got.Runtime != "go" || got.Version != runtime.Version() ||
			got.Exe != exe || got.UID != os.Geteuid() || got.User == "" || got.Unreadable != nil || got.Needs != "" || got.URL != nil {
			t.Errorf("%s: %+v", arg, got)
		}
		// The boot time is in whole seconds.
		if got.Start.Before(before.Add(-2*time.Second)) || got.Start.After(time.Now().Add(2*time.Second)) {
			t.Errorf("started %v, want about %v", got.Start, before)
		}
	}

	second := play("idle", exe, "--password=hunter2")
	start(t, second)
	_, err := Resolve(t.Context(), name, known)
	want := []string{fmt.Sprintf("%d (%s)", pid, exe), fmt.Sprintf("%d (%s)", second.Process.Pid, exe)}
	if !errors.Is(err, ErrUse) || !oneLine(err) || strings.Contains(err.Error(), "hunter2") ||
		slices.ContainsFunc(want, func(s string) bool { return !strings.Contains(err.Error(), s) }) {
		t.Errorf("two of that name: %v", err)
	}

	// A file of that name takes precedence.
	t.Chdir(t.TempDir())
	for _, name := range []string{name, fmt.Sprint(pid)} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if live, files, errs := Split(t.Context(), []string{name}, known); len(live) != 0 || len(files) != 1 || len(errs) != 0 {
			t.Errorf("%s: %v, %v, %v", name, live, files, errs)
		}
	}
}

func TestResolveWhatIsNoTarget(t *testing.T) {
	name := unique("early")
	cmd := play("idle", copyOf(t, t.TempDir(), name))
	start(t, cmd)
	pid := cmd.Process.Pid
	threads, err := os.ReadDir(procPath(pid, "task"))
	if err != nil || len(threads) < 2 {
		t.Fatal(threads, err) // the runtime has more than one
	}
	thread := threads[len(threads)-1].Name()
	says(t, thread, fmt.Sprintf("that is a thread of %s: unstall %d", name, pid), true)
	says(t, fmt.Sprint(os.Getpid()), "that is unstall itself", true)
	says(t, "4194399", "no process has this id", false) // the PID is above PID_MAX_LIMIT
	says(t, "0", "no process has this id", false)
	says(t, "99999999999999999999", "no process has this id", false)
	if s, err := readStat(2); err == nil && s.isKernelThread() {
		says(t, "2", "is a kernel thread", true)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for s, err := readStat(pid); err == nil && !s.hasEnded(); s, err = readStat(pid) {
		runtime.Gosched()
	}
	says(t, fmt.Sprint(pid), name+" has ended: it is a zombie", false)
	_ = cmd.Wait()
	says(t, fmt.Sprint(pid), "no process has this id", false)
	says(t, name, "no such file or directory, and no process or container of that name", false)
}

func TestResolveWhatIsNoAddress(t *testing.T) {
	for arg, want := range map[string]string{
		"unix://user:hunter2@socket":        "the URL has no path",
		"redis://user:hunter2@":             "the URL has no host",
		"ftp://localhost":                   "ftp:// is not supported",
		"http://":                           "the URL has no host",
		"http://user:hunter2@localhost:six": "not a URL",
		"http://127.0.0.1:0/debug/pprof":    "ports are 1 to 65535",
		"127.0.0.1:70000":                   "ports are 1 to 65535",
		"http://127.0.0.1:%zz":              "not a URL",
	} {
		says(t, arg, want, true)
	}
}

// says requires an error of one line that contains a text and no secret.
func says(t *testing.T, arg, want string, use bool) {
	t.Helper()
	got, err := Resolve(t.Context(), arg, known)
	if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, ErrUse) != use || !oneLine(err) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: %+v, %v; want %q, to be typed differently: %v", arg, got, err, want, use)
	}
}

func oneLine(err error) bool { return !strings.Contains(err.Error(), "\n") }

func TestResolveAddress(t *testing.T) {
	cmd, addr := service(t, t.TempDir())
	pid := cmd.Process.Pid
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{addr, ":" + port, "http://" + addr, "http://localhost:" + port + "/debug/pprof", "http://me:hunter2@" + addr + "/debug/pprof/"} {
		got, err := Resolve(t.Context(), arg, known)
		if err != nil {
			t.Fatal(err)
		}
		if got.Arg != arg || got.PID != pid || got.Runtime != "go" || got.URL == nil || got.URL.Port() != port || got.Note != "" || len(got.Listens) != 2 {
			t.Errorf("%s: %+v", arg, got)
		}
		if strings.Contains(arg, "://") && got.URL.String() != arg {
			t.Errorf("%s: URL %s", arg, got.URL)
		}
	}

	live, files, errs := Split(t.Context(), []string{fmt.Sprint(pid), "http://" + addr, "none.log", "-"}, known)
	if len(live) != 1 || live[0].URL == nil || live[0].URL.Host != addr || len(files) != 2 || len(errs) != 0 {
		t.Errorf("%+v, %v, %v", live, files, errs)
	}

	// A port that was given back has no listener.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	says(t, free, "unstall itself listens", true)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := Resolve(t.Context(), free, known); err != nil || got.PID != 0 || got.URL == nil || got.Note == "" {
		t.Errorf("%s: %+v, %v", free, got, err)
	}
	// An address for documentation (RFC 5737) is not an address of this machine.
	if got, err := Resolve(t.Context(), "192.0.2.1:"+port, known); err != nil || got.PID != 0 || got.URL == nil || got.Note != "" {
		t.Errorf("another host: %+v, %v", got, err)
	}
}

func TestRootReadsOthers(t *testing.T) {
	name := unique("nobody")
	cmd := asNobody(t, play("idle", copyOf(t, public(t), name)))
	start(t, cmd)
	got, err := Resolve(t.Context(), name, known)
	if err != nil || got.UID != 65534 || got.Runtime != "go" || got.Needs != "" || got.Unreadable != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// For root's process, the target has what every user can see, and says what is hidden and who may see it.
func TestOthersSeeWhatTheyMay(t *testing.T) {
	dir := public(t)
	cmd, addr := service(t, dir)
	pid := cmd.Process.Pid
	tool := copyOf(t, dir, "unstall-of-nobody")

	var found []Found
	reads(t, asNobody(t, play("discover", tool)), &found)
	f, ok := find(found, pid)
	if !ok {
		t.Fatalf("not among %+v", found)
	}
	if f.Name != "profiled-gateway" || f.Runtime != "go" || f.Version != runtime.Version() || f.Needs != "root" ||
		strings.Join(f.Reads, " ") != "/proc" || strings.Join(f.Unreadable, " ") != "environ exe fd io maps" || f.Exe != "" || f.RSS <= 0 {
		t.Errorf("%+v", f)
	}

	var behind Target
	reads(t, asNobody(t, play("resolve", tool, addr)), &behind)
	if behind.PID != 0 || behind.URL == nil || !strings.Contains(behind.Note, "belongs to root") {
		t.Errorf("%+v", behind)
	}

	// It also says who may read another user's process.
	name := unique("daemon")
	other := play("idle", copyOf(t, dir, name))
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1}}
	other.Dir = "/"
	start(t, other)
	var theirs Target
	reads(t, asNobody(t, play("resolve", tool, name)), &theirs)
	if want := "root or user " + newHost(known).userName(1); theirs.Needs != want || theirs.PID != other.Process.Pid {
		t.Errorf("%+v; want it to need %s", theirs, want)
	}
}

// reads runs a program to its end and decodes its output.
func reads(t *testing.T, cmd *exec.Cmd, into any) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(cmd.Path), err)
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(into); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
}

// Several names given together are several targets. A master and its workers are one target, the master.
func TestSeveral(t *testing.T) {
	name := unique("of-several")
	exe := copyOf(t, t.TempDir(), name)
	cmd := play("idle", exe)
	start(t, cmd)
	other := unique("another")
	second := play("idle", copyOf(t, t.TempDir(), other))
	start(t, second)
	live, files, errs := Split(t.Context(), []string{name + "|" + other}, known)
	if len(live) != 2 || len(files) != 0 || len(errs) != 0 || live[0].PID != cmd.Process.Pid || live[1].PID != second.Process.Pid {
		t.Errorf("live %+v, files %v, %v", live, files, errs)
	}
	if _, _, errs := Split(t.Context(), []string{name + "|" + unique("nobody")}, known); len(errs) != 1 {
		t.Errorf("one that is not there: %v", errs)
	}
	one := func(pid, ppid int) *process { return &process{pid: pid, stat: stat{ppid: ppid}} }
	if p := findCommonAncestor([]*process{one(8, 7), one(7, 1), one(9, 8)}); p == nil || p.pid != 7 {
		t.Errorf("of a family: %+v", p)
	}
	if p := findCommonAncestor([]*process{one(8, 7), one(9, 7)}); p != nil {
		t.Errorf("of brothers: %+v", p)
	}
}
