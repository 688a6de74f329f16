package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// program runs this test binary as one of the programs of [TestMain]. It ends with the test.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Args[0] = name
	t.Cleanup(func() {
		if c.Process != nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// A command runs without transparent huge pages, while the shell that started it keeps them.
func TestRun(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	enabled := func(args ...string) string {
		b, err := program(t, "unstall", append([]string{"run"}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, b)
		}
		return strings.TrimSpace(string(b))
	}
	const status = "/proc/self/status"
	if b, err := os.ReadFile(status); err != nil || !strings.Contains(string(b), "THP_enabled:") {
		t.Skip("this kernel does not say whether a process has them")
	}
	if got := enabled("--thp=off", "--", "sh", "-c", "exec grep THP_enabled "+status); got != "THP_enabled:\t0" {
		t.Error(got)
	}
	if got := enabled("--thp=off", "--", os.Args[0], "-test.run=^$"); !strings.Contains(got, "PASS") {
		t.Error(got)
	}
	if got := enabled("--thp=host", "--", "grep", "THP_enabled", status); got != "THP_enabled:\t1" {
		t.Error(got)
	}
	if got := enabled("--thp=off", "--", "sh", "-c", "exit 7"); got != "exit status 7: " {
		t.Error(got)
	}
	if got := enabled("--thp=off", "--", "no-such-command"); got != "exit status 3: unstall: no-such-command: executable file not found in $PATH\n" {
		t.Errorf("%q", got)
	}
	if got := enabled("--thp=off"); !strings.HasPrefix(got, "exit status 2: unstall: ") {
		t.Error(got)
	}
	if got := enabled("--thp=advised", "--", "true"); got != "" && !strings.Contains(got, "Linux 6.18 can") {
		t.Error(got)
	}
}
