package probetest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// role is the variable by which a test program knows that it is a target.
const role = "UNSTALL_TEST_ROLE"

// Main is a package's TestMain: the tests, or, in a child of theirs, one of its roles.
func Main(m *testing.M, roles map[string]func(args []string)) {
	if play := roles[os.Getenv(role)]; play != nil {
		play(os.Args[1:])
		os.Exit(0)
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
	c := &Child{Cmd: Role(as, args...)}
	c.Env = append(c.Env, env...)
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
