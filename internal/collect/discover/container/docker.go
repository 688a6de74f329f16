package container

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// newDockerEngine returns an engine that is asked by Docker's API, which Podman also serves. The requests name no version of the
// API, so that the engine uses its newest: all versions have the fields read here.
func newDockerEngine(name string, sockets []string) engine {
	return engine{name: name, find: func(ctx context.Context, q Query) ([]Container, error) {
		path := firstSocket(sockets)
		if path == "" {
			return reportAbsent(q, name, sockets)
		}
		api := &dockerAPI{engine: name, socket: path, client: overUnix(path)}
		if q.Pod != "" {
			return api.listPod(ctx, q)
		}
		c, err := api.findByName(ctx, q.Name)
		if c == nil || err != nil {
			return nil, err
		}
		return []Container{*c}, nil
	}}
}

// reportAbsent is the answer of an engine that does not run here: no containers, and an error only if the query names that engine.
func reportAbsent(q Query, name string, sockets []string) ([]Container, error) {
	if q.Engine != name {
		return nil, nil
	}
	return nil, fmt.Errorf("%s does not run here: %s does not exist", name, sockets[len(sockets)-1])
}

// firstSocket returns the first path that is a UNIX socket, "" if none is.
func firstSocket(sockets []string) string {
	for _, path := range sockets {
		if fi, err := os.Stat(path); err == nil && fi.Mode()&os.ModeSocket != 0 {
			return path
		}
	}
	return ""
}

func dockerSockets() []string {
	return socketPaths("DOCKER_HOST", "docker.sock", "/run/docker.sock", "/var/run/docker.sock")
}

func podmanSockets() []string {
	return socketPaths("CONTAINER_HOST", "podman/podman.sock", "/run/podman/podman.sock")
}

// socketPaths returns the paths at which an engine may listen: the one in an environment variable, those in this user's runtime
// directory, and those of the host.
func socketPaths(variable, users string, hosts ...string) (all []string) {
	if path, ok := strings.CutPrefix(os.Getenv(variable), "unix://"); ok {
		all = append(all, path)
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, filepath.Join(dir, users))
	}
	return append(all, hosts...)
}

// overUnix speaks HTTP/1.1 over a UNIX socket.
func overUnix(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}

type dockerAPI struct {
	engine, socket string
	client         *http.Client
}

// findByName asks for a container by its name or the beginning of its id; nil if there is none.
func (a *dockerAPI) findByName(ctx context.Context, name string) (*Container, error) {
	var answer struct {
		ID    string `json:"Id"`
		Name  string
		State struct{ Pid int }
		// Config also has the environment, which is not decoded
		Config struct {
			Image  string
			Labels map[string]string
		}
	}
	found, err := a.getJSON(ctx, "/containers/"+url.PathEscape(name)+"/json", &answer)
	if !found || err != nil {
		return nil, err
	}
	c := &Container{Engine: a.engine, ID: answer.ID, Name: strings.TrimPrefix(answer.Name, "/"), Image: answer.Config.Image, PID: answer.State.Pid}
	if answer.Config.Labels["io.kubernetes.pod.name"] == "" {
		delete(answer.Config.Labels, "io.kubernetes.container.name")
	}
	c.fillFromLabels(answer.Config.Labels, true)
	if c.PID == 0 {
		return nil, fmt.Errorf("%s is stopped, says %s", cmp.Or(c.Name, name), a.engine)
	}
	return c, nil
}

// listPod lists the running containers of a pod. cri-dockerd labels them as the kubelet did.
func (a *dockerAPI) listPod(ctx context.Context, q Query) ([]Container, error) {
	filter, err := json.Marshal(map[string][]string{"label": {"io.kubernetes.pod.name=" + q.Pod}})
	if err != nil {
		return nil, err
	}
	var answer []struct {
		ID     string `json:"Id"`
		Names  []string
		Image  string
		Labels map[string]string
	}
	if _, err := a.getJSON(ctx, "/containers/json?filters="+url.QueryEscape(string(filter)), &answer); err != nil {
		return nil, err
	}
	var all []Container
	for _, one := range answer {
		if isSandbox(one.Labels) {
			continue
		}
		c := Container{Engine: a.engine, ID: one.ID, Image: one.Image}
		c.fillFromLabels(one.Labels, true)
		all = append(all, c)
	}
	return filterMatching(all, q), nil
}

// mostAnswer bounds what is read from an answer, in bytes.
const mostAnswer = 16 << 20

// getJSON decodes the JSON answer to a GET request; found is false if the answer is 404.
func (a *dockerAPI) getJSON(ctx context.Context, path string, into any) (found bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.engine+path, nil)
	if err != nil {
		return false, err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return false, a.refusalError(err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return false, nil
	case response.StatusCode != http.StatusOK:
		return false, fmt.Errorf("%s at %s answers %s", a.engine, a.socket, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, mostAnswer)).Decode(into); err != nil {
		return false, fmt.Errorf("%s at %s sent a response that is not understood: %w", a.engine, a.socket, err)
	}
	return true, nil
}

func (a *dockerAPI) refusalError(err error) error { return explainRefusal(a.engine, a.socket, err) }

// explainRefusal says why an engine cannot be asked.
func explainRefusal(engine, socket string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("this user may not ask %s at %s: run as root, or as one of the socket's group", engine, socket)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s at %s does not answer", engine, socket)
	}
	var reason *url.Error
	if errors.As(err, &reason) {
		err = reason.Err
	}
	return fmt.Errorf("%s at %s cannot be asked: %w", engine, socket, err)
}
