package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/diagnose"
)

// confine is the program "confine" of the tests. It runs a command that sees less of its host. In a mount namespace of its own
// it takes away what is named before "--", and then becomes the command:
//
//	hide PATH         nothing is there but an empty folder
//	file PATH FROM    another file is there
//	v2 PATH           control groups of version 2 are there, and nothing else
//	readonly PATH     nothing there can be written
//	refuse N ERRNO    a system call fails
//	user N            it is run by this user
//	proc              its processes are numbered from 1; the command's {} is one of them
func confine() {
	runtime.LockOSThread() // a refusal applies to this thread
	if err := confined(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(99)
	}
}

func confined(args []string) error {
	self, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for len(args) > 0 && args[0] != "--" {
		used, err := takeAway(args)
		if err != nil {
			return fmt.Errorf("%v: %w", args, err)
		}
		args = args[used:]
	}
	if len(args) < 2 {
		return errors.New("no command")
	}
	return become(self, args[1:])
}

// become runs an open program, even if its path is hidden.
func become(program int, args []string) error {
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	none := [1]byte{}
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(&none)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}

func takeAway(args []string) (used int, err error) {
	switch args[0] {
	case "hide":
		return 2, unix.Mount("none", args[1], "tmpfs", 0, "mode=0755")
	case "file":
		return 3, unix.Mount(args[2], args[1], "", unix.MS_BIND, "")
	case "v2":
		return 2, unix.Mount("none", args[1], "cgroup2", 0, "")
	case "readonly":
		if err := unix.Mount(args[1], args[1], "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return 0, err
		}
		return 2, unix.Mount("", args[1], "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	case "refuse":
		n, _ := strconv.Atoi(args[1])
		errno, _ := strconv.Atoi(args[2])
		return 3, refuse(uint32(n), uint32(errno))
	case "user":
		n, _ := strconv.Atoi(args[1])
		return 2, errors.Join(unix.Setgroups(nil), unix.Setgid(n), unix.Setuid(n))
	case "proc":
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			return 0, err
		}
		inside := exec.Command("/proc/self/exe")
		inside.Args[0] = "touch"
		if err := inside.Start(); err != nil {
			return 0, err
		}
		for i, a := range args {
			if a == "{}" {
				args[i] = strconv.Itoa(inside.Process.Pid)
			}
		}
		return 1, nil
	}
	return 0, errors.New("what is it")
}

// refuse makes a system call fail (seccomp(2)), as container runtimes do.
func refuse(call, errno uint32) error {
	const allow, fail = 0x7fff0000, 0x00050000
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: fail | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: allow},
	}
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}

// confinedRun runs unstall on a host that lacks something.
func confinedRun(t *testing.T, away []string, args ...string) (out, said string, code int) {
	t.Helper()
	c := program(t, "confine", append(append(away, "--", "unstall"), args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if away[0] == "proc" {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	}
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code = c.ProcessState.ExitCode(); code == 99 {
		t.Skipf("less cannot be seen here: %s", e.String())
	}
	return o.String(), e.String(), code
}

// without returns a copy of the kernel's type description (BTF) without one of its tracepoints.
func without(t *testing.T, tracepoint string) string {
	t.Helper()
	const types = "/sys/kernel/btf/vmlinux"
	b, err := os.ReadFile(types)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this kernel does not describe its types")
	} else if err != nil {
		t.Fatal(err)
	}
	name := []byte("\x00btf_trace_" + tracepoint + "\x00")
	at := bytes.Index(b, name)
	if at < 0 {
		t.Skip("this kernel has no tracepoint " + tracepoint)
	}
	b[at+1] = 'B'
	to := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// lessHere is something that a host may lack, and the one line that reports it.
type lessHere struct {
	name string
	away func(t *testing.T) []string
	want string // contained in "WHAT; WHY; DO"; "": nothing is missing
	also bool   // other lines may occur, too
}

func taken(away ...string) func(*testing.T) []string {
	return func(*testing.T) []string { return away }
}

// For each thing that a host lacks, one line says so and what to do. Everything else is recorded, and no setting stays changed.
func TestConfined(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("taking something away takes root")
	}
	probetest.HugePages(t, false)
	bpf, perf := strconv.Itoa(unix.SYS_BPF), strconv.Itoa(unix.SYS_PERF_EVENT_OPEN)
	eperm, enosys := strconv.Itoa(int(unix.EPERM)), strconv.Itoa(int(unix.ENOSYS))
	for _, c := range []lessHere{
		{"everything", taken("hide", t.TempDir()), "", false},
		{"no tracefs", taken("hide", "/sys/kernel/tracing", "hide", "/sys/kernel/debug"), "", false},
		{"a read-only sys", taken("readonly", "/sys"), "", false},
		{"no PSI", taken("hide", "/proc/pressure"), "this kernel does not measure it; boot with psi=1", false},
		{"no huge pages", taken("hide", "/sys/kernel/mm"), "settings of huge pages", false},
		{"no BTF", taken("hide", "/sys/kernel/btf"), "stacks of waiting threads; the kernel does not describe its types", false},
		{"a tracepoint missing", func(t *testing.T) []string {
			return []string{"file", "/sys/kernel/btf/vmlinux", without(t, "mm_compaction_begin")}
		}, "compaction", false},
		{"eBPF locked", taken("refuse", bpf, eperm), "stacks of waiting threads; this kernel or container does not let eBPF programs in; run unstall on the host", false},
		{"no eBPF", taken("refuse", bpf, enosys), "stacks of waiting threads", false},
		{"perf events refused", taken("refuse", perf, eperm), "stacks of running threads", false},
		{"no perf events", taken("refuse", perf, enosys), "stacks of running threads; this kernel has no perf events", false},
		{"no control groups", taken("hide", "/sys/fs/cgroup"), "control group", false},
		{"control groups of version 2", taken("hide", "/sys/fs/cgroup", "v2", "/sys/fs/cgroup"), "", false},
		{"no root", taken("user", "65534"), "only root may load eBPF programs", true},
		{"a container", taken("proc"), "processes outside this container", true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			before := settings(t)
			d := c.run(t)
			if after := settings(t); after != before {
				t.Errorf("left changed:\n%s\nwas:\n%s", after, before)
			}
			found := 0
			for _, n := range d.NotSeen {
				line := n.What + "; " + n.Why + "; " + n.Do
				if strings.ContainsAny(line, "\n") || n.What == "" || n.Why == "" || n.Do == "" {
					t.Errorf("not one line with what to do: %+v", n)
				}
				if strings.Contains(line, c.want) && c.want != "" {
					found++
				} else if !c.also && !strings.HasPrefix(n.What, "requests") && !strings.HasPrefix(n.What, "CPU profile") {
					t.Errorf("also said to be missing: %s", line)
				}
			}
			if want := min(1, len(c.want)); found != want {
				t.Errorf("%q is said %d times, want %d: %+v", c.want, found, want, d.NotSeen)
			}
			if len(d.Coverage) == 0 {
				t.Error("nothing was recorded")
			}
		})
	}
}

func (c lessHere) run(t *testing.T) *diagnose.Diagnosis {
	t.Helper()
	away := c.away(t)
	pid := "{}"
	if away[0] != "proc" {
		target := program(t, "touch")
		if away[0] == "user" {
			target = program(t, "confine", append(away, "--", "touch")...)
			target.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		}
		if err := target.Start(); err != nil {
			t.Fatal(err)
		}
		pid = strconv.Itoa(target.Process.Pid)
	}
	dir, err := os.MkdirTemp("", "unstall-confined-") // any user may write into it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	out, said, code := confinedRun(t, away, pid, "--for", time.Second.String(), "--capture", dir+"/x.unstall", "--format", "json")
	d := new(diagnose.Diagnosis)
	if err := json.Unmarshal([]byte(out), d); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, said)
	}
	return d
}

// settings are the host's settings that a recording could change.
func settings(t *testing.T) string {
	t.Helper()
	var s strings.Builder
	for _, f := range []string{"/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/transparent_hugepage/defrag",
		"/proc/sys/kernel/perf_event_paranoid", "/proc/sys/kernel/bpf_stats_enabled", "/proc/sys/kernel/sched_schedstats", "/proc/sys/kernel/task_delayacct"} {
		b, err := os.ReadFile(f)
		fmt.Fprintf(&s, "%s: %s %v\n", f, bytes.TrimSpace(b), err)
	}
	groups, _ := filepath.Glob("/sys/fs/cgroup/*unstall*")
	fmt.Fprintln(&s, groups)
	return s.String()
}

// A setting that cannot be written is reported in one line, and stays unchanged.
func TestTryReadOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("taking something away takes root")
	}
	before := settings(t)
	target := program(t, "touch")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, away := range [][]string{{"readonly", "/sys"}, {"hide", "/sys/kernel/mm"}} {
		_, said, code := confinedRun(t, away, "try", "thp=never", "--host", "--target", strconv.Itoa(target.Process.Pid), "--for", "12s", "--capture", t.TempDir()+"/x.unstall")
		if code == 0 || !strings.Contains(said, "unstall: ") || strings.Contains(said, "panic") {
			t.Errorf("%v: exit %d: %s", away, code, said)
		}
		t.Log(said)
		if after := settings(t); after != before {
			t.Errorf("%v left changed:\n%s", away, after)
		}
	}
}
