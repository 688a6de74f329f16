package main

import (
	"bytes"
	"encoding/json"
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

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/operate/experiment"
)

// touch is the program "touch" of the tests. It asks for huge pages (MADV_HUGEPAGE), writes to every small page of them and frees
// them, repeatedly and at a fixed rate. With enabled=madvise that takes a fault for 2 MiB, with never one for each 4 KiB.
func touch() {
	const size = 32 << 20
	every := time.NewTicker(100 * time.Millisecond)
	for range every.C {
		b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			continue
		}
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
		for i := 0; i < size; i += 4 << 10 {
			b[i] = 1
		}
		_ = unix.Munmap(b)
	}
}

// trying is a running "unstall try" on a /sys made for the test.
type trying struct {
	*exec.Cmd
	out, err bytes.Buffer
	enabled  string // the file
	notes    string // where it notes what it changed
}

func startTry(t *testing.T, target int, args ...string) *trying {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a setting of the host takes root")
	}
	dir := t.TempDir()
	x := &trying{enabled: dir + "/sys/kernel/mm/transparent_hugepage/enabled", notes: dir + "/unstall-left"}
	if err := os.MkdirAll(filepath.Dir(x.enabled), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(x.enabled, []byte("always [madvise] never\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(x.enabled)+"/defrag", []byte("always [madvise] never\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	apartNotes(t, dir)
	t.Setenv("HOST_SYS", dir+"/sys")
	x.Cmd = program(t, "unstall", append([]string{"try", "thp=never", "--host", "--target", strconv.Itoa(target), "--capture", dir + "/x.unstall"}, args...)...)
	x.Stdout, x.Stderr = &x.out, &x.err
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *trying) now() string {
	b, _ := os.ReadFile(x.enabled)
	return strings.TrimSpace(string(b))
}

// left returns the notes of changed settings.
func (x *trying) left() []string {
	all, _ := filepath.Glob(x.notes + "/*.json")
	return all
}

// guards returns the processes that would put back the settings of the notes.
func (x *trying) guards() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range dirs {
		b, _ := os.ReadFile(name)
		if bytes.Contains(b, []byte("\x00"+experiment.GuardCommand+"\x00"+x.notes)) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not yet: ", what)
		}
	}
}

// apartNotes keeps notes in a directory of the test, so that it does not meet real tries on this host.
func apartNotes(t *testing.T, dir string) {
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("TMPDIR", dir)
}

func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func code(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// However a try ends, it puts the old value back, leaves nothing behind, and says so.
func TestTryPutsBack(t *testing.T) {
	signal := func(s os.Signal) func(*testing.T, *trying, *exec.Cmd) {
		return func(_ *testing.T, x *trying, _ *exec.Cmd) { _ = x.Process.Signal(s) }
	}
	for name, c := range map[string]struct {
		args []string
		end  func(*testing.T, *trying, *exec.Cmd)
		code int
		says string
	}{
		"at the end":                     {[]string{"--blocks", "1", "--for", "4s"}, nil, 0, "saved "},
		"SIGINT":                         {nil, signal(syscall.SIGINT), 3, "thp is madvise again\n"},
		"SIGTERM":                        {nil, signal(syscall.SIGTERM), 3, "thp is madvise again\n"},
		"SIGHUP":                         {nil, signal(syscall.SIGHUP), 3, "thp is madvise again\n"},
		"SIGKILL":                        {nil, signal(syscall.SIGKILL), -1, ""},
		"SIGQUIT, as of a program stuck": {nil, signal(syscall.SIGQUIT), 2, ""},
		"the target ends":                {nil, func(_ *testing.T, _ *trying, target *exec.Cmd) { _ = target.Process.Kill() }, 3, ": it no longer exists\nthp is madvise again\n"},
		"the second process is killed": {nil, func(t *testing.T, x *trying, _ *exec.Cmd) {
			for _, pid := range x.guards() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}, -2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			target := sleeper(t)
			args := c.args
			if args == nil {
				args = []string{"--for", "24s", "--seed", "1"}
			}
			x := startTry(t, target.Process.Pid, args...)
			eventually(t, "it is changed", func() bool { return x.now() == "never" })
			if len(x.left()) != 1 || len(x.guards()) != 1 {
				t.Fatalf("changed with the notes %q and the processes %v", x.left(), x.guards())
			}
			if c.end != nil {
				c.end(t, x, target)
			}
			err := x.Wait()
			eventually(t, "it is put back", func() bool { return x.now() == "madvise" })
			eventually(t, "nothing is left", func() bool { return len(x.left()) == 0 && len(x.guards()) == 0 })
			if c.code != -2 && code(err) != c.code || !strings.Contains(x.err.String(), c.says) {
				t.Errorf("exit %v, want %d, and %q in\n%s", err, c.code, c.says, &x.err)
			}
			if c.end == nil && !strings.Contains(x.out.String(), "yes: read back, thp is madvise again") {
				t.Error(&x.out)
			}
		})
	}
}

// If both processes are killed, the next start of the tool, with any command, puts the setting back.
func TestTryKilledWithItsGuard(t *testing.T) {
	x := startTry(t, sleeper(t).Process.Pid, "--for", "24s")
	eventually(t, "it is changed", func() bool { return x.now() == "never" })
	again := program(t, "unstall", "try", "thp-defrag=always", "--host", "--target", strconv.Itoa(os.Getpid()), "--for", "24s")
	said, err := again.CombinedOutput()
	if code(err) != 3 || !strings.Contains(string(said), fmt.Sprintf("another try is still running: pid %d tries thp=never", x.Process.Pid)) {
		t.Errorf("%v: %s", err, said)
	}
	for _, pid := range append(x.guards(), x.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // stopped, so neither can react to the other's end
	}
	for _, pid := range append(x.guards(), x.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = x.Wait()
	eventually(t, "nobody is there", func() bool { return len(x.guards()) == 0 })
	was := x.now()
	if len(x.left()) != 1 {
		t.Fatal("no note is left")
	}
	said, err = program(t, "unstall", "version").CombinedOutput()
	if err != nil || x.now() != "madvise" || len(x.left()) > 0 {
		t.Errorf("%v: it is %s: %s", err, x.now(), said)
	}
	if text := "unstall: thp: an earlier try of never was killed before it restored the setting: it is madvise again\n"; was == "never" && !strings.HasPrefix(string(said), text) {
		t.Errorf("%s", said)
	}
}

// A setting that cannot be tried gives one line, and nothing changes.
func TestTryRefuses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a setting of the host takes root")
	}
	dir := t.TempDir()
	apartNotes(t, dir)
	t.Setenv("HOST_SYS", dir)
	target := strconv.Itoa(sleeper(t).Process.Pid)
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"thp=never --target " + target, 2, "thp is a setting of the whole host: it would affect every process here for 2m0s; to allow it: --host"},
		{"thp=never --host --target " + target, 3, "thp: this kernel has no transparent huge pages: " + dir + "/kernel/mm/transparent_hugepage/enabled does not exist"},
		{"thp=never --host", 2, "give --target=PID"},
		{"nothing=1 --target " + target, 2, "nothing=1: unknown setting"},
		{"jvm.MinHeapFreeRatio=20 --target " + target, 3, "it is not a HotSpot JVM"},
		{"thp=never --host --format html --target " + target, 2, "--format html: try writes text or json"},
		{"thp=never --host --for 5s --target 4194304", 3, "4194304"},
		{"thp=never --host --blocks=-1 --target " + target, 2, "--blocks -1"},
	} {
		said, err := program(t, "unstall", append([]string{"try"}, strings.Fields(x.args)...)...).CombinedOutput()
		if code(err) != x.code || !strings.Contains(string(said), x.want) || strings.Count(string(said), "\n") != 1 {
			t.Errorf("%s: %v, want %d: %s", x.args, err, x.code, said)
		}
	}
}

// This test changes the real transparent huge pages of this host. Without them, a program that touches them densely has many times
// the page faults. Two runs of this test never overlap, and the old value is put back even if the test fails.
func TestTryHugePages(t *testing.T) {
	const file = "/sys/kernel/mm/transparent_hugepage/enabled"
	before, err := os.ReadFile(file)
	if err != nil || os.Geteuid() != 0 || unix.Access(file, unix.W_OK) != nil || !strings.Contains(string(before), "[madvise]") {
		t.Skip("takes root and a host with transparent huge pages where they are asked for")
	}
	probetest.HugePages(t, true)
	defer func() {
		if now, _ := os.ReadFile(file); string(now) != string(before) {
			t.Errorf("it is %s", now)
			_ = os.WriteFile(file, []byte("madvise"), 0)
		}
	}()
	dir := t.TempDir()
	apartNotes(t, dir)
	target := program(t, "touch")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	x := program(t, "unstall", "try", "thp=never", "--host", "--target", strconv.Itoa(target.Process.Pid), "--for", "24s", "--capture", dir+"/x.unstall", "--format", "json")
	x.Stdout, x.Stderr = &out, &said
	if err := x.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	var r experiment.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != experiment.Schema || r.Blocks != 6 || r.Restored == nil || *r.Restored != (experiment.Restored{Now: "madvise", Was: "madvise"}) || !r.Host || r.File != file {
		t.Errorf("%+v", r)
	}
	m, ok := r.Comparison.Of("minor_faults_per_s")
	// The faults are hundreds of times as many. The certainty depends on how busy this host is, so the test ignores it.
	if !ok || m.Before == nil || m.After == nil || *m.After <= 2**m.Before || m.Pairs != 6 {
		text, _ := json.Marshal(m)
		t.Errorf("%s", text)
	}
	if m, ok := r.Comparison.Of("system_cores"); !ok || m.Pairs != 6 {
		t.Errorf("%+v", m)
	}
}
