// Package kernel records where the threads of a process are, in the kernel and in their own program: the stacks with which they run, and those
// with which they wait. It switches sampling on in the kernel, and nothing in the process.
//
// Its artifacts, both as internal/format/kernelstacks reads them:
//
//	oncpu.txt    stacks of running threads, by perf_event_open(2)'s clock of each CPU
//	offcpu.txt   waits of threads and how long they took, by an eBPF program on the
//	             tracepoint sched_switch, assembled here for the process that is recorded
//
// System calls are not traced, because a program on sys_enter or sys_exit puts every call of every thread of the host on a slower path. The
// switches from a thread and back to it show long waits as well. The thread's saved registers have the call and its file, and until the thread
// runs again its kernel stack is that of its wait. So a stack is taken only when a wait is over and was long, or stands for many short ones.
//
// Sources: perf_event_open(2), bpf(2), https://docs.kernel.org/trace/tracepoints.html and
// https://docs.kernel.org/admin-guide/perf-security.html.
//
// The package's opinion: work that the kernel does hundred thousand times a second may cost next to nothing each time. So programs examine all long
// waits and only some short ones. If a kernel does not allow a method, a line says what is still possible.
package kernel

import "github.com/unstall/unstall/internal/collect/probe"

const name = "kernel"

// Clock records only the stacks of running threads, for processes whose runtime names functions by their addresses in other data. Such a runtime
// itself sees running threads only where it can stop them.
var Clock = probe.Probe{
	Name:    name,
	About:   "stacks of the process's running threads, by the kernel's clock of CPU time",
	Find:    findClock,
	General: true,
}

// Probe records the kernel stacks of a process of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "kernel and program stacks of the process's threads: where they run, and what they wait for",
	Find:  findAccess,
}
