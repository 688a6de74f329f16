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

// bundles reads what runs containers wrote down of them: runc's state.json, crun's status, and the
// folders of containerd's shims. Each knows the bundle it runs, whose config.json is by the
// specification of OCI (https://github.com/opencontainers/runtime-spec/blob/main/config.md); of its
// annotations containerd's CRI and CRI-O name container, pod and image.
func bundles(roots []root) engine {
	return engine{name: "oci", social: true, find: func(_ context.Context, q Query) (all []Container, err error) {
		for _, r := range roots {
			paths, _ := filepath.Glob(r.pattern) // its error is of the pattern
			for _, path := range paths {
				c, labels, e := r.read(path)
				switch {
				case errors.Is(e, os.ErrPermission):
					err = fmt.Errorf("this user may not read %s: run as root", path)
				case e != nil || c.ID == "" || sandbox(labels): // it ended meanwhile, or is none
				default:
					c.told(labels, false)
					if c.Name == "" {
						c.Name = c.ID
					}
					all = append(all, c)
				}
			}
			if first(matching(all, q)) != nil {
				break
			}
		}
		if all = matching(all, q); len(all) > 0 {
			err = nil
		}
		return all, err
	}}
}

// matching are those of some containers that are asked for.
func matching(all []Container, q Query) (some []Container) {
	for _, c := range all {
		if q.means(c) {
			some = append(some, c)
		}
	}
	return some
}

// root is where a program keeps what it runs, a file for each, and how that is read. The labels
// are the annotations of the container's bundle.
type root struct {
	pattern string
	read    func(path string) (Container, map[string]string, error)
}

// roots are where they are by default, of root and of this user.
func roots() []root {
	all := []root{
		{"/run/containerd/io.containerd.runtime.v2.task/*/*/config.json", shim},
		{"/run/k3s/containerd/io.containerd.runtime.v2.task/*/*/config.json", shim},
		{"/run/crun/*/status", crunStatus},
		{"/run/runc/*/state.json", runcState},
		{"/run/docker/runtime-runc/moby/*/state.json", runcState},
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, root{dir + "/crun/*/status", crunStatus}, root{dir + "/runc/*/state.json", runcState})
	}
	return all
}

// shim reads the bundle of a task of containerd, beside which the shim writes its first process.
// The folder is the container's id, that above it containerd's namespace.
func shim(path string) (c Container, annotations map[string]string, err error) {
	dir := filepath.Dir(path)
	if annotations, err = bundle(dir); err != nil {
		return c, nil, err
	}
	c = Container{Engine: "containerd", ID: filepath.Base(dir)}
	if filepath.Base(filepath.Dir(dir)) == "moby" {
		c.Engine = "docker"
	}
	if text, err := small(filepath.Join(dir, "init.pid")); err == nil {
		c.PID, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return c, annotations, nil
}

// crunStatus reads what crun writes (src/libcrun/status.c).
func crunStatus(path string) (Container, map[string]string, error) {
	var s struct {
		PID    int    `json:"pid"`
		Bundle string `json:"bundle"`
	}
	if err := document(path, &s); err != nil {
		return Container{}, nil, err
	}
	annotations, _ := bundle(s.Bundle) // it may be gone: the container runs on
	return Container{Engine: engineOf(annotations, "crun"), ID: filepath.Base(filepath.Dir(path)), PID: s.PID}, annotations, nil
}

// runcState reads what runc writes (libcontainer/container.go).
func runcState(path string) (Container, map[string]string, error) {
	var s struct {
		ID     string `json:"id"`
		PID    int    `json:"init_process_pid"`
		Config struct {
			Labels []string `json:"labels"`
		} `json:"config"`
	}
	if err := document(path, &s); err != nil {
		return Container{}, nil, err
	}
	annotations := map[string]string{}
	for _, label := range s.Config.Labels { // "bundle=/path", and the annotations
		key, value, _ := strings.Cut(label, "=")
		annotations[key] = value
	}
	return Container{Engine: engineOf(annotations, "runc"), ID: cmp.Or(s.ID, filepath.Base(filepath.Dir(path))), PID: s.PID}, annotations, nil
}

// engineOf is who had a container run, by its annotations.
func engineOf(annotations map[string]string, by string) string {
	switch {
	case annotations["io.kubernetes.cri-o.ContainerID"] != "":
		return "cri-o"
	case annotations["io.container.manager"] == "libpod":
		return "podman"
	}
	return by
}

// bundle reads the annotations of a bundle's config.json, and nothing else of it.
func bundle(dir string) (map[string]string, error) {
	var config struct {
		Annotations map[string]string `json:"annotations"`
	}
	err := document(filepath.Join(dir, "config.json"), &config)
	return config.Annotations, err
}

// document reads a small file of JSON.
func document(path string, into any) error {
	text, err := small(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// mostDocument bounds what is read of a file, bytes.
const mostDocument = 4 << 20

func small(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostDocument))
}
