// Package kernel records where the threads of a process are in the kernel and in their own
// program: the stacks they run with, and those they wait with. It switches sampling on in the
// kernel, nothing in the process.
//
// Its artifacts, both as internal/format/kernelstacks reads them:
//
//	oncpu.txt    stacks of running threads, by perf_event_open(2)'s clock of each CPU
//	offcpu.txt   waits of threads and how long they took, by an eBPF program on the
//	             tracepoint sched_switch, assembled here for the process that is recorded
//
// System calls are not traced: a program on sys_enter or sys_exit puts every call of every thread
// of the host on a slower path. The switch away from a thread and back tells the same of what
// takes long: the call and its file are in the thread's saved registers, and its stack in the
// kernel is, until it runs again, that of its wait. So a stack is taken only when a wait is over and
// was long, or stands for many short ones.
//
// Sources: perf_event_open(2), bpf(2), https://docs.kernel.org/trace/tracepoints.html and
// https://docs.kernel.org/admin-guide/perf-security.html.
//
// The package's opinion: what the kernel switches hundred thousand times a second may cost
// next to nothing each time, so programs look at what is long, and of what is short at some; a
// kernel that does not let itself be asked gives a line that says what is still possible.
package kernel

import "github.com/unstall/unstall/internal/collect/probe"

const name = "kernel"

// Clock records the stacks of running threads alone, of processes whose runtime names functions by their
// addresses elsewhere: what such a runtime tells of threads that run, it tells where it can stop them.
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
