package container

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// newBundleEngine returns an engine that reads the files of container runtimes: runc's state.json, crun's status, and the
// folders of containerd's shims. Each names the bundle of its container. The bundle has a config.json as specified by OCI
// (https://github.com/opencontainers/runtime-spec/blob/main/config.md). Its annotations, with containerd's CRI and CRI-O, name
// container, pod and image.
func newBundleEngine(roots []root) engine {
	return engine{name: "oci", social: true, find: func(_ context.Context, q Query) (all []Container, err error) {
		for _, r := range roots {
			paths, _ := filepath.Glob(r.pattern) // an error only means a bad pattern
			for _, path := range paths {
				c, labels, e := r.read(path)
				switch {
				case errors.Is(e, os.ErrPermission):
					err = fmt.Errorf("this user may not read %s: run as root", path)
				case e != nil || c.ID == "" || isSandbox(labels): // it has ended, or is no container
				default:
					c.fillFromLabels(labels, false)
					if c.Name == "" {
						c.Name = c.ID
					}
					all = append(all, c)
				}
			}
			if onlyContainer(filterMatching(all, q)) != nil {
				break
			}
		}
		if all = filterMatching(all, q); len(all) > 0 {
			err = nil
		}
		return all, err
	}}
}

// filterMatching returns the containers that match a query.
func filterMatching(all []Container, q Query) (some []Container) {
	for _, c := range all {
		if q.matchesContainer(c) {
			some = append(some, c)
		}
	}
	return some
}

// root is where a runtime keeps the files of its containers, one for each, and how to read a file. The labels are the
// annotations of the container's bundle.
type root struct {
	pattern string
	read    func(path string) (Container, map[string]string, error)
}

// defaultRoots returns where containerd, crun and runc keep these files by default, for root and for this user.
func defaultRoots() []root {
	all := []root{
		{"/run/containerd/io.containerd.runtime.v2.task/*/*/config.json", readShim},
		{"/run/k3s/containerd/io.containerd.runtime.v2.task/*/*/config.json", readShim},
		{"/run/crun/*/status", crunStatus},
		{"/run/runc/*/state.json", runcState},
		{"/run/docker/runtime-runc/moby/*/state.json", runcState},
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, root{dir + "/crun/*/status", crunStatus}, root{dir + "/runc/*/state.json", runcState})
	}
	return all
}

// readShim reads the bundle of a containerd task. The shim writes the PID of the task's first process beside it. The folder is
// named after the container's ID, its parent after containerd's namespace.
func readShim(path string) (c Container, annotations map[string]string, err error) {
	dir := filepath.Dir(path)
	if annotations, err = readAnnotations(dir); err != nil {
		return c, nil, err
	}
	c = Container{Engine: "containerd", ID: filepath.Base(dir)}
	if filepath.Base(filepath.Dir(dir)) == "moby" {
		c.Engine = "docker"
	}
	if text, err := readSmall(filepath.Join(dir, "init.pid")); err == nil {
		c.PID, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return c, annotations, nil
}

// crunStatus reads the status file that crun writes (src/libcrun/status.c).
func crunStatus(path string) (Container, map[string]string, error) {
	var s struct {
		PID    int    `json:"pid"`
		Bundle string `json:"bundle"`
	}
	if err := readJSON(path, &s); err != nil {
		return Container{}, nil, err
	}
	annotations, _ := readAnnotations(s.Bundle) // the bundle may be gone while the container runs
	return Container{Engine: engineOf(annotations, "crun"), ID: filepath.Base(filepath.Dir(path)), PID: s.PID}, annotations, nil
}

// runcState reads the state file that runc writes (libcontainer/container.go).
func runcState(path string) (Container, map[string]string, error) {
	var s struct {
		ID     string `json:"id"`
		PID    int    `json:"init_process_pid"`
		Config struct {
			Labels []string `json:"labels"`
		} `json:"config"`
	}
	if err := readJSON(path, &s); err != nil {
		return Container{}, nil, err
	}
	annotations := map[string]string{}
	for _, label := range s.Config.Labels { // "bundle=/path", and the annotations
		key, value, _ := strings.Cut(label, "=")
		annotations[key] = value
	}
	return Container{Engine: engineOf(annotations, "runc"), ID: cmp.Or(s.ID, filepath.Base(filepath.Dir(path))), PID: s.PID}, annotations, nil
}

// engineOf returns the engine that started a container, by the container's annotations.
func engineOf(annotations map[string]string, by string) string {
	switch {
	case annotations["io.kubernetes.cri-o.ContainerID"] != "":
		return "cri-o"
	case annotations["io.container.manager"] == "libpod":
		return "podman"
	}
	return by
}

// readAnnotations reads only the annotations from a bundle's config.json.
func readAnnotations(dir string) (map[string]string, error) {
	var config struct {
		Annotations map[string]string `json:"annotations"`
	}
	err := readJSON(filepath.Join(dir, "config.json"), &config)
	return config.Annotations, err
}

// readJSON reads a JSON file of at most mostDocument bytes.
func readJSON(path string, into any) error {
	text, err := readSmall(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// mostDocument bounds what is read from a file, in bytes.
const mostDocument = 4 << 20

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostDocument))
}
