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

// process holds what is read of a process.
type process struct {
	pid int
	stat
	status
	exe     string // "" unreadable
	mounts  string // mount namespace, "" unreadable
	command string // first word of its command line
	program string // the program it runs, if it is a launcher, "" unknown
	host    *host
}

// openProcess reads what every user may read of a process, and the path of its executable.
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
		p.exe = strings.TrimSuffix(exe, " (deleted)") // the executable was replaced while it runs
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

// commandLimit bounds how much of a command line is read. A launcher's program may follow a class path of hundreds of files.
const commandLimit = 128 << 10

// readCommand returns a process's command line. Callers may keep only what names the program, because the rest may hold secrets. A
// process may overwrite its command line. The result always has a first word.
func readCommand(pid int) []string {
	f, err := os.Open(procPath(pid, "cmdline"))
	if err != nil {
		return []string{""}
	}
	defer f.Close()
	line, _ := io.ReadAll(io.LimitReader(f, commandLimit))
	return strings.Split(string(line), "\x00")
}

// fullName returns the kernel's name of the process, completed if the kernel cut it at 15 bytes. For a launcher it returns the name of
// the program it runs.
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

// describeTarget fills in a target, except its sockets and unreadable files, which cost more to find.
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
	id, _ := parseCgroup(f) // on an unreadable line the ID stays unknown
	return id
}

// findUnreadable tries which files of a process this user may read. It notes the denied ones and who may read them. All depend on one
// permission: to trace the process (ptrace(2), PTRACE_MODE_READ_FSCREDS).
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

// readByte reads one byte, because some files can be opened but not read.
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

// readAnyLink reads a link in a directory, because some directories can be opened although their links cannot be read.
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

// requiredPrivilege says which user or capability may read the files of a user's process that this user may not read.
func (h *host) requiredPrivilege(uid int) string {
	switch us := os.Geteuid(); {
	case us == 0:
		return "CAP_SYS_PTRACE" // we are root in a container without this capability
	case us == uid || uid == 0:
		return "root" // a process of our user has more rights than we have, or hides itself (prctl(2), PR_SET_DUMPABLE)
	}
	return "root or user " + h.userName(uid)
}
