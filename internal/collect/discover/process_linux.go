package discover

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// process is one as it is looked at.
type process struct {
	pid int
	stat
	status
	exe     string // "" unreadable
	mounts  string // mount namespace, "" unreadable
	command string // what it says it was started as, without arguments
	program string // what it runs, if it is a launcher of programs, "" unknown
	host    *host
}

// openProcess reads what every user may read of a process, and where its executable is.
func (h *host) openProcess(pid int) (*process, error) {
	p := &process{pid: pid, host: h}
	var err error
	if p.stat, err = readStat(pid); err != nil {
		return nil, err
	}
	if p.status, err = readStatus(pid); err != nil {
		return nil, err
	}
	p.locateProgram()
	return p, nil
}

func (p *process) locateProgram() {
	if exe, err := os.Readlink(procPath(p.pid, "exe")); err == nil {
		p.exe = strings.TrimSuffix(exe, " (deleted)") // it was replaced while it runs
	}
	p.mounts, _ = os.Readlink(procPath(p.pid, "ns/mnt"))
	words := readCommand(p.pid)
	p.command = words[0]
	for _, r := range p.host.known {
		if r.Program != nil && slices.Contains(r.Launchers, p.comm) {
			p.program = r.Program(words)
		}
	}
}

// commandLimit is how much of a command line is read: what a launcher runs may
// stand behind a class path of hundreds of files.
const commandLimit = 128 << 10

// readCommand is a process's command line, of which only what names its program
// may be kept: the rest may hold secrets. Programs may write over it. There is
// always a first word.
func readCommand(pid int) []string {
	f, err := os.Open(procPath(pid, "cmdline"))
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	line, _ := io.ReadAll(io.LimitReader(f, commandLimit))
	return strings.Split(string(line), "\x00")
}

// fullName returns what the kernel calls the process, completed where the kernel cut it at 15
// bytes; for a launcher the name of what it runs.
func (p *process) fullName() string {
	if p.program != "" {
		return p.program
	}
	for _, whole := range []string{path.Base(p.exe), path.Base(p.command)} {
		if len(p.comm) == 15 && strings.HasPrefix(whole, p.comm) {
			return whole
		}
	}
	return p.comm
}

// isCalled says whether a user may mean this process by a name.
func (p *process) isCalled(name string) bool {
	return name == p.comm || name == p.fullName() || p.exe != "" && name == path.Base(p.exe)
}

// describeTarget fills in a target, except its sockets and what is unreadable, which cost more to
// find out.
func (h *host) describeTarget(p *process) Target {
	t := Target{PID: p.pid, Name: p.fullName(), Exe: p.exe, UID: p.uid, User: h.userName(p.uid)}
	if !h.booted.IsZero() {
		t.Start = h.booted.Add(time.Duration(p.start) * tick)
	}
	t.Container = containerOf(p.pid)
	var seen Seen
	t.Runtime, seen = h.recogniseRuntime(p, t.Container)
	for _, r := range h.known {
		if r.Runtime == t.Runtime {
			t.Traits = r.Traits
		}
	}
	t.Version, t.Main = seen.Version, seen.Main
	return t
}

func containerOf(pid int) string {
	f, err := os.Open(procPath(pid, "cgroup"))
	if err != nil {
		return ""
	}
	defer f.Close()
	id, _ := parseCgroup(f) // an unreadable line leaves it unknown
	return id
}

// findUnreadable tries which files of a process this user may read, and notes those that are
// denied and who may read them. All depend on one permission: to trace the process (ptrace(2),
// PTRACE_MODE_READ_FSCREDS).
func (h *host) findUnreadable(t *Target) {
	for _, file := range []struct {
		name  string
		tried func(string) error
	}{{"environ", readByte}, {"exe", readLink}, {"fd", readAnyLink}, {"io", readByte}, {"maps", readByte}} {
		if err := file.tried(procPath(t.PID, file.name)); errors.Is(err, fs.ErrPermission) {
			t.Unreadable = append(t.Unreadable, file.name)
		}
	}
	if len(t.Unreadable) > 0 {
		t.Needs = h.requiredPrivilege(t.UID)
	}
}

// readByte reads one: some files can be opened, and are then refused.
func readByte(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Read(make([]byte, 1))
	return err
}

func readLink(name string) error {
	_, err := os.Readlink(name)
	return err
}

// readAnyLink reads a link in a directory, for which the same holds.
func readAnyLink(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	if err != nil {
		return err
	}
	return readLink(name + "/" + names[0])
}

// requiredPrivilege says which user or capability may read of a user's process what this user may
// not.
func (h *host) requiredPrivilege(uid int) string {
	switch us := os.Geteuid(); {
	case us == 0:
		return "CAP_SYS_PTRACE" // root in a container has been denied it
	case us == uid || uid == 0:
		return "root" // if ours, it has more rights than we have, or hides itself (prctl(2), PR_SET_DUMPABLE)
	}
	return "root or user " + h.userName(uid)
}
