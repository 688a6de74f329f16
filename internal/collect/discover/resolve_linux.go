package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

func resolveProcess(ctx context.Context, arg string, known []Recogniser) (Target, error) {
	h := newHost(known)
	if digits(arg) {
		pid, err := strconv.Atoi(arg)
		if err != nil || pid == 0 {
			return Target{}, fmt.Errorf("%s: %w: run unstall without arguments to list what runs here", arg, errGone)
		}
		return h.resolve(ctx, pid)
	}
	ids, err := pids()
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w", arg, err)
	}
	var named, kin []*process
	self := os.Getpid()
	for _, id := range ids {
		p, err := h.open(id)
		switch {
		case err != nil || id == self || p.kernel() || p.ended():
		case p.called(arg):
			named = append(named, p)
		case h.calls(arg, p):
			kin = append(kin, p)
		}
	}
	if len(named) == 0 {
		named = kin
	}
	if first := eldest(named); first != nil {
		return h.resolve(ctx, first.pid)
	}
	switch len(named) {
	case 0:
		if c, err := container.Find(ctx, container.Query{Name: arg}); err == nil {
			return h.within(ctx, arg, c)
		}
		return Target{}, fmt.Errorf("%s: no such file or directory, and no process or container of that name: check the name; run unstall without arguments to list what runs here", arg)
	}
	const most = 8
	var list []string
	for i, p := range named {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(named)-most))
			break
		}
		where := p.exe
		if where == "" {
			where = p.name()
		}
		list = append(list, fmt.Sprintf("%d (%s)", p.pid, where))
	}
	return Target{}, use("%s: %d processes have that name: choose one by its id: %s", arg, len(named), strings.Join(list, ", "))
}

// calls says whether users may mean a process by what they call all of its runtime.
func (h *host) calls(name string, p *process) bool {
	for _, r := range h.known {
		if r.Called == name && r.Traces != nil {
			if _, ok := r.Traces(p); ok {
				return true
			}
		}
	}
	return false
}

// eldest is the one of which all others are children, and theirs: a master of workers, a program
// and what it forked; nil if there is none.
func eldest(of []*process) (first *process) {
	for _, p := range of {
		if !slices.ContainsFunc(of, func(parent *process) bool { return parent.pid == p.ppid }) {
			if first != nil {
				return nil
			}
			first = p
		}
	}
	return first
}

// resolve looks at one process.
func (h *host) resolve(ctx context.Context, pid int) (Target, error) {
	if pid == os.Getpid() {
		return Target{}, use("%d: that is unstall itself: run unstall without arguments to list what else runs here", pid)
	}
	p, err := h.open(pid)
	switch {
	case errors.Is(err, errGone):
		return Target{}, fmt.Errorf("%d: %w: run unstall without arguments to list what runs here", pid, err)
	case errors.Is(err, fs.ErrPermission):
		return Target{}, fmt.Errorf("%d: permission denied: sudo unstall %d", pid, pid)
	case err != nil:
		return Target{}, fmt.Errorf("%d: %w", pid, err)
	case p.tgid != pid:
		whose := "a process"
		if s, err := readStat(p.tgid); err == nil {
			whose = s.comm
		}
		return Target{}, use("%d: that is a thread of %s: unstall %d", pid, whose, p.tgid)
	case p.kernel():
		return Target{}, use("%d: %s is a kernel thread, which serves no requests: run unstall without arguments to list what runs here", pid, p.comm)
	case p.ended():
		return Target{}, fmt.Errorf("%d: %s has ended: it is a zombie until its parent, process %d, collects it", pid, p.comm, p.ppid)
	}
	t := h.describe(p)
	h.named(ctx, p, &t)
	t.Listens = h.listens(pid)
	h.ask(ctx, &t)
	h.access(&t)
	return t, nil
}

// ask settles whether what is called like a runtime that answers is it.
func (h *host) ask(ctx context.Context, t *Target) {
	for _, r := range h.known {
		if t.Runtime == "" && r.suggested(t.Name) && r.Answers(ctx, t.Listens) {
			t.Runtime, t.Traits = r.Runtime, r.Traits
		}
	}
}

func (r Recogniser) suggested(name string) bool { return r.Suggested != nil && r.Suggested(name) }

// listener finds the process behind an address of this machine. That there is
// none to be found is no error: it may listen in another network namespace.
func listener(ctx context.Context, addrs []netip.Addr, port uint16, known []Recogniser) (Target, error) {
	where := fmt.Sprintf("port %d", port)
	s, ok := listening(addrs, port)
	if !ok {
		return Target{Note: "no process in this network namespace listens on " + where}, nil
	}
	return holding(ctx, s, where, known)
}

// listenerAt finds the process behind a UNIX socket, likewise.
func listenerAt(ctx context.Context, path string, known []Recogniser) (Target, error) {
	for _, s := range readSockets("/proc/self/net") {
		if !s.Addr.IsValid() && s.Path == path {
			return holding(ctx, s, path, known)
		}
	}
	return Target{Note: "no process in this network namespace listens on " + path}, nil
}

// holding looks at the process that holds a socket.
func holding(ctx context.Context, s socket, where string, known []Recogniser) (Target, error) {
	pid, ok := holder(ctx, s.inode)
	h := newHost(known)
	switch {
	case ctx.Err() != nil:
		return Target{}, ctx.Err()
	case pid == os.Getpid():
		return Target{}, use("unstall itself listens on %s", where)
	case !ok && (s.uid == os.Geteuid() || s.uid < 0):
		return Target{Note: fmt.Sprintf("it is unknown which process listens on %s: give its process id to add data from /proc", where)}, nil
	case !ok:
		return Target{Note: fmt.Sprintf("the process that listens on %s is hidden and belongs to %s: run as %s, or give its process id, to add data from /proc", where, h.user(s.uid), h.needs(s.uid))}, nil
	}
	return h.resolve(ctx, pid)
}
