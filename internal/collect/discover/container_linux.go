package discover

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// resolveContainer finds the process that a container runs. It knows an ID by the cgroup with that ID, even if no engine can be
// asked.
func resolveContainer(ctx context.Context, arg string, q container.Query, known []Recogniser) (Target, error) {
	h := newHost(known)
	c, err := container.Find(ctx, q)
	switch {
	case errors.Is(err, container.ErrSeveral):
		return Target{}, usageError("%s: %w: name one of them", arg, err)
	case err != nil && q.Pod == "" && q.Name != "":
		ids := findContainersByCgroup(q.Name)
		if len(ids) == 1 {
			return h.resolveInContainer(ctx, arg, container.Container{ID: ids[0]})
		}
		if len(ids) > 1 {
			return Target{}, usageError("%s: the ids of %d containers begin so: type more of it", arg, len(ids))
		}
	}
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w: check the name; run unstall without arguments to list what runs here", arg, err)
	}
	return h.resolveInContainer(ctx, arg, c)
}

// resolveInContainer finds the service's process of a container. Of the processes with a known runtime it returns the one that
// started the others, else the container's first process. So it skips a shell or an init that only starts the service.
func (h *host) resolveInContainer(ctx context.Context, arg string, c container.Container) (Target, error) {
	all, denied := h.containerProcesses(c)
	if len(all) == 0 {
		if c.Node != "" {
			return Target{}, fmt.Errorf("%s: %s runs on the node %s, not here: run unstall there", arg, c.Title(), c.Node)
		}
		if denied {
			return Target{}, fmt.Errorf("%s: the processes of %s are hidden: sudo unstall %s", arg, c.Title(), arg)
		}
		return Target{}, fmt.Errorf("%s: %s has no process here: it has ended, or runs on another host or in a virtual machine", arg, c.Title())
	}
	var serving []*process
	for _, p := range all {
		if h.describeTarget(p).Runtime != "" {
			serving = append(serving, p)
		}
	}
	one := findCommonAncestor(serving)
	if one == nil && len(serving) == 0 {
		one = findCommonAncestor(all)
		if one == nil {
			one = all[0]
		}
	}
	if one == nil {
		var list []string
		for _, p := range serving {
			list = append(list, fmt.Sprintf("%d (%s)", p.pid, p.fullName()))
		}
		return Target{}, usageError("%s: %d processes of %s can be diagnosed: choose one by its id: %s", arg, len(serving), c.Title(), strings.Join(list, ", "))
	}
	t, err := h.resolvePID(ctx, one.pid)
	if err != nil {
		return t, err
	}
	t.Container = c.ID
	if c.Engine != "" {
		t.In = c
	}
	return t, nil
}

// identifyContainer asks the engines of this host about the container of a process. It uses the container's ID or, for a process
// with a PID namespace of its own, the names of its cgroups.
func (h *host) identifyContainer(ctx context.Context, p *process, t *Target) {
	ids := []string{t.Container}
	if t.Container == "" {
		ids = nil
		if len(p.status.pids) > 1 {
			ids = groupNames(p.pid)
		}
	}
	for _, id := range ids {
		if c, ok := container.Of(ctx, id); ok {
			t.Container, t.In = c.ID, c
			return
		}
	}
}

// containerProcesses returns the processes of a container, lowest PID first: those in a cgroup with its ID and, if an engine names
// its first process, those in that process's PID namespace. It uses the engine's PID only if that process is in another PID
// namespace than unstall, because the engine numbers processes differently if unstall has a namespace of its own.
func (h *host) containerProcesses(c container.Container) (all []*process, denied bool) {
	ids, err := listPIDs()
	if err != nil {
		return nil, false
	}
	ours, _ := os.Readlink("/proc/self/ns/pid")
	theirs := ""
	if c.PID != 0 {
		if ns, err := os.Readlink(procPath(c.PID, "ns/pid")); err == nil && ns != ours {
			theirs = ns
		} else if err != nil && errors.Is(err, os.ErrPermission) {
			denied = true
		}
	}
	for _, id := range ids {
		in := slices.Contains(groupNames(id), c.ID)
		if !in && theirs != "" {
			ns, err := os.Readlink(procPath(id, "ns/pid"))
			in = err == nil && ns == theirs
		}
		if !in {
			continue
		}
		if p, err := h.openProcess(id); err == nil && !p.isKernelThread() && !p.hasEnded() {
			all = append(all, p)
		}
	}
	return all, denied
}

// findContainersByCgroup returns, sorted, the names of cgroups here that equal name, and the container IDs that begin with it.
func findContainersByCgroup(name string) []string {
	ids, _ := listPIDs()
	found := map[string]bool{}
	for _, id := range ids {
		for _, group := range groupNames(id) {
			if group == name || len(name) >= 4 && len(group) == idLength && strings.HasPrefix(group, name) {
				found[group] = true
			}
		}
	}
	var all []string
	for id := range found {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// groupNames returns the names of a process's cgroups that may be those of a container: parts of their paths without the additions of
// systemd and the engines.
func groupNames(pid int) []string {
	f, err := os.Open(procPath(pid, "cgroup"))
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []string
	for lines := bufio.NewScanner(io.LimitReader(f, procLimit)); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for part := range strings.SplitSeq(parts[2], "/") {
			if part == "" || strings.HasSuffix(part, ".slice") || strings.HasSuffix(part, ".service") {
				continue
			}
			name := containerID(part)
			if name == "" {
				name = strings.TrimSuffix(part, ".scope")
				if _, after, ok := strings.Cut(name, "-"); ok && name != part {
					name = after // "crun-shop.scope"
				}
			}
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
