package container

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Query is the name by which a user asks for a container.
type Query struct {
	Engine         string // "docker", "podman", "containerd", "cri-o"; "" any
	Name           string // name, ID, or the beginning of the ID; "" the only container of its pod
	Pod, Namespace string // "" not in a pod, any namespace
}

// schemes are the engines in the form that targets begin with. Pods' statuses also name containers in this form
// ("containerd://ID").
var schemes = []string{"docker", "podman", "containerd", "cri-o"}

// Parse reads docker://NAME, podman://NAME, containerd://ID, cri-o://ID, container:NAME, pod/NAME[/CONTAINER] and
// pod/NAMESPACE/NAME/CONTAINER. ok says whether the text has one of these forms, and the error what is wrong with it.
func Parse(arg string) (q Query, ok bool, err error) {
	if name, is := strings.CutPrefix(arg, "container:"); is {
		q.Name = name
		return q, true, q.CheckNames(arg)
	}
	if rest, is := strings.CutPrefix(arg, "pod/"); is {
		switch parts := strings.Split(rest, "/"); len(parts) {
		case 1:
			q.Pod = parts[0]
		case 2:
			q.Pod, q.Name = parts[0], parts[1]
		case 3:
			q.Namespace, q.Pod, q.Name = parts[0], parts[1], parts[2]
		default:
			return q, true, fmt.Errorf("%s: give pod/NAME, pod/NAME/CONTAINER or pod/NAMESPACE/NAME/CONTAINER", arg)
		}
		return q, true, q.CheckNames(arg)
	}
	scheme, name, is := strings.Cut(arg, "://")
	if !is || !slices.Contains(schemes, scheme) {
		return q, false, nil
	}
	q.Engine, q.Name = scheme, strings.TrimSuffix(name, "/")
	return q, true, q.CheckNames(arg)
}

// named matches the names that engines allow for containers, pods and namespaces.
var named = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// CheckNames returns an error if a part of a query, given as arg, cannot be a name.
func (q Query) CheckNames(arg string) error {
	if q.Name == "" && q.Pod == "" {
		return fmt.Errorf("%s: the name is missing: give docker://NAME, container:ID or pod/NAME", arg)
	}
	for _, part := range []string{q.Name, q.Pod, q.Namespace} {
		if part != "" && (len(part) > 253 || !named.MatchString(part)) {
			return fmt.Errorf("%s: %q cannot be the name or id of a container or pod", arg, part)
		}
	}
	return nil
}

// matchesContainer says whether a query asks for a container.
func (q Query) matchesContainer(c Container) bool {
	return (q.Engine == "" || q.Engine == c.Engine) &&
		(q.Pod == "" || q.Pod == c.Pod) &&
		(q.Namespace == "" || q.Namespace == c.Namespace) &&
		(q.Name == "" || q.Name == c.Name || q.Name == c.ID || len(q.Name) >= 4 && strings.HasPrefix(c.ID, q.Name))
}
