package host

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// group is the processes of one service.
type group struct {
	name      string
	unit      string // the control group that names the service, "" none
	pid       int    // of the process that began the others
	processes []evidence.SubjectID
	kernel    bool // the kernel's own threads
}

// kernelThreads is the common name of the kernel's threads.
const kernelThreads = "kernel threads"

// groupProcesses groups processes into services. A service is processes of one name in one control group that
// started each other, such as a server and its workers. A process that a shell or an init started has another
// name and is a service by itself.
func groupProcesses(b *evidence.Bundle) []*group {
	type process struct {
		id     evidence.SubjectID
		parent int
		unit   string
		kernel bool
	}
	known := make(map[evidence.SubjectID]*process)
	byPID := make(map[int]*process)
	var order []*process
	for _, id := range metrics.Counted(b) {
		p := &process{id: id}
		known[id] = p
		byPID[b.Subjects[id].PID] = p
		order = append(order, p)
	}
	for i := range b.Facts {
		f := &b.Facts[i]
		p := known[f.Subject]
		if p == nil {
			continue
		}
		switch f.Key {
		case evidence.FactParent:
			p.parent, _ = strconv.Atoi(f.Value)
			p.kernel = f.Value == evidence.KernelThread
		case evidence.FactControlGroup:
			p.unit = parseUnit(f.Value)
		}
	}
	root := func(p *process) *process {
		for range 64 {
			up := byPID[p.parent]
			if up == nil || up == p || up.unit != p.unit || b.Subjects[up.id].Name != b.Subjects[p.id].Name {
				break
			}
			p = up
		}
		return p
	}
	all := make(map[evidence.SubjectID]*group)
	var kernel *group
	var out []*group
	for _, p := range order {
		if p.kernel {
			if kernel == nil {
				kernel = &group{name: kernelThreads, kernel: true}
				out = append(out, kernel)
			}
			kernel.processes = append(kernel.processes, p.id)
			continue
		}
		r := root(p)
		g := all[r.id]
		if g == nil {
			s := b.Subjects[r.id]
			g = &group{name: s.Name, unit: p.unit, pid: s.PID}
			all[r.id] = g
			out = append(out, g)
		}
		g.processes = append(g.processes, p.id)
	}
	sorting.Short(out, func(a, b *group) int { return cmp.Compare(a.pid, b.pid) })
	return out
}

// parseUnit returns the systemd unit or the container that a control group names; "" for the root and for a group
// that only names a login.
func parseUnit(group string) string {
	last := path.Base(group)
	switch {
	case group == "/" || group == "":
		return ""
	case strings.HasSuffix(last, ".slice"), last == "init.scope", strings.HasPrefix(last, "session-") && strings.HasSuffix(last, ".scope"),
		strings.HasPrefix(last, "user@"):
		return ""
	}
	last = strings.TrimSuffix(strings.TrimSuffix(last, ".scope"), ".service")
	if id := last[strings.LastIndexByte(last, '-')+1:]; len(id) == 64 && strings.Trim(id, "0123456789abcdef") == "" {
		return "container " + id[:12]
	}
	return last
}

// ServiceOf returns the processes of the service that a process belongs to, the service's title, and the PID of the
// process that started the others.
func ServiceOf(b *evidence.Bundle, pid int) (title string, first int, processes []evidence.SubjectID) {
	for _, g := range groupProcesses(b) {
		for _, p := range g.processes {
			if b.Subjects[p].PID == pid {
				return g.name, g.pid, g.processes
			}
		}
	}
	return "", 0, nil
}
