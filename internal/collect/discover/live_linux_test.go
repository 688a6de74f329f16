package discover

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test binary play other processes. Its name and this variable say which.
func TestMain(m *testing.M) {
	switch os.Getenv("TARGET_TEST_ROLE") {
	case "idle":
		fmt.Println("up")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "discover":
		found, err := Discover(context.Background(), known)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(found)
	case "resolve":
		t, err := Resolve(context.Background(), os.Args[1], known)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(t)
	default:
		os.Exit(m.Run())
	}
}

// known is the recogniser of the runtime that these tests are built with.
var known = []Recogniser{{
	Runtime: "go",
	Built:   func(e Executable) (Seen, bool) { return Seen{e.GoVersion, e.Main}, e.GoVersion != "" },
	Way: func(p Process, _ []Listener) string {
		if p.ServesPprof() {
			return "pprof"
		}
		return ""
	},
}}

// public makes a directory that every user can read, unlike t.TempDir.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "target-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyOf copies the test binary into a directory under another name.
func copyOf(t *testing.T, dir, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// play returns a command that runs the test binary in a role. It is not started.
func play(role, path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "TARGET_TEST_ROLE="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// start runs a program that prints a line when it is ready and ends with its standard input. It returns that line.
func start(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: not ready: %v", cmd.Path, err)
	}
	return strings.TrimSpace(line)
}

// service builds and starts testdata/service in a directory and returns its address.
func service(t *testing.T, dir string, flags ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	exe := filepath.Join(dir, "profiled-gateway") // longer than the name that the kernel keeps
	build := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), "./testdata/service")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd = exec.Command(exe, filepath.Join(dir, "app.sock"))
	cmd.Stderr = os.Stderr
	return cmd, start(t, cmd)
}

func asNobody(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("to be another user takes root")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	return cmd
}

func find(found []Found, pid int) (Found, bool) {
	for _, f := range found {
		if f.PID == pid {
			return f, true
		}
	}
	return Found{}, false
}

func discover(t *testing.T) []Found {
	t.Helper()
	found, err := Discover(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDiscoverGo(t *testing.T) {
	dir := public(t)
	cmd, addr := service(t, dir)
	found := discover(t)
	f, ok := find(found, cmd.Process.Pid)
	if !ok {
		t.Fatalf("not among %+v", found)
	}
	if f.Name != "profiled-gateway" || f.Runtime != "go" || f.Version != runtime.Version() || !strings.HasPrefix(f.Main, "github.com/unstall/unstall") ||
		strings.Join(f.Reads, " ") != "pprof /proc environment" || f.Needs != "" || f.Next != fmt.Sprint("unstall ", f.PID) ||
		f.RSS <= 0 || f.CPU < 0 || f.UID != os.Geteuid() || f.Start.IsZero() {
		t.Errorf("%+v", f)
	}
	if len(f.Listens) != 2 || f.Listens[0].String() != addr || f.Listens[1].Path != filepath.Join(dir, "app.sock") {
		t.Errorf("listens on %v, want %s and a UNIX socket", f.Listens, addr)
	}
	if self, ok := find(found, os.Getpid()); ok {
		t.Errorf("found itself: %+v", self)
	}
}

// A process that listens at a port can be diagnosed from kernel data, whatever language it is written in. An idle one is not listed.
func TestDiscoverAll(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	const serves = "import socket, sys\ns = socket.create_server(('127.0.0.1', 0))\nprint(s.getsockname()[1], flush=True)\nsys.stdin.read()"
	server := exec.Command(python, "-c", serves)
	port := start(t, server)
	waits := exec.Command(python, "-c", "import sys\nprint('up', flush=True)\nsys.stdin.read()")
	start(t, waits)
	found, err := DiscoverAll(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := find(found, server.Process.Pid)
	if !ok || f.Runtime != "" || len(f.Listens) != 1 || f.Listens[0].String() != "127.0.0.1:"+port || f.Next != fmt.Sprint("unstall ", f.PID) {
		t.Errorf("a Python service is %+v (listed: %v)", f, ok)
	}
	if f, ok := find(found, waits.Process.Pid); ok {
		t.Errorf("what only waits is listed: %+v", f)
	}
	if _, ok := find(discover(t), server.Process.Pid); ok {
		t.Error("a process of an unknown runtime is one of a known")
	}
}

func TestHasPprof(t *testing.T) {
	dir := t.TempDir()
	stripped, _ := service(t, dir, "-ldflags=-s -w", "-buildmode=pie")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for exe, want := range map[string]bool{
		procPath(stripped.Process.Pid, "exe"): true,
		self:                                  false,
		"/bin/sh":                             false,
		"live_linux_test.go":                  false,
	} {
		if got, err := HasPprof(exe); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", exe, got, err, want)
		}
	}
	if _, err := HasPprof(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there: no error")
	}
}

func TestContainsAcrossPieces(t *testing.T) {
	const piece = 256 << 10
	for _, before := range []int{0, piece - 30, piece - 21, piece - 5, piece, 3*piece - 1} {
		text := strings.Repeat("x", before) + "\x00" + pprofSymbol + "\x00y"
		if ok, err := containsSymbol(strings.NewReader(text), pprofSymbol); !ok || err != nil {
			t.Errorf("behind %d bytes: %v, %v", before, ok, err)
		}
	}
	if ok, _ := containsSymbol(strings.NewReader("\x00"+pprofSymbol+"X\x00"), pprofSymbol); ok {
		t.Error("found another name")
	}
}
