package main

import (
	"errors"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// within names targets by their containers.
type within struct {
	Containers []string `name:"container" sep:"none" placeholder:"NAME" help:"A container, by its name or id, as Docker, Podman, containerd, CRI-O, runc or crun knows it; may be repeated."`
}

// addContainers returns the typed targets and those of --container; an error if there are none.
func (w *within) addContainers(typed []string) ([]string, error) {
	for _, name := range w.Containers {
		if _, is, _ := container.Parse(name); !is {
			name = "container:" + name
		}
		typed = append(typed, name)
	}
	if len(typed) == 0 {
		return nil, errors.New(`expected "<target|file> ..."; see unstall --help`)
	}
	return typed, nil
}
