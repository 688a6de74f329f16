// Package container records what the engines of this host know about a process's container: name, image, pod, namespace and
// labels. It switches nothing on. Its data was found when the target was resolved (internal/collect/discover/container).
//
// Its artifact is container.txt, as internal/format/container reads it.
package container

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/discover/container"
	"github.com/unstall/unstall/internal/collect/probe"
)

const name = "container"

// Probe records the names of a process's container.
var Probe = probe.Probe{
	Name:    name,
	About:   "name, image, pod and labels of the container, as its engine knows them",
	General: true,
	Find:    findAccess,
}

func findAccess(_ context.Context, t discover.Target) []probe.Access {
	c := t.In
	if c.ID == "" {
		return nil
	}
	where := "container " + c.Title()
	return []probe.Access{{Probe: name, Where: where, Record: func(_ context.Context, _ probe.Plan, sink probe.Sink) error {
		w, err := sink.Create(capture.Meta{Name: "container.txt", Probe: name, Origin: where, About: t.Subject(), Lines: true})
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, formatArtifact(t.PID, c))
		if e := w.Close(); err == nil {
			err = e
		}
		return err
	}}}
}

// formatArtifact returns the artifact's text: a line for each known property of the container.
func formatArtifact(pid int, c container.Container) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# container of pid %d\n", pid)
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s %s\n", key, strings.NewReplacer("\n", " ", "\r", " ").Replace(value))
		}
	}
	line("engine", c.Engine)
	line("id", c.ID)
	line("name", c.Name)
	line("image", c.Image)
	line("pod", c.Pod)
	line("namespace", c.Namespace)
	line("node", c.Node)
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		line("label", key+"="+c.Labels[key])
	}
	return b.String()
}
