// Package container finds containers by what people call them: the name Docker or Podman know
// them by, a pod of Kubernetes, an id or its beginning; and what is known of one by its id: name,
// image, pod, namespace and labels.
//
// It asks, in this order and each only where it is there: the API of Docker and of Podman at
// their UNIX sockets (https://docs.docker.com/reference/api/engine/), the container runtime
// interface of containerd and CRI-O (runtime.v1 of
// https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto), what runc, crun
// and containerd's shims write down of the containers they run, and for pods alone the read-only
// port of a kubelet and a kubectl that is configured.
//
// Its opinion: nothing is asked that changes anything, or waited for long; who does not answer is
// as good as not there, and is named only if nobody else knows the container. Environments, which
// hold secrets, are read by nobody here.
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

// Container is one as an engine knows it. What is unknown is "" or 0.
type Container struct {
	Engine string // who knows it: "docker", "podman", "containerd", "cri-o", "crun", "runc", "kubernetes"
	ID     string
	Name   string // in a pod that of the container, as its specification has it
	Image  string
	PID    int // of its first process, as the engine counts them

	Pod, Namespace, PodUID, Node string

	Labels map[string]string // those people set; of a pod's container the pod's
}

// Title is what people call it: "shop", "pod prod/shop-7f9/app", the beginning of its id.
func (c Container) Title() string {
	switch {
	case c.Pod != "":
		return "pod " + strings.Trim(c.Namespace+"/"+c.Pod+"/"+c.Name, "/")
	case c.Name != "":
		return c.Name
	}
	return c.ID[:min(len(c.ID), shortID)]
}

// shortID is how much of an id people are shown, and what they type at least.
const shortID = 12

// Errors of [Find].
var (
	ErrNone    = errors.New("no such container or pod here")
	ErrSeveral = errors.New("several containers are called so")
)

// patience bounds how long an engine may take to answer: it is on this host.
const patience = 2 * time.Second

// engine is somebody who may know containers.
type engine struct {
	name   string
	social bool // it answers for the engine its containers are of, whatever it is called

	// find tells the containers asked for, and no others. An engine that is not there tells none; the error is
	// one line for people.
	find func(ctx context.Context, q Query) ([]Container, error)
}

// Find finds one container. The error wraps [ErrNone] or [ErrSeveral] and says, in one line, who
// was asked or which there are.
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

// Of is what the engines here know of the container with an id; false: none knows it. It asks
// nobody beyond this host.
func Of(ctx context.Context, id string) (Container, bool) {
	c, err := findContainer(ctx, localEngines(), Query{Name: id})
	return c, err == nil && (c.ID == id || c.Name == id)
}

// fillFromLabels fills in what labels or annotations say of the pod, the name and the image; with
// labels it also keeps the labels that people set.
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

// Bounds of the labels that are kept: some tools store whole documents in them.
const (
	mostLabels   = 64
	longestLabel = 512
)

// isSandbox says whether labels or annotations belong to the container that only holds a pod's
// namespaces and does nothing.
func isSandbox(by map[string]string) bool {
	return cmp.Or(by["io.kubernetes.cri.container-type"], by["io.kubernetes.cri-o.ContainerType"]) == "sandbox" ||
		by["io.kubernetes.docker.type"] == "podsandbox" || by["io.kubernetes.container.name"] == "POD"
}
