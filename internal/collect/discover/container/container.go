// Package container finds containers by the names people use: the name in Docker or Podman, a pod of Kubernetes, an ID or its
// beginning. It also finds what is known about a container by its ID: name, image, pod, namespace and labels.
//
// It asks these sources in order, each only if it exists:
//   - the API of Docker and of Podman at their UNIX sockets (https://docs.docker.com/reference/api/engine/)
//   - the container runtime interface of containerd and CRI-O (runtime.v1 of
//     https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto)
//   - the files that runc, crun and containerd's shims write about their containers
//   - for pods only, the read-only port of a kubelet, and a configured kubectl
//
// Its opinion: a request changes nothing and does not wait long. A source that does not answer counts as absent, and an error
// names it only if no other source knows the container. The package never reads environments, because they hold secrets.
package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Container is a container as an engine knows it. Unknown fields are "" or 0.
type Container struct {
	Engine string // the engine that knows it: "docker", "podman", "containerd", "cri-o", "crun", "runc", "kubernetes"
	ID     string
	Name   string // in a pod, the name of the container in the pod's specification
	Image  string
	PID    int // of its first process, as the engine numbers processes

	Pod, Namespace, PodUID, Node string

	Labels map[string]string // labels set by users; for a pod's container those of the pod
}

// Title is the name people use: "shop", "pod prod/shop-7f9/app", or the beginning of the ID.
func (c Container) Title() string {
	switch {
	case c.Pod != "":
		return "pod " + strings.Trim(c.Namespace+"/"+c.Pod+"/"+c.Name, "/")
	case c.Name != "":
		return c.Name
	}
	return c.ID[:min(len(c.ID), shortID)]
}

// shortID is how many characters of an ID are shown, and the fewest that a user may type.
const shortID = 12

// Errors of [Find].
var (
	ErrNone    = errors.New("no such container or pod here")
	ErrSeveral = errors.New("several containers are called so")
)

// patience bounds how long an engine may take to answer, which is on this host.
const patience = 2 * time.Second

// engine is a source that may know containers.
type engine struct {
	name   string
	social bool // it also answers queries for other engines whose containers it knows

	// find returns the containers of a query, and no others. An engine that does not exist returns none. The error is
	// one line for people.
	find func(ctx context.Context, q Query) ([]Container, error)
}

// Find finds one container. The error wraps [ErrNone] or [ErrSeveral]. In one line it names the engines asked, or the containers to
// choose from.
func Find(ctx context.Context, q Query) (Container, error) {
	return findContainer(ctx, allEngines(), q)
}

func findContainer(ctx context.Context, engines []engine, q Query) (Container, error) {
	var silent []string
	for _, e := range engines {
		if q.Engine != "" && e.name != q.Engine && !e.social {
			continue
		}
		asked, stop := context.WithTimeout(ctx, patience)
		all, err := e.find(asked, q)
		stop()
		if err != nil {
			silent = append(silent, err.Error())
			continue
		}
		switch one := onlyContainer(all); {
		case len(all) == 0:
		case one == nil:
			return Container{}, fmt.Errorf("%w: %s", ErrSeveral, formatChoices(all))
		default:
			return *one, nil
		}
	}
	if len(silent) > 0 {
		return Container{}, fmt.Errorf("%w (%s)", ErrNone, strings.Join(silent, "; "))
	}
	return Container{}, ErrNone
}

// onlyContainer returns the container of a list that holds just one, though perhaps repeatedly;
// nil if there are none or several.
func onlyContainer(all []Container) *Container {
	all = slices.CompactFunc(slices.Clone(all), func(a, b Container) bool { return a.ID == b.ID })
	if len(all) == 1 {
		return &all[0]
	}
	return nil
}

// formatChoices formats the names of containers for people to choose from, at most eight.
func formatChoices(all []Container) string {
	const most = 8
	var names []string
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s (container:%s)", c.Title(), c.ID[:min(len(c.ID), shortID)]))
	}
	slices.Sort(names)
	if left := len(names) - most; left > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", left))
	}
	return strings.Join(names, ", ")
}

// Of returns what the engines on this host know about the container with an ID; false if none knows it. It asks no other host.
func Of(ctx context.Context, id string) (Container, bool) {
	c, err := findContainer(ctx, localEngines(), Query{Name: id})
	return c, err == nil && (c.ID == id || c.Name == id)
}

// fillFromLabels fills in the pod, the name and the image from labels or annotations. With labels it also keeps those that users
// set.
func (c *Container) fillFromLabels(by map[string]string, labels bool) {
	for _, t := range []struct {
		to   *string
		keys []string
	}{
		{&c.Name, []string{"io.kubernetes.container.name", "io.kubernetes.cri.container-name", "nerdctl/name"}},
		{&c.Pod, []string{"io.kubernetes.pod.name", "io.kubernetes.cri.sandbox-name"}},
		{&c.Namespace, []string{"io.kubernetes.pod.namespace", "io.kubernetes.cri.sandbox-namespace"}},
		{&c.PodUID, []string{"io.kubernetes.pod.uid", "io.kubernetes.cri.sandbox-uid"}},
		{&c.Image, []string{"io.kubernetes.cri.image-name", "io.kubernetes.cri-o.ImageName"}},
	} {
		for _, key := range t.keys {
			if by[key] != "" {
				*t.to = by[key]
				break
			}
		}
	}
	if !labels {
		return
	}
	for key, value := range by {
		if strings.HasPrefix(key, "io.kubernetes.") || strings.HasPrefix(key, "annotation.") || strings.HasPrefix(key, "io.podman.") || len(key)+len(value) > longestLabel || len(c.Labels) == mostLabels {
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[key] = value
	}
}

// Bounds of the labels that are kept, because some tools store whole documents in them.
const (
	mostLabels   = 64
	longestLabel = 512
)

// isSandbox says whether labels or annotations belong to the container that only holds a pod's namespaces.
func isSandbox(by map[string]string) bool {
	return cmp.Or(by["io.kubernetes.cri.container-type"], by["io.kubernetes.cri-o.ContainerType"]) == "sandbox" ||
		by["io.kubernetes.docker.type"] == "podsandbox" || by["io.kubernetes.container.name"] == "POD"
}
