package attach_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/lab/jvmapp"
)

// TestMain is also another user who tries to attach, and prints the result.
func TestMain(m *testing.M) {
	if pid, err := strconv.Atoi(os.Getenv("ATTACH_TO")); err == nil {
		_, err := attach.Find(pid)
		fmt.Print(err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestNamespaces attaches to a JVM that has a /tmp and PIDs of its own, as in a container.
func TestNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	home := jvmapp.Home(t, 17)
	c := exec.Command("sh", "-c", `mount -t tmpfs tmpfs /tmp && exec "$@"`, "sh",
		filepath.Join(home, "bin", "java"), "-Xmx32m", "-cp", readable(t, jvmapp.Classes(t, idle), os.Getenv("HOME")), "Host")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	pid := readStartTime(t, c)
	vm, err := attach.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	if vm.Inner() != 1 || vm.Socket() != fmt.Sprintf("/proc/%d/root/tmp/.java_pid1", pid) {
		t.Errorf("it knows itself as %d, its socket is %s", vm.Inner(), vm.Socket())
	}
	if text, err := vm.Text(t.Context(), "VM.version", 1000); err != nil || !strings.Contains(text, "JDK 17.") {
		t.Errorf("%q, %v", text, err)
	}
	if left, _ := filepath.Glob(fmt.Sprintf("/proc/%d/cwd/.attach_pid*", pid)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// readStartTime returns when a process was started, in ticks after boot: field 22 of its stat
// file. The error is ErrGone if the process has ended.
func readStartTime(t *testing.T, c *exec.Cmd) (pid int) {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Skipf("not here: %v", err)
	}
	t.Cleanup(func() { _ = in.Close(); _, _ = io.Copy(io.Discard, out); _ = c.Wait() })
	if n, err := out.Read(make([]byte, 1)); n == 0 {
		t.Skipf("it cannot run like that here: %v: %s", err, said.String())
	}
	return c.Process.Pid
}

// TestDenied has another user try to attach to a JVM of ours.
func TestDenied(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	a := jvmapp.Start(t, 17, idle, "-Xmx32m")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := readable(t, t.TempDir(), os.TempDir())
	program := filepath.Join(dir, "attach.test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Dir, c.Env = "/", []string{fmt.Sprintf("ATTACH_TO=%d", a.PID)}
	const nobody = 65534
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.Output()
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	want := fmt.Sprintf("pid %d: permission denied: the process belongs to user root: sudo unstall %d", a.PID, a.PID)
	if err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
}
