package attach_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/lab/jvmapp"
)

const idle = `public class App { public static void main(String[] args) { } }`

var releases = []int{11, 17, 25}

func TestLive(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := jvmapp.Start(t, release, idle, "-Xmx32m")
			vm, err := attach.Find(a.PID)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first time the listener is started, then it exists
				text, err := vm.Text(t.Context(), "VM.version", 1000)
				if err != nil || !strings.Contains(text, fmt.Sprintf("JDK %d.", release)) {
					t.Errorf("%q, %v", text, err)
				}
			}
			if _, err := vm.Text(t.Context(), "No.such", 1000); !errors.Is(err, attach.ErrRefused) {
				t.Errorf("%v", err)
			}
			nothingLeft(t, a.PID)
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			if _, err := vm.Text(t.Context(), "VM.version", 1000); !errors.Is(err, attach.ErrGone) {
				t.Errorf("after it ended: %v", err)
			}
		})
	}
}

func nothingLeft(t *testing.T, pid int) {
	t.Helper()
	for _, dir := range []string{fmt.Sprintf("/proc/%d/cwd", pid), "/tmp"} {
		if left, _ := filepath.Glob(fmt.Sprintf("%s/.attach_pid%d", dir, pid)); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}

// TestReduced attaches to a JVM that SIGQUIT would end and that listens from the beginning. Without its socket, no signal is sent to it.
func TestReduced(t *testing.T) {
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			a := jvmapp.Start(t, release, idle, "-Xmx32m", "-Xrs")
			vm, err := attach.Find(a.PID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := vm.Text(t.Context(), "VM.version", 1000); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(vm.Socket()); err != nil {
				t.Fatal(err)
			}
			again, err := attach.Find(a.PID)
			if err != nil {
				t.Fatal(err)
			}
			_, err = again.Text(t.Context(), "VM.version", 1000)
			if !errors.Is(err, attach.ErrDisabled) || !strings.Contains(err.Error(), "-Xrs") {
				t.Errorf("%v", err)
			}
			if vm.Ended() {
				t.Error("it was killed")
			}
			nothingLeft(t, a.PID)
		})
	}
}

// TestDisabled has the flag on the command line, in the environment, and in the environment without counters.
func TestDisabled(t *testing.T) {
	const flag = "-XX:+DisableAttachMechanism"
	for _, c := range []struct {
		name string
		env  []string
		args []string
	}{
		{"command line", nil, []string{flag}},
		{"environment", []string{"JAVA_TOOL_OPTIONS=" + flag}, nil},
		{"no counters", nil, []string{flag, "-XX:-UsePerfData"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := jvmapp.StartEnv(t, 17, idle, c.env, append(c.args, "-Xmx32m")...)
			_, err := attach.Find(a.PID)
			if !errors.Is(err, attach.ErrDisabled) || !strings.HasSuffix(err.Error(), "it runs with "+flag+": restart it without "+flag+"; data from /proc and hsperfdata is recorded anyway") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestOtherUser attaches to a JVM of another user as root.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for _, release := range releases {
		t.Run(fmt.Sprint(release), func(t *testing.T) {
			home := jvmapp.Home(t, release)
			const nobody = 65534
			c := exec.Command(filepath.Join(home, "bin", "java"), "-Xmx32m", "-cp", readable(t, jvmapp.Classes(t, idle), os.TempDir()), "Host")
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			c.Dir = "/"
			pid := readStartTime(t, c)
			vm, err := attach.Find(pid)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := vm.Text(t.Context(), "VM.version", 1000); err != nil || !strings.Contains(text, fmt.Sprintf("JDK %d.", release)) {
				t.Errorf("%q, %v", text, err)
			}
			if us := os.Geteuid(); us != 0 {
				t.Errorf("we are user %d now", us)
			}
			nothingLeft(t, pid)
		})
	}
}

// readable copies a folder into another one that all users may read.
func readable(t *testing.T, dir, within string) string {
	t.Helper()
	to, err := os.MkdirTemp(within, "classes")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(to) })
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{to, to + "/*"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			if err := os.Chmod(f, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}
