package tracepoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ErrNoTypes is returned if the kernel does not describe its types.
var ErrNoTypes = errors.New("the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF, Linux 5.4 and later)")

// ErrContainer is returned if processes have other PIDs than the kernel's: a program would watch another process.
var ErrContainer = errors.New("this container has its own PID namespace")

// hostPIDs is the first PID namespace: PROC_PID_INIT_INO in include/linux/proc_ns.h.
const hostPIDs = "pid:[4026531836]"

// Try says why no program can be loaded, as far as that is known without loading one; nil: it can be tried.
func Try() error {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil && ns != hostPIDs {
		return ErrContainer
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); errors.Is(err, fs.ErrNotExist) {
		return ErrNoTypes
	}
	spec := &ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}
	m, err := ebpf.NewMap(spec)
	if errors.Is(err, unix.EPERM) {
		// Before 5.11 maps count as locked memory. The library's package for that asks the kernel whenever
		// the program starts, which takes a quarter of the time in which it does.
		_ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
		m, err = ebpf.NewMap(spec)
	}
	if err != nil {
		return err
	}
	return m.Close()
}

// MonotonicOffset returns the offset from the kernel's monotonic clock to ns since the epoch.
func MonotonicOffset() int64 {
	var m unix.Timespec
	before := time.Now().UnixNano()
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &m) != nil {
		return 0
	}
	return (before+time.Now().UnixNano())/2 - m.Nano()
}

// Explain says why programs were not loaded, and what would help. more says what helps beside running as root.
func Explain(err error, pid int, more string) (why, do string) {
	why, do = "eBPF: "+FirstLine(err), fmt.Sprintf("sudo unstall %d%s, or: sudo setcap cap_perfmon,cap_bpf+ep unstall", pid, more)
	switch {
	case errors.Is(err, ErrContainer):
		return err.Error(), "run unstall on the host, or with --pid=host"
	case errors.Is(err, ErrNoTypes):
		return ErrNoTypes.Error(), "a kernel with CONFIG_DEBUG_INFO_BTF"
	case errors.Is(err, unix.EPERM) && os.Geteuid() == 0:
		return "this kernel or container does not let eBPF programs in", "run unstall on the host; a kernel in lockdown (confidentiality) must be booted without"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return "only root may load eBPF programs", do
	}
	return why, do
}

// FirstLine returns the first line of an error, shortened for reading.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line[:min(len(line), 200)]
}
