package container

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
)

// newKubeletEngine returns an engine that asks the read-only port of the node's kubelet for its pods, if the port is on. It does not
// ask the port with authentication: a user with credentials for that has kubectl, and root can ask the container runtime.
func newKubeletEngine(url string) engine {
	return engine{name: "kubernetes", social: true, find: func(ctx context.Context, q Query) ([]Container, error) {
		if q.Pod == "" {
			return nil, nil
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		transport := &http.Transport{DisableKeepAlives: true} // without a proxy
		response, err := transport.RoundTrip(request)
		if err != nil {
			return nil, nil // the port is off, as by default
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, nil
		}
		all, err := parsePods(response.Body, q.Pod)
		return filterMatching(all, q), err
	}}
}

// kubeletURL is the kubelet's default port.
const kubeletURL = "http://127.0.0.1:10255/pods"

// newKubectlEngine returns an engine that asks the cluster for a pod. It runs kubectl with this user's configuration.
func newKubectlEngine(program string) engine {
	return engine{name: "kubernetes", social: true, find: func(ctx context.Context, q Query) ([]Container, error) {
		path, err := exec.LookPath(program)
		if q.Pod == "" || err != nil {
			return nil, nil //nolint:nilerr // without kubectl other engines are asked
		}
		args := []string{"get", "pod", q.Pod, "-o", "json", "--request-timeout=2s"}
		if q.Namespace != "" {
			args = append(args, "-n", q.Namespace)
		}
		command := exec.CommandContext(ctx, path, args...)
		var said strings.Builder
		command.Stderr = &said
		text, err := command.Output()
		if err != nil {
			lines := strings.Split(strings.TrimSpace(said.String()), "\n") // the last line says why
			return nil, fmt.Errorf("kubectl: %s", cmp.Or(lines[len(lines)-1], err.Error()))
		}
		all, err := parsePods(strings.NewReader(string(text)), q.Pod)
		return filterMatching(all, q), err
	}}
}

// parsePods reads a Pod or a list of pods, and returns the containers of those with a name
// (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/).
func parsePods(r io.Reader, name string) ([]Container, error) {
	var answer struct {
		pod
		Items []pod `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(r, mostAnswer)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("the list of pods is not understood: %w", err)
	}
	var all []Container
	for _, p := range append(answer.Items, answer.pod) {
		if p.Metadata.Name != name {
			continue
		}
		for _, s := range p.Status.Containers {
			engine, id, ok := strings.Cut(s.ID, "://")
			if !ok || id == "" {
				continue // the container has not started
			}
			c := Container{Engine: engine, ID: id, Image: s.Image}
			c.fillFromLabels(p.Metadata.Labels, true)
			c.Name, c.Pod, c.Namespace, c.PodUID, c.Node = s.Name, p.Metadata.Name, p.Metadata.Namespace, p.Metadata.UID, p.Spec.Node
			all = append(all, c)
		}
	}
	return all, nil
}

type pod struct {
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		UID       string            `json:"uid"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Node string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Containers []struct {
			Name  string `json:"name"`
			ID    string `json:"containerID"`
			Image string `json:"image"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

// localEngines returns the engines of this host, in the order in which they are asked.
func localEngines() []engine {
	return []engine{
		newDockerEngine("docker", dockerSockets()),
		newDockerEngine("podman", podmanSockets()),
		newCRIEngine("containerd", containerdSockets),
		newCRIEngine("cri-o", crioSockets),
		newBundleEngine(defaultRoots()),
	}
}

// allEngines returns the engines of this host, then the kubelet and kubectl, which know the pods of a cluster.
func allEngines() []engine {
	return append(localEngines(), newKubeletEngine(kubeletURL), newKubectlEngine("kubectl"))
}
