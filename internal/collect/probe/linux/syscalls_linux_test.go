package linux

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// Of the threads of a service that waits for requests the kernel says what they wait in.
func TestSyscalls(t *testing.T) {
	s := start(t, oldLine)
	out := begin(t, s)
	out.Wait(t, "syscalls.txt", looks(8))
	s.get("a", 0, 20)
	out.Wait(t, "syscalls.txt", looks(20))
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	b := out.Read(t, "syscalls.txt")
	if len(b.Warnings) > 0 || b.Subjects[0].PID != s.Process.Pid {
		t.Errorf("%v of %+v", b.Warnings, b.Subjects)
	}
	calls := make(map[string]int)
	for i := range b.Samples.Len() {
		calls[b.Stacks.Info(b.Samples.Stack[i]).Call]++
	}
	if calls["epoll_wait"] == 0 || calls["futex"] == 0 {
		t.Errorf("a Go service waits in %v", calls)
	}
	if c := b.Covered(0, evidence.CoverSyscalls); len(c) != 1 || c[0].Sampled <= 0 {
		t.Errorf("covered %+v", c)
	}
}

// startWorker starts a worker that sleeps for a moment again and again, and waits until its standard input ends.
func startWorker(string) {
	runtime.LockOSThread() // the worker ends with the thread that started it
	c := probetest.Role("worker")
	c.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL} // the master is killed
	if err := c.Start(); err != nil {
		panic(err)
	}
	fmt.Println(c.Process.Pid)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func sleepShortly([]string) {
	for moment := unix.NsecToTimespec(20e6); ; {
		_ = unix.Nanosleep(&moment, nil)
	}
}

// What the threads of a master's workers do is recorded beside its own.
func TestThreadsOfWorkers(t *testing.T) {
	c := probetest.Play(t, "master", nil, "x")
	r := probetest.Begin(t, probetest.One(t, Probe.Find, discover.Target{PID: c.Process.Pid}))
	r.Wait(t, "syscalls.txt", looks(20))
	threads := make(map[string]bool) // of the worker
	tasks, err := os.ReadDir("/proc/" + c.Said + "/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		threads[task.Name()] = true
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := r.Read(t, "syscalls.txt")
	of := make(map[bool]map[string]int) // of the worker, and of others
	of[true], of[false] = make(map[string]int), make(map[string]int)
	for i := range b.Samples.Len() {
		of[threads[fmt.Sprint(b.Samples.Lane[i])]][b.Stacks.Info(b.Samples.Stack[i]).Call]++
	}
	if of[true]["nanosleep"] < 5 || of[false]["read"] == 0 {
		t.Errorf("the worker waits in %v, others in %v", of[true], of[false])
	}
}

// looks is enough where n are recorded.
func looks(n int) func([]byte) bool {
	return func(b []byte) bool { return bytes.Count(b, []byte("\n@ ")) >= n }
}

func TestOpenFiles(t *testing.T) {
	d := newOpenFiles(&process{dir: "/proc/self"})
	for in, want := range map[string]string{
		"/var/lib/journal": "/var/lib/journal",
		"/srv/0f8fad5b-d9cb-469f-a165-70867728950e/x": "/srv/{id}/x",
		"/tmp/a\nb":              "/tmp/a b",
		"pipe:[123]":             "pipe",
		"anon_inode:[eventpoll]": "eventpoll",
		"socket:[1]":             "socket",
	} {
		if got := d.describeTarget(in, -1); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	for _, call := range []string{"running", "202 0x7ffd00000010 0x80 0x2 0x0 0x0 0x0 0x1 0x2", "-1 0x1 0x2"} {
		if out := d.writeArgument(nil, []byte(call)); len(out) > 0 {
			t.Errorf("%s: %s", call, out)
		}
	}
	if out := string(d.writeArgument(nil, []byte("0 0x0 0x1 0x1 0x0 0x0 0x0 0x1 0x2"))); !strings.HasPrefix(out, "fd 0 ") {
		t.Errorf("standard input: %q", out)
	}
}
