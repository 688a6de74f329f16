package procfs

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Fields of /proc/PID/stat that say whose a process is, and the flag of the kernel's own threads
// (PF_KTHREAD of include/linux/sched.h).
const (
	parent       = 4 - 3
	flags        = 9 - 3
	kernelThread = 0x200000
)

// emitService writes the service of a process: the process that started it, and its
// control group. It does so only for processes with more figures than the CPU time.
func (p *parser) emitService(id evidence.SubjectID, q *process) {
	if len(q.cgroups) == 0 && len(q.scheduled.threads) == 0 || !q.known {
		return
	}
	f := evidence.Fact{Subject: id, Key: evidence.FactParent, Value: strconv.FormatInt(q.parent, 10), Number: float64(q.parent), Origin: p.b.Origin(q.line)}
	if q.kernel {
		f.Value = evidence.KernelThread
	}
	p.b.Fact(f)
	if len(q.cgroups) == 0 {
		return
	}
	p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactControlGroup, Value: q.controlGroup(), Origin: p.b.Origin(q.line)})
}

// emitWorkers writes which processes of the same name the recorded one has started: what these use
// counts as its use.
func (p *parser) emitWorkers(id evidence.SubjectID) {
	for _, q := range p.processes[1:] {
		if lead := p.processes[0]; q.known && q.parent == int64(lead.pid) && q.name == lead.name {
			p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactWorker, Value: strconv.Itoa(q.pid), Number: float64(q.pid), Origin: p.b.Origin(q.line)})
		}
	}
}

// controlGroup returns the most informative control group: that of version 2, else of the first
// controller of version 1 that is not the root.
func (q *process) controlGroup() string {
	for _, g := range q.cgroups {
		first, rest, deeper := strings.Cut(strings.TrimPrefix(g, "/"), "/")
		if controllers[first] {
			if deeper && rest != "" {
				return "/" + rest
			}
			continue
		}
		if g != "/" {
			return g
		}
	}
	return "/"
}

// controllers of version 1, and named hierarchies: the first part of what is kept of them.
var controllers = map[string]bool{"cpu": true, "cpuacct": true, "memory": true, "blkio": true, "cpuset": true, "devices": true, "freezer": true, "pids": true,
	"net_cls": true, "net_prio": true, "perf_event": true, "hugetlb": true, "rdma": true, "misc": true, "name=systemd": true}

// processSockets reads what sock_diag(7) told of the TCP sockets that a process has open, recorded as
// /proc/PID/fd/tcp, which is no file of the kernel: "segments 1234", sent and received.
func (p *parser) processSockets(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	if string(key) != "segments" {
		p.ignored++
		return true
	}
	return p.parseCounter(value, &p.subject.tracks, evidence.SeriesProcessSegments, "1/s")
}
