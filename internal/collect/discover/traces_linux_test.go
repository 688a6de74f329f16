package discover

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The files of a killed process do not count for the next process with its PID.
func TestTracesOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hsperfdata_app"), 0o755); err != nil {
		t.Fatal(err)
	}
	counters := filepath.Join(dir, "hsperfdata_app", "4711")
	if err := os.WriteFile(counters, hsperfdata(binary.LittleEndian, "java.property.java.version", "21.0.2"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHost(nil)
	h.left[h.mounts+" hsperfdata_*/*"] = []string{counters}
	of := func(pid int, started uint64, uid int) *process {
		return &process{pid: pid, host: h, mounts: h.mounts, stat: stat{comm: "app", start: started}, status: status{tgid: pid, uid: uid}}
	}
	us := os.Geteuid()
	soon := uint64(time.Since(h.booted)/tick) + 360000
	for _, c := range []struct {
		p    *process
		want string
	}{
		{of(4711, 1, us), "jvm 21.0.2"},
		{of(4711, soon, us), " "}, // the process started after the file was last written
		{of(4711, 1, us+1), " "},  // another user's
		{of(4713, 1, us), " "},
	} {
		// Processes with such PIDs may run here, so only the traces are checked.
		got := " "
		if seen, ok := c.p.Hotspot(); ok {
			got = "jvm " + seen.Version
		}
		if got != c.want {
			t.Errorf("pid %d, started %d, user %d: %q, want %q", c.p.pid, c.p.start, c.p.uid, got, c.want)
		}
	}
}

func TestOpenRegular(t *testing.T) {
	// Opening a pipe in the file's place must not block.
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openRegular(fifo); err == nil {
		t.Error("opened a pipe")
	}
	if _, _, err := openRegular(fmt.Sprintf("/proc/%d/exe", os.Getpid())); err == nil {
		t.Error("followed a link")
	}
}
