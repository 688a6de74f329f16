package interpreter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// pythons are the interpreters of this machine: those on the path, and those of pyenv.
func pythons(t testing.TB) (all []string) {
	home, _ := os.UserHomeDir()
	found, _ := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("PYENV_ROOT"), filepath.Join(home, ".pyenv")), "versions/3.*/bin/python3.*[0-9]"))
	for _, name := range append([]string{"/usr/bin/python3", "python3"}, found...) {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		said, err := exec.Command(path, "-c", "import sys; print(sys.implementation.name, sys.version_info[1], sys.executable)").Output()
		var of, exe string
		var minor int
		if _, scan := fmt.Sscan(string(said), &of, &minor, &exe); err != nil || scan != nil || of != "cpython" || minor < 8 || minor > 13 {
			continue
		}
		if exe, err = filepath.EvalSymlinks(exe); err == nil && !slices.Contains(all, exe) {
			all = append(all, exe)
		}
	}
	if len(all) == 0 {
		t.Skip("it needs Python 3.8 to 3.13")
	}
	return all
}

// waiting has a thread that computes, one that holds a lock, one that waits for it, one that waits for work of a queue, and a coroutine that computes
// in its event loop.
const waiting = `import asyncio
import json
import queue
import sys
import threading

lock = threading.Lock()
work = queue.Queue()
held = threading.Event()
numbers = list(range(2000))


def add_up(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def compute():
    while True:
        add_up(100_000)


def hold_lock():
    with lock:
        held.set()
        threading.Event().wait()


def reserve_stock():
    held.wait()
    with lock:
        pass


class Größen:
    def take(self):
        work.get()


async def render_page():
    while True:
        json.dumps(numbers)


def serve():
    asyncio.run(render_page())


for f in (compute, hold_lock, reserve_stock, Größen().take, serve):
    threading.Thread(target=f, daemon=True).start()
held.wait()
print("started", flush=True)
sys.stdin.read(1)
`

// startPython starts a program with an interpreter; it must say a line.
func startPython(t testing.TB, python, text string) *probetest.Child {
	file := filepath.Join(t.TempDir(), "shop.py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return probetest.PlayCommand(t, exec.Command(python, file))
}

// The stacks of threads have functions with lines, innermost first, and one of those that compute holds the interpreter's lock.
func TestPythonStacks(t *testing.T) {
	line := func(text string) int { return 1 + strings.Count(waiting[:strings.Index(waiting, text)], "\n") }
	for _, python := range pythons(t) {
		t.Run(filepath.Base(python), func(t *testing.T) {
			child := startPython(t, python, waiting)
			s, of, err := openStacks(child.Process.Pid)
			if err != nil || of != "Python" {
				t.Fatal(of, err)
			}
			newer := s.(*pythonStacks).minor >= 11
			named := func(function string) string { // qualified names are told from 3.11 on
				if _, name, is := strings.Cut(function, "."); is && !newer {
					return name
				}
				return function
			}
			want := map[string]bool{
				fmt.Sprintf("? add_up (shop.py:%d) < compute", line("        total += i * i")):           true,
				fmt.Sprintf("w hold_lock (shop.py:%d) < run", line("        threading.Event().wait()")):  true,
				fmt.Sprintf("w reserve_stock (shop.py:%d) < run", line("    with lock:\n        pass")):  true,
				fmt.Sprintf("w %s (shop.py:%d) < run", named("Größen.take"), line("        work.get()")): true,
				fmt.Sprintf("w %s (shop.py:%d) < none", "<module>", line("sys.stdin.read(1)")):           true,
				fmt.Sprintf("? render_page (shop.py:%d) < _run", line("        json.dumps(numbers)")):    true,
				"r in shop.py": true,
			}
			tids := map[int]bool{}
			const most = 2000
			n, torn, stacks := 0, 0, 0
			for ; len(want) > 0 && n < most; n++ {
				bad, err := s.Look(func(th Thread) {
					stacks++
					tids[th.ID] = true
					inner := slices.IndexFunc(th.Frames, func(f *Frame) bool { return filepath.Base(f.File) == "shop.py" })
					if inner < 0 {
						return
					}
					f, caller := th.Frames[inner], "none"
					if inner+1 < len(th.Frames) {
						c := th.Frames[inner+1].Function
						caller = c[strings.LastIndexByte(c, '.')+1:]
					}
					for _, state := range []State{'?', th.State} {
						delete(want, fmt.Sprintf("%c %s (shop.py:%d) < %s", state, f.Function, f.Line, caller))
					}
					if th.State == Running {
						delete(want, "r in shop.py")
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				torn += bad
			}
			if len(want) > 0 {
				t.Errorf("not seen in %d looks: %v", n, want)
			}
			tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", child.Process.Pid))
			if len(tids) != len(tasks) || tids[0] || !tids[child.Process.Pid] {
				t.Errorf("threads %v, of the kernel %v", tids, tasks)
			}
			t.Logf("%s: %d looks, %d stacks, %d torn", s.Title(), n, stacks, torn)
		})
	}
}

// deep computes at the end of a recursion.
const deep = `import sys

def descend(n):
    if n:
        return descend(n - 1)
    total = 0
    while True:
        total += len(str(total))

print("started", flush=True)
descend(100)
`

// What one look costs, of a thread that computes beneath a hundred functions.
func BenchmarkLook(b *testing.B) {
	child := startPython(b, pythons(b)[0], deep)
	s, _, err := openStacks(child.Process.Pid)
	if err != nil {
		b.Fatal(err)
	}
	frames, torn := 0, 0
	for b.Loop() {
		bad, err := s.Look(func(t Thread) { frames += len(t.Frames) })
		if err != nil {
			b.Fatal(err)
		}
		torn += bad
	}
	b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
	b.ReportMetric(float64(torn)/float64(b.N), "torn/op")
}

// forking is a master whose worker serves: what computes is in the child of a fork.
const forking = `import os
import sys
import threading

def month_sums():
    total = 0
    for i in range(50_000):
        total += i * i
    return total

def serve():
    while True:
        month_sums()

if os.fork() == 0:
    threading.Thread(target=serve, daemon=True).start()
    threading.Event().wait()
print("started", flush=True)
sys.stdin.read(1)
`

// A recording has the functions of a master's worker, by the numbers that the kernel has for its threads, and the format reads it.
func TestRecordWorkers(t *testing.T) {
	python := pythons(t)[0]
	child := startPython(t, python, forking)
	t.Cleanup(func() {
		for _, pid := range probe.Workers(child.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	found := findAccess(t.Context(), discover.Target{PID: child.Process.Pid})
	if len(found) != 1 || len(found[0].Lacks) > 0 || len(found[0].SwitchesOn) > 0 {
		t.Fatalf("%+v", found)
	}
	r := probetest.Begin(t, found[0])
	r.Wait(t, "interpreter.txt", func(b []byte) bool {
		return bytes.Contains(b, []byte("\tmonth_sums\n")) && bytes.Contains(b, []byte(" r ")) && bytes.Contains(b, []byte("\nuntil "))
	})
	workers := probe.Workers(child.Process.Pid)
	if err := r.End(); err != nil || len(workers) != 1 {
		t.Fatal(workers, err)
	}
	bundle := r.Read(t, "interpreter.txt")
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", workers[0]))
	ran, x := 0, &bundle.Samples
	for i := range x.Len() {
		if bundle.Names.Text(x.Class[i]) != evidence.InterpreterHeld {
			continue
		}
		ran++
		if !slices.ContainsFunc(tasks, func(e os.DirEntry) bool { return e.Name() == fmt.Sprint(x.Lane[i]) }) {
			t.Errorf("thread %d is none of the worker's: %v", x.Lane[i], tasks)
		}
	}
	if ran == 0 || len(bundle.Warnings) > 0 {
		t.Errorf("%d times a thread ran; %v\n%s", ran, bundle.Warnings, r.Text("interpreter.txt"))
	}
}

// A process of another language has no access, and a release that is not known a lack that says what helps.
func TestOtherPrograms(t *testing.T) {
	if found := findAccess(t.Context(), discover.Target{PID: os.Getpid()}); len(found) > 0 {
		t.Errorf("of a Go program: %+v", found)
	}
	s := &pythonStacks{process: &process{pid: os.Getpid()}, minor: 7}
	if err := s.findLayout(); !errors.Is(err, errRelease) {
		t.Error(err)
	}
	s.minor = 13
	if err := s.findLayout(); err == nil {
		t.Error("no memory is that of a runtime")
	}
}

// What no runtime tells as its offsets is refused.
func TestDebugOffsets(t *testing.T) {
	b := make([]byte, 8*debugWords)
	for i := range b {
		b[i] = 0xff
	}
	if _, err := readDebugOffsets(b); !errors.Is(err, errOffsets) {
		t.Error(err)
	}
}
