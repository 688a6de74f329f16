package attach

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/base/hsperf"
)

// Find examines a process, without affecting it, and returns its listener if this user can attach to it. The error is a [*Problem].
func Find(pid int) (*VM, error) {
	v := &VM{pid: pid}
	s, err := readStatus(pid)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, deniedError(pid, "the process")
	case err != nil:
		return nil, newProblem(pid, "", "run unstall without arguments to list what runs here", ErrGone)
	}
	v.inner, v.uid, v.gid = s.inner, s.uid, s.gid
	if v.start, err = readStartTime(pid); err != nil {
		return nil, newProblem(pid, "", "run unstall without arguments to list what runs here", ErrGone)
	}
	if us := os.Geteuid(); us != 0 && us != v.uid {
		return nil, deniedError(pid, "the process")
	}
	v.root = rootOf(pid)
	if err := checkHotspot(pid); err != nil {
		return nil, err
	}
	if us := os.Geteuid(); us != 0 && os.Getegid() != v.gid {
		return nil, newProblem(pid, fmt.Sprintf("its group is %s: a JVM answers its own user and group only", groupName(v.gid)),
			fmt.Sprintf("sudo unstall %d", pid), ErrDenied)
	}
	if _, err := os.Stat(v.root + "/tmp/."); errors.Is(err, fs.ErrPermission) {
		return nil, deniedError(pid, v.root+"/tmp")
	}
	if flag := v.disablingFlag(); flag != "" {
		return nil, newProblem(pid, "it runs with "+flag, "restart it without "+flag+"; data from /proc and hsperfdata is recorded anyway", ErrDisabled)
	}
	return v, nil
}

// status is the used part of /proc/PID/status.
type status struct {
	inner    int
	uid, gid int // effective
	caught   bool
}

// readStatus reads ids and whether SIGQUIT is caught: proc_pid_status(5).
func readStatus(pid int) (status, error) {
	s := status{inner: pid}
	text, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return s, err
	}
	var catches, ignores bool
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		f := strings.Fields(value)
		if len(f) == 0 {
			continue
		}
		switch key {
		case "NSpid": // Linux 4.1
			s.inner, _ = strconv.Atoi(f[len(f)-1])
		case "Uid":
			s.uid, _ = strconv.Atoi(f[min(1, len(f)-1)])
		case "Gid":
			s.gid, _ = strconv.Atoi(f[min(1, len(f)-1)])
		case "SigCgt":
			catches = hasQuit(f[0])
		case "SigIgn":
			ignores = hasQuit(f[0])
		}
	}
	s.caught = catches && !ignores
	return s, nil
}

func hasQuit(mask string) bool {
	m, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && m&(1<<(uint(syscall.SIGQUIT)-1)) != 0
}

// readStartTime returns when a process was started, in ticks after boot: field 22 of its stat
// file. The error is ErrGone if the process has ended.
func readStartTime(pid int) (uint64, error) {
	f, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(f[22-3], 10, 64)
}

// readStat returns the fields after the name in a process's stat file, the state first. The error
// is ErrGone if the process has ended.
func readStat(pid int) ([]string, error) {
	text, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return nil, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 22 || f[0] == "Z" || f[0] == "X" {
		return nil, ErrGone
	}
	return f, nil
}

// Ended says whether the process has ended.
func (v *VM) Ended() bool {
	at, err := readStartTime(v.pid)
	return err != nil && !errors.Is(err, fs.ErrPermission) || err == nil && at != v.start
}

// Stopped says whether a process is stopped by a signal or a debugger. It answers nothing until it continues.
func Stopped(pid int) bool { return isStopped(pid) }

func isStopped(pid int) bool {
	f, err := readStat(pid)
	return err == nil && (f[0] == "T" || f[0] == "t")
}

// rootOf returns the prefix of a process's paths on this host.
func rootOf(pid int) string {
	root := procPath(pid, "root")
	ours, err := os.Readlink("/proc/self/ns/mnt")
	theirs, err2 := os.Readlink(procPath(pid, "ns/mnt"))
	if top, e := os.Readlink(root); err == nil && err2 == nil && ours == theirs && e == nil && top == "/" {
		return ""
	}
	return root
}

// checkHotspot returns an error that says why a process is no HotSpot JVM, by the libraries it has
// mapped. OpenJ9 brings a libjvm.so too, which passes everything on to its own library.
func checkHotspot(pid int) error {
	f, err := os.Open(procPath(pid, "maps"))
	if err != nil {
		return deniedError(pid, procPath(pid, "maps"))
	}
	defer f.Close()
	found := false
	const most = 8 << 20
	lines := bufio.NewScanner(io.LimitReader(f, most))
	lines.Buffer(make([]byte, 16<<10), 64<<10)
	for lines.Scan() {
		i := bytes.IndexByte(lines.Bytes(), '/')
		if i < 0 {
			continue
		}
		library := strings.TrimSuffix(path.Base(string(lines.Bytes()[i:])), " (deleted)")
		if strings.HasPrefix(library, "libj9vm") || strings.HasPrefix(library, "libj9jit") {
			return newProblem(pid, "it is an OpenJ9 JVM, which uses a different attach protocol", "data from /proc is recorded anyway; its GC log (-Xverbosegclog) is not supported", ErrNotJVM)
		}
		found = found || library == "libjvm.so"
	}
	if errors.Is(lines.Err(), fs.ErrPermission) {
		return deniedError(pid, procPath(pid, "maps"))
	}
	if !found {
		return newProblem(pid, "libjvm.so is not among its libraries", "run unstall without arguments to list what runs here", ErrNotJVM)
	}
	return nil
}

const disableFlag = "-XX:+DisableAttachMechanism"

// disablingFlag returns the flag that switched attaching off, "" if none is visible. The counters show it for certain, however the JVM
// got the flag.
func (v *VM) disablingFlag() string {
	if d := v.readCounters(); d != nil {
		if c := d.Text("sun.rt.jvmCapabilities"); c != "" {
			if c[0] == '0' {
				return disableFlag
			}
			return ""
		}
	}
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(procPath(v.pid, file))
		if err == nil && bytes.Contains(text, []byte(disableFlag)) {
			return disableFlag
		}
	}
	return ""
}

// reducesSignals says whether a JVM was told not to handle SIGQUIT.
func (v *VM) reducesSignals() bool {
	d := v.readCounters()
	for _, flag := range []string{"-Xrs", "-XX:+ReduceSignalUsage"} {
		if d != nil && strings.Contains(" "+d.Text("java.rt.vmArgs")+" ", " "+flag+" ") {
			return true
		}
		text, err := os.ReadFile(procPath(v.pid, "cmdline"))
		if err == nil && bytes.Contains(text, []byte("\x00"+flag+"\x00")) {
			return true
		}
	}
	return false
}

// readCounters returns the JVM's counters, nil if they cannot be read.
func (v *VM) readCounters() *hsperf.Data {
	files, _ := filepath.Glob(fmt.Sprintf("%s/tmp/hsperfdata_*/%d", v.root, v.inner))
	for _, name := range files {
		f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		fi, err := f.Stat()
		if err == nil && fi.Mode().IsRegular() && isOwnedBy(fi, v.uid) {
			d, _ := hsperf.Parse(f) // the part that was read may suffice
			_ = f.Close()
			return d
		}
		_ = f.Close()
	}
	return nil
}

func isOwnedBy(fi os.FileInfo, uid int) bool {
	s, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == uid
}

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// deniedError returns an error that says which user may do what this user may not.
func deniedError(pid int, what string) error {
	do := fmt.Sprintf("run unstall %d as root of the host or with the capability SYS_PTRACE", pid)
	if fi, err := os.Stat(procPath(pid, ".")); err == nil && os.Geteuid() != 0 {
		if s, ok := fi.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
			what, do = fmt.Sprintf("%s belongs to user %s", what, userName(int(s.Uid))), fmt.Sprintf("sudo unstall %d", pid)
		}
	}
	return newProblem(pid, what, do, ErrDenied)
}

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func groupName(gid int) string {
	id := strconv.Itoa(gid)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}

func newVM(pid int, root string) *VM {
	v := &VM{pid: pid, inner: pid, uid: os.Geteuid(), gid: os.Getegid(), root: root}
	v.start, _ = readStartTime(pid)
	return v
}

// Started returns when a process was started, in ticks after boot; an error if it has ended.
func Started(pid int) (uint64, error) { return readStartTime(pid) }
