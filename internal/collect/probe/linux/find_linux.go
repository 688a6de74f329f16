package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none where there is no /proc.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 {
		return nil
	}
	dir := fmt.Sprintf("/proc/%d", t.PID)
	if _, err := os.Stat(dir + "/stat"); err != nil {
		return nil
	}
	return []probe.Access{{
		Probe: name,
		Where: dir,
		Lacks: listLacks(t, dir),
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordProcess(ctx, t, plan, sink)
		},
	}}
}

// listLacks tries the files that only the owner of a process and root may read, and returns a lack
// for each that is denied.
func listLacks(t discover.Target, dir string) (out []probe.Lack) {
	why, do := "the kernel lets only root read it", fmt.Sprintf("sudo unstall %d", t.PID)
	switch {
	case os.Geteuid() == 0: // of a container, or confined
		why, do = "root may not read it without full privileges", fmt.Sprintf("run unstall %d as root of the host or with the capability SYS_PTRACE", t.PID)
	case t.UID != os.Geteuid() && t.User != "":
		why = "belongs to user " + t.User
	}
	environment := "environment"
	if t.Traits.Settings != "" {
		environment += " (" + t.Traits.Settings + ")"
	}
	for _, x := range []struct{ what, file string }{
		{environment, "environ"},
		{"log files it has open", "fd"},
		{"connections that wait for it to accept or to read them", "fd"},
		{"build info of the program", "exe"},
		{"bytes read and written", "io"},
		{"the system calls its threads wait in, and on which file", "syscall"},
		{"how much of its memory is in huge pages", "smaps_rollup"},
	} {
		if isDenied(filepath.Join(dir, x.file)) {
			out = append(out, probe.Lack{What: x.what, Why: why, Do: do})
		}
	}
	out = append(out, kernelLacks(dir)...)
	switch ns, err := os.Readlink("/proc/self/ns/pid"); {
	case err == nil && ns != hostPIDs:
		out = append(out, probe.Lack{What: "processes outside this container", Why: "this container has its own PID namespace", Do: "run unstall on the host, or with --pid=host"})
	case hidesOthers():
		out = append(out, probe.Lack{What: "processes of other users", Why: "/proc is mounted with hidepid", Do: fmt.Sprintf("sudo unstall %d", t.PID)})
	}
	return out
}

// hostPIDs is the first PID namespace: PROC_PID_INIT_INO in
// include/linux/proc_ns.h.
const hostPIDs = "pid:[4026531836]"

// isDenied says whether a file of a process exists and may not be read.
func isDenied(path string) bool {
	f, err := os.Open(path)
	if err == nil {
		// The check of an environment or of io is made when it is read, that of memory before.
		var b [1]byte
		if filepath.Base(path) != "smaps_rollup" {
			if _, err = f.Read(b[:]); !errors.Is(err, fs.ErrPermission) {
				err = nil
			}
		}
		_ = f.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}

// hidesOthers says whether /proc shows this user only processes of its own.
func hidesOthers() bool {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || os.Geteuid() == 0 {
		return false
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 4 && f[4] == "/proc" && strings.Contains(line, "hidepid=") && !strings.Contains(line, "hidepid=0") && !strings.Contains(line, "hidepid=off") {
			return true
		}
	}
	return false
}
