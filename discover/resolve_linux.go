package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
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
	var named []*process
	self := os.Getpid()
	for _, id := range ids {
		p, err := h.open(id)
		if err == nil && id != self && !p.kernel() && !p.ended() && p.called(arg) {
			named = append(named, p)
		}
	}
	switch len(named) {
	case 0:
		return Target{}, fmt.Errorf("%s: no such file or directory, and no process of that name: check the name; run unstall without arguments to list what runs here", arg)
	case 1:
		return h.resolve(ctx, named[0].pid)
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
	t.Listens = h.listens(pid)
	h.ask(ctx, &t)
	h.access(&t)
	return t, nil
}

// ask settles whether what is called like a runtime that answers is it.
func (h *host) ask(ctx context.Context, t *Target) {
	for _, r := range h.known {
		if t.Runtime == "" && r.suggested(t.Name) && r.Answers(ctx, t.Listens) {
			t.Runtime = r.Runtime
		}
	}
}

func (r Recogniser) suggested(name string) bool { return r.Suggested != nil && r.Suggested(name) }

// listener finds the process behind an address of this machine. That there is
// none to be found is no error: it may listen in another network namespace.
func listener(ctx context.Context, addrs []netip.Addr, port uint16, known []Recogniser) (Target, error) {
	s, ok := listening(addrs, port)
	if !ok {
		return Target{Note: fmt.Sprintf("no process in this network namespace listens on port %d", port)}, nil
	}
	pid, ok := holder(ctx, s.inode)
	h := newHost(known)
	switch {
	case ctx.Err() != nil:
		return Target{}, ctx.Err()
	case pid == os.Getpid():
		return Target{}, use("unstall itself listens on port %d", port)
	case !ok && s.uid == os.Geteuid():
		return Target{Note: fmt.Sprintf("it is unknown which process listens on port %d: give its process id to add data from /proc", port)}, nil
	case !ok:
		return Target{Note: fmt.Sprintf("the process that listens on port %d is hidden and belongs to %s: run as %s, or give its process id, to add data from /proc", port, h.user(s.uid), h.needs(s.uid))}, nil
	}
	return h.resolve(ctx, pid)
}
