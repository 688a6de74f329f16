package main

import (
	"fmt"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// within names targets by their containers.
type within struct {
	Containers []string `name:"container" sep:"none" placeholder:"NAME" help:"A container, by its name or id, as Docker, Podman, containerd, CRI-O, runc or crun knows it; may be repeated."`
}

// addContainers returns the typed targets and those of --container. If there are none, the error says what to give and which command's
// help to read.
func (w *within) addContainers(typed []string, wanted, help string) ([]string, error) {
	for _, name := range w.Containers {
		if _, is, _ := container.Parse(name); !is {
			name = "container:" + name
		}
		typed = append(typed, name)
	}
	if len(typed) == 0 {
		return nil, fmt.Errorf("give %s; see unstall %s", wanted, help)
	}
	return typed, nil
}
