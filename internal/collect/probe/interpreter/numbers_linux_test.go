package interpreter

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// A thread is found by the number that its process knows, and others are not.
func TestNumbers(t *testing.T) {
	n := newNumbers(os.Getpid())
	if got := n.find(os.Getpid()); got != os.Getpid() {
		t.Errorf("own: %d", got)
	}
	if got := n.find(os.Getppid()); got != 0 {
		t.Errorf("of the parent: %d", got)
	}
}

// In a container the process's own numbers are not the host's.
func TestPythonInNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a namespace of PIDs needs root")
	}
	python := pythons(t)[0]
	file := filepath.Join(t.TempDir(), "shop.py")
	if err := os.WriteFile(file, []byte(waiting), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, file)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	child := probetest.PlayCommand(t, c)
	s, _, err := openStacks(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	tids := make(map[int]bool)
	if _, err := s.Look(func(x Thread) { tids[x.ID] = true }); err != nil {
		t.Fatal(err)
	}
	if !tids[child.Process.Pid] || tids[0] || len(tids) < 2 {
		t.Errorf("threads %v of process %d", tids, child.Process.Pid)
	}
}
