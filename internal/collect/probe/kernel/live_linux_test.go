package kernel

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/kernelstacks"
)

func TestMain(m *testing.M) {
	probetest.Main(m, map[string]func([]string){
		"faults": func([]string) { fmt.Println("ready"); touchMemory() },
		"fsync":  func(args []string) { fmt.Println("ready"); syncFile(args[0]) },
		"futex":  func([]string) { fmt.Println("ready"); waitForLock() },
		"crowd":  func([]string) { crowd() },
		"master": func(args []string) { startWorkers(args[0]) },
	})
}

// touchMemory maps memory, touches each page of it once, and gives it back.
func touchMemory() {
	for {
		b, err := unix.Mmap(-1, 0, 16<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		_ = unix.Munmap(b)
	}
}

// syncFile writes a file and waits until it is on the disk, some hundred times a second at most. More waits than that are not reported one by one.
func syncFile(path string) {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	for block := make([]byte, 1<<20); ; {
		if _, err := f.WriteAt(block, 0); err != nil {
			panic(err)
		}
		block[0]++
		if err := f.Sync(); err != nil {
			panic(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// waitForLock waits on an unchanged word of memory, 20 ms at a time.
func waitForLock() {
	var word uint32
	for limit := unix.NsecToTimespec(20e6); ; {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 0, 0, uintptr(unsafe.Pointer(&limit)), 0, 0)
	}
}

// startWorkers starts two workers of its own name and a child of another one, and waits until its standard input ends.
func startWorkers(path string) {
	runtime.LockOSThread() // children end with the thread that started them
	ready := "ready"
	for _, c := range []*exec.Cmd{probetest.Role("faults"), probetest.Role("fsync", path), exec.Command("sh", "-c", "while :; do :; done")} {
		c.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL} // the master is killed
		if err := c.Start(); err != nil {
			panic(err)
		}
		ready += fmt.Sprint(" ", c.Process.Pid)
	}
	fmt.Println(ready)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// crowd has one thread that repeatedly sleeps for a moment, on a CPU that other threads use.
func crowd() {
	runtime.GOMAXPROCS(8)
	var one unix.CPUSet
	one.Set(0)
	for range 3 {
		go func() {
			runtime.LockOSThread()
			_ = unix.SchedSetaffinity(0, &one)
			for { //nolint:staticcheck // it is to keep the CPU busy
			}
		}()
	}
	runtime.LockOSThread()
	_ = unix.SchedSetaffinity(0, &one)
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) // it does not get the CPU at once
	fmt.Println("ready", unix.Gettid())
	for moment := unix.NsecToTimespec(2e6); ; {
		_ = unix.Nanosleep(&moment, nil)
	}
}

func access(t *testing.T, pid int) probe.Access {
	t.Helper()
	found := findAccess(t.Context(), discover.Target{PID: pid})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	return found[0]
}

// lostOnBusyHost begins the warning that counts what came faster than it was read: on a host whose CPUs other tests use that is no fault.
const lostOnBusyHost = "what the recorder could not keep up with: "

// read returns the recorded text of an artifact.
func read(t *testing.T, r *probetest.Recording, name string) *evidence.Bundle {
	t.Helper()
	for _, a := range r.Kept {
		if a.Meta.Name == name {
			b := evidence.NewBundle()
			if err := format.Read(t.Context(), []format.Format{kernelstacks.Format}, formattest.Artifact(name, a.Bytes()), b); err != nil {
				t.Fatal(err)
			}
			for _, w := range b.Warnings {
				if strings.HasPrefix(w.Text, lostOnBusyHost) {
					t.Log(w.Text)
					continue
				}
				t.Errorf("%s: %s", name, w.Text)
			}
			for _, x := range b.Tables {
				t.Log(x)
			}
			return b
		}
	}
	t.Fatalf("no %s was recorded; warnings %q", name, r.Warnings)
	return nil
}

// Stacks of a thread with page faults show the fault and the function that touched the memory.
func TestRunning(t *testing.T) {
	if how, why := tryRunning(os.Getpid()); how != ofCPUs {
		t.Skipf("it needs root or the capability PERFMON: %v", why)
	}
	c := probetest.Play(t, "faults", nil)
	r := probetest.Begin(t, access(t, c.Process.Pid))
	r.Wait(t, "oncpu.txt", func(b []byte) bool { return bytes.Count(b, []byte("\nr ")) > 50 })
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := read(t, r, "oncpu.txt")
	var all, faults, named int64
	x := &b.Samples
	for i := range x.Len() {
		all += x.Value[i]
		if b.Names.Text(x.Class[i]) == evidence.KernelPageFault {
			faults += x.Value[i]
			for _, f := range b.Stacks.Frames(x.Stack[i]) {
				if b.Names.Text(f.Func) == "github.com/unstall/unstall/internal/collect/probe/kernel.touchMemory" {
					named += x.Value[i]
					break
				}
			}
		}
	}
	if faults < all/3 || named < faults*9/10 {
		t.Errorf("of %v ns of CPU time %v are page faults, of which the function is named for %v", all, faults, named)
	}
}

// A wait for a disk is told from a wait for a lock, with the file and with the waiting function.
func TestWaiting(t *testing.T) {
	if err := tryWaiting(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	w, err := openWaiting(newFamily(os.Getpid(), false))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range spans {
		if !w.spans.on[i] && (len(w.spans.missing) == 0 || strings.HasPrefix(w.spans.missing[0].Why, "eBPF")) {
			t.Errorf("%s: %+v", x.name, w.spans.missing)
		}
	}
	w.close()
	defer func(d time.Duration) { longWait = d }(longWait)
	longWait = 100 * time.Microsecond // on a fast disk an fsync takes no longer
	file := journal(t)
	for _, c := range []struct{ role, mechanism, on, function string }{
		{"fsync", evidence.KernelFsync, file, "kernel.syncFile"},
		{"futex", evidence.KernelFutex, "", "kernel.waitForLock"},
	} {
		p := probetest.Play(t, c.role, nil, file)
		r := probetest.Begin(t, access(t, p.Process.Pid))
		r.Wait(t, "offcpu.txt", func(b []byte) bool {
			return bytes.Count(b, []byte("\nw ")) > 20 && bytes.Count(b, []byte("\nuntil")) > 2
		})
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		b := read(t, r, "offcpu.txt")
		v := &b.Intervals
		var found, named, onFile int
		for i := range v.Len() {
			if b.Names.Text(v.Cause.At(i)) != c.mechanism || v.End[i]-v.Start[i] < int64(longWait) {
				continue
			}
			found++
			if b.Names.Text(v.NameOf(i, evidence.Operation)) == c.on {
				onFile++
			}
			for _, f := range b.Stacks.Frames(v.Stack.At(i)) {
				if strings.HasSuffix(b.Names.Text(f.Func), c.function) {
					named++
					break
				}
			}
		}
		// Threads of Go's own wait for futexes, too; and of a thread that waits often, the function is
		// asked for now and then.
		if found < 5 || onFile < found*9/10 || named < 5 {
			t.Errorf("%s: of %d waits %d are told, of %d the file is right, of %d the function", c.role, v.Len(), found, onFile, named)
		}
	}
}

// What a master's workers do counts as its own: where they run, and what they wait for. Its other children do not.
func TestWorkers(t *testing.T) {
	if err := tryWaiting(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	c := probetest.Play(t, "master", nil, journal(t))
	pids := strings.Fields(c.Said)[1:]
	r := probetest.Begin(t, access(t, c.Process.Pid))
	r.Wait(t, "oncpu.txt", func(b []byte) bool { return bytes.Count(b, []byte("\nr ")) > 50 })
	r.Wait(t, "offcpu.txt", func(b []byte) bool { return waitsOf(b, pids[1]) > 20 })
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	on := read(t, r, "oncpu.txt")
	n := 0
	for _, x := range on.Samples.Stack {
		if slices.ContainsFunc(on.Stacks.Frames(x), func(f evidence.Frame) bool { return strings.HasSuffix(on.Names.Text(f.Func), "kernel.touchMemory") }) {
			n++
		}
	}
	if n < on.Samples.Len()/4 {
		t.Errorf("%d of %d samples are of the worker that touches memory", n, on.Samples.Len())
	}
	other, err := strconv.ParseInt(pids[2], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(on.Samples.Lane, evidence.LaneID(other)) {
		t.Error("a child of another name counts")
	}
	off := read(t, r, "offcpu.txt")
	if off.Intervals.Lane.Has(evidence.LaneID(other)) {
		t.Error("a wait of a child of another name counts")
	}
}

// waitsOf counts the reported waits of a process's threads.
func waitsOf(b []byte, pid string) (n int) {
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) > 3 && string(f[0]) == "w" {
			if _, err := os.Stat(fmt.Sprintf("/proc/%s/task/%s", pid, f[3])); err == nil {
				n++
			}
		}
	}
	return n
}

// A wait ends when the thread is woken. Until it runs, it waits for a CPU.
func TestReady(t *testing.T) {
	if err := tryWaiting(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	p := probetest.Play(t, "crowd", nil)
	r := probetest.Begin(t, access(t, p.Process.Pid))
	_, tid, _ := strings.Cut(strings.TrimSpace(p.Said), " ")
	lane, err := strconv.ParseInt(tid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	sleeps := regexp.MustCompile(`(?m)^w \d+ \d+ ` + tid + ` S .*$`)
	r.Wait(t, "offcpu.txt", func(b []byte) bool { return len(sleeps.FindAll(b, 30)) == 30 })
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := read(t, r, "offcpu.txt")
	v := &b.Intervals
	var asleep, ready []int64
	for i := range v.Len() {
		took := v.End[i] - v.Start[i]
		if v.Lane.At(i) != evidence.LaneID(lane) {
			continue
		}
		switch b.Names.Text(v.Cause.At(i)) {
		case evidence.KernelSleep:
			asleep = append(asleep, took)
		case evidence.KernelPreempted:
			if n := len(b.Stacks.Frames(v.Stack.At(i))); n > 0 && slices.ContainsFunc(b.Stacks.Frames(v.Stack.At(i)), func(f evidence.Frame) bool {
				return strings.Contains(b.Names.Text(f.Func), "nanosleep")
			}) {
				ready = append(ready, took)
			}
		}
	}
	slices.Sort(asleep)
	if len(asleep) < 10 || asleep[len(asleep)/2] > 3e6 || len(ready) < len(asleep)/4 {
		t.Errorf("%d sleeps of 2 ms, %v ns; %d of them waited for a CPU behind it: %v ns", len(asleep), asleep, len(ready), ready)
	}
}

// journal is the path of a file that an fsync waits for.
func journal(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Type == unix.TMPFS_MAGIC {
		here, err := os.MkdirTemp(".", "journal")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(here) })
		if dir, err = filepath.Abs(here); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "journal")
}

// For a user without rights, each part says what is missing, and nothing fails.
func TestLacks(t *testing.T) {
	for _, c := range []struct {
		why  error
		want string
	}{{unix.EPERM, "eBPF programs"}, {tracepoint.ErrNoTypes, "types"}, {tracepoint.ErrContainer, "namespace"}, {unix.EINVAL, "invalid argument"}} {
		if l := lackWaiting(fmt.Errorf("prog load: %w", c.why), 4711); !strings.Contains(l.Why, c.want) || l.What == "" || l.Do == "" {
			t.Errorf("%v: %+v", c.why, l)
		}
	}
	for how, want := range map[sampling]bool{ofCPUs: false, ofThreads: false, ofThreadsOwn: true, notAtAll: true} {
		if l, lacks := lackRunning(how, unix.EACCES, 4711); lacks != want || lacks && (l.What == "" || l.Why == "" || l.Do == "") {
			t.Errorf("%v: %+v, %v", how, l, lacks)
		}
	}
	if l, _ := lackRunning(notAtAll, unix.ENOSYS, 4711); !strings.Contains(l.Do, "CONFIG_PERF_EVENTS") {
		t.Errorf("%+v", l)
	}
}

// What a thread's slot holds fits, and states are told as proc(5) has them.
func TestSlots(t *testing.T) {
	if 1<<slotShift < slotSP+8 || slotInode+8 > 64 || slots&(slots-1) != 0 {
		t.Errorf("%d slots of %d bytes", slots, 1<<slotShift)
	}
	for state, want := range map[uint32]byte{0: 'R', 1: 'S', 2: 'D', 0x402: 'D', 0x100: 'S'} {
		if got := stateLetter(state); got != want {
			t.Errorf("state %#x: %c", state, got)
		}
	}
}

// If threads switch often, the program is off for a part of the time.
func TestOffFor(t *testing.T) {
	for _, c := range []struct {
		all, ours float64
		want      time.Duration
	}{{0, 0, 0}, {25e3, 2e3, 0}, {200e3, 0, 3125e6}, {200e3, 200e3, 7e9}, {1e9, 1e9, mostOff}} {
		if got := offFor(c.all, c.ours); got < c.want-time.Microsecond || got > c.want+time.Microsecond {
			t.Errorf("%.0f and %.0f a second: %v, want %v", c.all, c.ours, got, c.want)
		}
	}
}
