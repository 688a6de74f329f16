package linux

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// The figures of a process's own group of version 2 are recorded, also beside hierarchies of version 1.
func TestGroupOfVersion2(t *testing.T) {
	mount, ok := cgroupMounts()[""]
	if !ok {
		t.Skip("control groups of version 2 are not mounted here")
	}
	name := "unstall-test-" + strconv.Itoa(os.Getpid())
	group := filepath.Join(mount.point, name)
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			err := os.Remove(group)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				return
			}
			if time.Now().After(deadline) {
				t.Error(err)
				return
			}
		}
	})
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := probetest.Begin(t, probetest.One(t, Probe.Find, discover.Target{PID: child.Process.Pid}))
	r.Wait(t, "procfs.txt", moments(4))
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	for _, k := range r.Kept {
		if k.Meta.Name != "procfs.txt" {
			continue
		}
		if at := " /sys/fs/cgroup" + filepath.Join(mount.root, name) + "/cpu.stat --"; !strings.Contains(k.String(), at) {
			t.Errorf("it does not hold %s", at)
		}
	}
	if b := r.Read(t, "procfs.txt"); b.SeriesOf(1, evidence.SeriesCgroupCPUUser) == nil {
		t.Error("nothing says how much CPU time the group used")
	}
}
