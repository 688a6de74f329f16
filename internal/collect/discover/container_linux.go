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

// resolveContainer finds the process that a container runs. An id is known by the cgroup it names,
// whether or not an engine that knows it can be asked.
func resolveContainer(ctx context.Context, arg string, q container.Query, known []Recogniser) (Target, error) {
	h := newHost(known)
	c, err := container.Find(ctx, q)
	switch {
	case errors.Is(err, container.ErrSeveral):
		return Target{}, use("%s: %w: name one of them", arg, err)
	case err != nil && q.Pod == "" && q.Name != "":
		ids := grouped(q.Name)
		if len(ids) == 1 {
			return h.within(ctx, arg, container.Container{ID: ids[0]})
		}
		if len(ids) > 1 {
			return Target{}, use("%s: the ids of %d containers begin so: type more of it", arg, len(ids))
		}
	}
	if err != nil {
		return Target{}, fmt.Errorf("%s: %w: check the name; run unstall without arguments to list what runs here", arg, err)
	}
	return h.within(ctx, arg, c)
}

// within finds the process of a container that serves: of those whose runtime is known the one
// that began the others, else the container's first. A shell or an init that only starts it is
// passed over so.
func (h *host) within(ctx context.Context, arg string, c container.Container) (Target, error) {
	all, denied := h.members(c)
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
		if h.describe(p).Runtime != "" {
			serving = append(serving, p)
		}
	}
	one := eldest(serving)
	if one == nil && len(serving) == 0 {
		one = eldest(all)
		if one == nil {
			one = all[0]
		}
	}
	if one == nil {
		var list []string
		for _, p := range serving {
			list = append(list, fmt.Sprintf("%d (%s)", p.pid, p.name()))
		}
		return Target{}, use("%s: %d processes of %s can be diagnosed: choose one by its id: %s", arg, len(serving), c.Title(), strings.Join(list, ", "))
	}
	t, err := h.resolve(ctx, one.pid)
	if err != nil {
		return t, err
	}
	t.Container = c.ID
	if c.Engine != "" {
		t.In = c
	}
	return t, nil
}

// named asks the engines here what they know of the container of a process: by its id, else, of
// one that has a PID namespace of its own, by what its cgroups are called.
func (h *host) named(ctx context.Context, p *process, t *Target) {
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

// members are the processes of a container, lowest id first: those in a cgroup that bears its
// id, and, where an engine says which its first process is, those in the PID namespace of that.
// That process is believed only if it may be one: in a PID namespace of its own unstall counts
// processes differently from the engine.
func (h *host) members(c container.Container) (all []*process, denied bool) {
	ids, err := pids()
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
		if p, err := h.open(id); err == nil && !p.kernel() && !p.ended() {
			all = append(all, p)
		}
	}
	return all, denied
}

// grouped are the containers that have a process here and whose cgroup's name is, or whose id
// begins with, what somebody typed.
func grouped(name string) []string {
	ids, _ := pids()
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

// groupNames are what the cgroups of a process are called that may be those of a container:
// parts of their paths, without what systemd and the engines add.
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
