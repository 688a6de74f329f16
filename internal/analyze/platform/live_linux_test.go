package platform_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
)

// TestMain lets the test binary be other processes: what it is called and this variable say
// which.
func TestMain(m *testing.M) {
	switch os.Getenv("RUNTIME_TEST_ROLE") {
	case "idle":
		fmt.Println("up")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "redis":
		answer("+PONG\r\n")
	case "other":
		answer("HTTP/1.1 400 Bad Request\r\n\r\n")
	default:
		os.Exit(m.Run())
	}
}

// answer is a server that says the same whatever it is asked.
func answer(what string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64)
			_, _ = c.Read(buf)
			_, _ = io.WriteString(c, what)
			_ = c.Close()
		}
	}()
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestRecognises starts processes that are told by their name, by their answer, by their
// executable, and, of a runtime that is a value here, by what launches them.
func TestRecognises(t *testing.T) {
	all := platform.All
	platform.All = append(slices.Clip(all), dummy)
	t.Cleanup(func() { platform.All = all })
	dir := t.TempDir()
	for _, c := range []struct{ name, role, want string }{
		{"redis-server", "idle", "redis"},
		{"my-redis", "redis", "redis"},
		{"not-redis", "other", "go"},
	} {
		exe := filepath.Join(dir, c.name)
		copyOf(t, exe, c.role == "redis") // an executable without Go's own traces is none of Go's
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "RUNTIME_TEST_ROLE="+c.role)
		if got := resolved(t, cmd); got.Runtime != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.Runtime, c.want)
		}
	}
	script := filepath.Join(dir, "dummyrun")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho up\nread end\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := resolved(t, exec.Command(script, "shop")); got.Runtime != "dummy" || got.Version != "3" || got.Name != "shop" {
		t.Errorf("the dummy's: %+v", got)
	}
}

// What runs a JVM is told with its counters, and without.
func TestRecognisesJVM(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("there is no java here")
	}
	for _, flag := range []string{"-XX:+UsePerfData", "-XX:-UsePerfData"} {
		got := resolved(t, exec.Command(java, "-Xmx64m", "-XX:TieredStopAtLevel=1", flag, "../../collect/discover/testdata/Idle.java"))
		if got.Runtime != "jvm" || got.Version == "" || got.Version[0] < '1' || got.Version[0] > '9' {
			t.Errorf("%s: %+v", flag, got)
		}
		if main := map[bool]string{true: "Main"}[flag == "-XX:+UsePerfData"]; got.Main != main {
			t.Errorf("%s: main %q, want %q", flag, got.Main, main)
		}
	}
}

// resolved starts a program that prints a line when it is ready and ends when its standard
// input does, and looks at it.
func resolved(t *testing.T, cmd *exec.Cmd) discover.Target {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%s: not ready: %v", cmd.Path, err)
	}
	got, err := discover.Resolve(t.Context(), fmt.Sprint(cmd.Process.Pid), platform.Recognisers())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// copyOf puts the test binary into a file, on request without the name of the section that
// tells a Go program.
func copyOf(t *testing.T, exe string, hidden bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if hidden {
		if text = strings.ReplaceAll(text, "\x00.go.buildinfo\x00", "\x00.no.buildinfo\x00"); text == string(data) {
			t.Fatal("the test binary has no section .go.buildinfo")
		}
	}
	if err := os.WriteFile(exe, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
