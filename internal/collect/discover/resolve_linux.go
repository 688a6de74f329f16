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
	if isDigits(arg) {
		pid, err := strconv.Atoi(arg)
		if err != nil || pid == 0 {
			return Target{}, fmt.Errorf("%s: %w: run unstall without arguments to list what runs here", arg, errGone)
		}
		return h.resolvePID(ctx, pid)
	}
	ids, err := listPIDs()
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w", arg, err)
	}
	var named, kin []*process
	self := os.Getpid()
	for _, id := range ids {
		p, err := h.openProcess(id)
		switch {
		case err != nil || id == self || p.isKernelThread() || p.hasEnded():
		case p.isCalled(arg):
			named = append(named, p)
		case h.isRuntimeName(arg, p):
			kin = append(kin, p)
		}
	}
	if len(named) == 0 {
		named = kin
	}
	if first := findCommonAncestor(named); first != nil {
		return h.resolvePID(ctx, first.pid)
	}
	switch len(named) {
	case 0:
		if c, err := container.Find(ctx, container.Query{Name: arg}); err == nil {
			return h.resolveInContainer(ctx, arg, c)
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
			where = p.fullName()
		}
		list = append(list, fmt.Sprintf("%d (%s)", p.pid, where))
	}
	return Target{}, usageError("%s: %d processes have that name: choose one by its id: %s", arg, len(named), strings.Join(list, ", "))
}

// isRuntimeName says whether users call all processes of p's runtime by this name.
func (h *host) isRuntimeName(name string, p *process) bool {
	for _, r := range h.known {
		if r.Called == name && r.Traces != nil {
			if _, ok := r.Traces(p); ok {
				return true
			}
		}
	}
	return false
}

// findCommonAncestor returns the process of the list from which all others descend: the master of workers, or the program that
// forked the others; nil if there is none.
func findCommonAncestor(of []*process) (first *process) {
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

// resolvePID returns the target for a PID. The error says why that PID cannot be a target and what to do.
func (h *host) resolvePID(ctx context.Context, pid int) (Target, error) {
	if pid == os.Getpid() {
		return Target{}, usageError("%d: that is unstall itself: run unstall without arguments to list what else runs here", pid)
	}
	p, err := h.openProcess(pid)
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
		return Target{}, usageError("%d: that is a thread of %s: unstall %d", pid, whose, p.tgid)
	case p.isKernelThread():
		return Target{}, usageError("%d: %s is a kernel thread, which serves no requests: run unstall without arguments to list what runs here", pid, p.comm)
	case p.hasEnded():
		return Target{}, fmt.Errorf("%d: %s has ended: it is a zombie until its parent, process %d, collects it", pid, p.comm, p.ppid)
	}
	t := h.describeTarget(p)
	h.identifyContainer(ctx, p, &t)
	t.Listens = h.listListeners(pid)
	h.confirmRuntime(ctx, &t)
	h.findUnreadable(&t)
	return t, nil
}

// confirmRuntime asks a process whose name suggests a runtime at its sockets. It sets the runtime if the process answers as that.
func (h *host) confirmRuntime(ctx context.Context, t *Target) {
	for _, r := range h.known {
		if t.Runtime == "" && r.isSuggested(t.Name) && r.Answers(ctx, t.Listens) {
			t.Runtime, t.Traits = r.Runtime, r.Traits
		}
	}
}

func (r Recogniser) isSuggested(name string) bool { return r.Suggested != nil && r.Suggested(name) }

// resolveListener finds the process that listens on an address of this machine. Finding none is no error, because it may listen in
// another network namespace.
func resolveListener(ctx context.Context, addrs []netip.Addr, port uint16, known []Recogniser) (Target, error) {
	where := fmt.Sprintf("port %d", port)
	s, ok := findListeningSocket(addrs, port)
	if !ok {
		return Target{Note: "no process in this network namespace listens on " + where}, nil
	}
	return resolveHolder(ctx, s, where, known)
}

// listenerAt finds the process behind a UNIX socket. Finding none is no error.
func listenerAt(ctx context.Context, path string, known []Recogniser) (Target, error) {
	for _, s := range readSockets("/proc/self/net") {
		if !s.Addr.IsValid() && s.Path == path {
			return resolveHolder(ctx, s, path, known)
		}
	}
	return Target{Note: "no process in this network namespace listens on " + path}, nil
}

// resolveHolder returns the target for the process that holds a socket. If the process is hidden, the target has a note that says why.
func resolveHolder(ctx context.Context, s socket, where string, known []Recogniser) (Target, error) {
	pid, ok := findHolder(ctx, s.inode)
	h := newHost(known)
	switch {
	case ctx.Err() != nil:
		return Target{}, ctx.Err()
	case pid == os.Getpid():
		return Target{}, usageError("unstall itself listens on %s", where)
	case !ok && (s.uid == os.Geteuid() || s.uid < 0):
		return Target{Note: fmt.Sprintf("it is unknown which process listens on %s: give its process id to add data from /proc", where)}, nil
	case !ok:
		return Target{Note: fmt.Sprintf("the process that listens on %s is hidden and belongs to %s: run as %s, or give its process id, to add data from /proc", where, h.userName(s.uid), h.requiredPrivilege(s.uid))}, nil
	}
	return h.resolvePID(ctx, pid)
}
