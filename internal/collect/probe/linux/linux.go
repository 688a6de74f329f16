// Package linux records the Linux kernel's data about a process, its cgroup, the other processes and the host, and the logs among the
// process's open files. It switches nothing on: it only reads.
//
// Its artifacts:
//
//	procfs.txt   files of /proc and /sys/fs/cgroup over time, as internal/format/procfs reads
//	build.txt    what `go version -m` prints of a Go program, as internal/format/gobuild reads
//	access.log   and similar: lines the process wrote meanwhile, under the log's own name
//
// Accept queues and connections with unread bytes, of TCP and UNIX sockets, come from sock_diag(7), four times a second. Process and
// host are read four times a second, all processes and slowly changing files once a second, settings every five seconds, constant files
// at the start. Of the slower files, unchanged ones are not written again. Sources: proc(5),
// https://docs.kernel.org/admin-guide/cgroup-v2.html and, for version 1,
// https://docs.kernel.org/admin-guide/cgroup-v1/.
//
// The package's opinion: counters read often cost little and explain most. Files are kept open, because opening costs more than
// reading. Repeated readings have a share of one CPU, 1.5 % in all; on a host or process so large that reading would be noticeable,
// they are spaced accordingly. Of an environment only settings of runtimes are stored, of a log only text written during the recording.
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
