package probetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// role is the variable by which a test program knows that it is a target.
const role = "UNSTALL_TEST_ROLE"

// Main is a package's TestMain: the tests, or, in a child of theirs, one of its roles.
func Main(m *testing.M, roles map[string]func(args []string)) {
	as := os.Getenv(role)
	switch play := roles[as]; {
	case play != nil:
		play(os.Args[1:])
		os.Exit(0)
	case as != "": // its tests would start children without end
		fmt.Fprintf(os.Stderr, "there is no role %s: add it to TestMain\n", as)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// Role is the test program in another role, for a child that starts children.
func Role(as string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), role+"="+as)
	return c
}

// Child is the test program in another role; it ends with the test.
type Child struct {
	*exec.Cmd
	Said string // its first line

	in  io.WriteCloser
	out *bufio.Reader
}

// Play starts a child, which must say a line. Its standard input ends with the test.
func Play(t testing.TB, as string, env []string, args ...string) *Child {
	t.Helper()
	c := Role(as, args...)
	c.Env = append(c.Env, env...)
	return startChild(t, c)
}

// PlayBuilt builds a program of Go and starts it; it must say a line. Unlike the test program it has its symbols. The test is skipped where
// there is no go tool.
func PlayBuilt(t testing.TB, text string, flags ...string) *Child {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("it needs the go tool")
	}
	dir := t.TempDir()
	source, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(tool, append(append([]string{"build"}, flags...), "-o", bin, source)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return startChild(t, exec.Command(bin))
}

// PlayCommand starts another program; it must say a line.
func PlayCommand(t testing.TB, c *exec.Cmd) *Child {
	t.Helper()
	return startChild(t, c)
}

// startChild starts a child, which must say a line.
func startChild(t testing.TB, command *exec.Cmd) *Child {
	t.Helper()
	c := &Child{Cmd: command}
	c.Stderr = os.Stderr
	var err error
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.in.Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	c.out = bufio.NewReader(out)
	c.Said = c.readLine(t)
	return c
}

func (c *Child) readLine(t testing.TB) string {
	t.Helper()
	text, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal("the child said nothing more: ", err)
	}
	return strings.TrimSpace(text)
}

// Ask gives the child a line and waits for the one it answers.
func (c *Child) Ask(t testing.TB, what string) string {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, what); err != nil {
		t.Fatal(err)
	}
	return c.readLine(t)
}
