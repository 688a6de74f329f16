// Package linux records what the Linux kernel tells of a process, its cgroup, the
// processes beside it and the host, and the logs among the process's open files.
// It switches nothing on: it reads.
//
// Its artifacts:
//
//	procfs.txt   files of /proc and /sys/fs/cgroup over time, as internal/format/procfs reads
//	build.txt    what `go version -m` prints of a Go program, as internal/format/gobuild reads
//	access.log   and similar: lines the process wrote meanwhile, under the log's own name
//
// Accept queues and connections with unread bytes, of TCP and UNIX sockets, are asked of sock_diag(7), four times a second.
// Process and host are read four times a second, all processes and what changes
// slowly once a second, settings every five, what never changes at the start. Of the slower ones what
// did not change is not written again. Sources: proc(5),
// https://docs.kernel.org/admin-guide/cgroup-v2.html and, for version 1,
// https://docs.kernel.org/admin-guide/cgroup-v1/.
//
// The package's opinion: counters read often cost little and explain most; files
// are kept open, because opening costs more than reading; and what is read again and
// again has a share of one processor, 1.3 % in all, by which it is spaced where a host or
// a process is so large that reading it would be felt. Of an environment only settings
// of runtimes are stored, of a log only what was written while it was recorded.
package linux

import (
	"github.com/unstall/unstall/internal/collect/probe"
)

const name = "linux"

// Probe records /proc, the cgroup and open logs of a process of this host.
var Probe = probe.Probe{
	Name:    name,
	About:   "/proc of the process, its cgroup, its neighbours and the host; log files it has open",
	General: true,
	Find:    findAccess,
}
