package container

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Query is what somebody called a container.
type Query struct {
	Engine         string // "docker", "podman", "containerd", "cri-o"; "" any
	Name           string // its name, its id, or the beginning of that; "" the only one of its pod
	Pod, Namespace string // "" of no pod, of any namespace
}

// schemes are the engines as targets begin with them; pods' statuses name containers so, too
// ("containerd://ID").
var schemes = []string{"docker", "podman", "containerd", "cri-o"}

// Parse reads docker://NAME, podman://NAME, containerd://ID, cri-o://ID, container:NAME,
// pod/NAME[/CONTAINER] and pod/NAMESPACE/NAME/CONTAINER; ok says whether it is one of these, and the
// error what is wrong with it.
func Parse(arg string) (q Query, ok bool, err error) {
	if name, is := strings.CutPrefix(arg, "container:"); is {
		q.Name = name
		return q, true, q.checkNames(arg)
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
		return q, true, q.checkNames(arg)
	}
	scheme, name, is := strings.Cut(arg, "://")
	if !is || !slices.Contains(schemes, scheme) {
		return q, false, nil
	}
	q.Engine, q.Name = scheme, strings.TrimSuffix(name, "/")
	return q, true, q.checkNames(arg)
}

// named is what engines let containers, pods and namespaces be called.
var named = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

func (q Query) checkNames(arg string) error {
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

// matchesContainer says whether a container is one the query asks for.
func (q Query) matchesContainer(c Container) bool {
	return (q.Engine == "" || q.Engine == c.Engine) &&
		(q.Pod == "" || q.Pod == c.Pod) &&
		(q.Namespace == "" || q.Namespace == c.Namespace) &&
		(q.Name == "" || q.Name == c.Name || q.Name == c.ID || len(q.Name) >= 4 && strings.HasPrefix(c.ID, q.Name))
}
