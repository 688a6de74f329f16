package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover/container"
)

// Sidecar is a container that is started beside another one and sees its processes.
type Sidecar struct {
	Of      string   // the container beside it: "pod prod/shop-7f9/app"
	Command []string // without the command run in it
	Profile []byte   // settings for kubectl (--custom), JSON; nil: not in a pod
	Rights  []Right
	Note    string // a note to the user, "" nothing
	Unasked error  // why kubectl could not say who runs the pod, so that Command suits any user; nil: it did
}

// Right is a right that the sidecar needs, and the reason.
type Right struct{ Name, Why string }

// Placeholder is the image in commands if none was given.
const Placeholder = "registry.example/unstall:latest"

// ProfileFile is the name of the file with the profile in commands.
const ProfileFile = "unstall-profile.json"

// neededRights returns the rights that recording a process of a user needs, and the capabilities among them. User 0 is root, -1 unknown.
// The kernel lets a process read /proc of another process of the same user if that has no capability which the reader lacks (ptrace(2),
// "Ptrace access mode checking").
func neededRights(user int, kernel bool) (all []Right, adds []string) {
	sampled := kernel && user > 0
	user = runsAs(user, kernel)
	add := func(capability, why string) {
		all = append(all, Right{capability, why})
		adds = append(adds, capability)
	}
	all = append(all, Right{"the container's PID namespace", "to see its processes"})
	switch {
	case user > 0:
		all = append(all, Right{fmt.Sprintf("user %d", user), "the user of the process: the kernel then shows it without any capability, and a JVM and .NET answer only this user"})
	case user == 0:
		all = append(all, Right{"root, as its process is", "a JVM and .NET answer only this user"})
		add("SYS_PTRACE", "to read /proc/PID of a process that has capabilities: its files, limits, sockets")
	default:
		why := "the user its process runs as is not known; what follows stands in for that"
		if sampled {
			why = "only root may look into the kernel (--kernel); what follows stands in for the user its process runs as"
		}
		all = append(all, Right{"root", why})
		add("SYS_PTRACE", "to read /proc/PID of another user's process: its files, limits, sockets")
		add("DAC_OVERRIDE", "to open the sockets that a JVM and .NET make for their own user")
		add("SETUID", "to ask a JVM, which answers its own user alone")
		add("SETGID", "for the same")
		add("KILL", "to have a JVM open its socket (SIGQUIT)")
	}
	if kernel {
		add("BPF", "to see what threads wait for in the kernel (--kernel)")
		add("PERFMON", "for the same, and to sample where they run")
		add("SYS_RESOURCE", "kernels before 5.11 count that as locked memory")
	}
	return all, adds
}

// runsAs returns the user whose rights are needed. It is -1 to record the kernel beside an ordinary user's process, because that needs root.
func runsAs(user int, kernel bool) int {
	if kernel && user > 0 {
		return -1
	}
	return user
}

// security is a container's securityContext
// (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#security-context-1).
type security struct {
	RunAsUser                int64        `json:"runAsUser"`
	RunAsNonRoot             bool         `json:"runAsNonRoot"`
	AllowPrivilegeEscalation bool         `json:"allowPrivilegeEscalation"`
	ReadOnlyRootFilesystem   bool         `json:"readOnlyRootFilesystem"`
	Capabilities             capabilities `json:"capabilities"`
	Seccomp                  struct {
		Type string `json:"type"`
	} `json:"seccompProfile"`
}

type capabilities struct {
	Drop []string `json:"drop"`
	Add  []string `json:"add,omitempty"`
}

// Profile returns the settings of an ephemeral container for kubectl debug (--custom), beside a process of a user, -1 unknown.
func Profile(user int, kernel bool) []byte {
	_, adds := neededRights(user, kernel)
	user = runsAs(user, kernel)
	s := security{RunAsUser: int64(max(0, user)), RunAsNonRoot: user > 0, ReadOnlyRootFilesystem: true, Capabilities: capabilities{[]string{"ALL"}, adds}}
	s.Seccomp.Type = "RuntimeDefault"
	text, err := json.MarshalIndent(map[string]security{"securityContext": s}, "", "  ")
	if err != nil {
		panic(err) // cannot happen: it has only numbers and words
	}
	return append(text, '\n')
}

// ErrNoContainer is wrapped by errors for what names no pod and no container.
var ErrNoContainer = errors.New("give a pod or a container")

// ContainerPlaceholder stands for a container's name in a command for a pod that could not be asked.
const ContainerPlaceholder = "CONTAINER"

// Of names what a sidecar is started beside: a target, and of a pod its namespace and container where they are given beside it, as kubectl
// takes them.
type Of struct{ Target, Namespace, Container string }

// findContainer returns what is asked for. A bare name is a pod's, as for kubectl; a number is a PID.
func (o Of) findContainer() (container.Query, error) {
	arg := o.Target
	if _, err := strconv.Atoi(arg); err != nil && !strings.ContainsAny(arg, "/:") {
		arg = "pod/" + arg
	}
	q, is, err := container.Parse(arg)
	switch {
	case err != nil:
		return q, err
	case !is:
		return q, fmt.Errorf("%s: %w: pod/NAME, pod/NAMESPACE/NAME/CONTAINER, docker://NAME or podman://NAME", o.Target, ErrNoContainer)
	case o.Namespace == "" && o.Container == "":
		return q, nil
	case q.Pod == "":
		return q, fmt.Errorf("%s: %w of Kubernetes: --namespace and --container are of a pod", o.Target, ErrNoContainer)
	case o.Namespace != "" && q.Namespace != "" && o.Namespace != q.Namespace:
		return q, fmt.Errorf("%s: %w: it names namespace %s, and --namespace %s", o.Target, ErrNoContainer, q.Namespace, o.Namespace)
	case o.Container != "" && q.Name != "" && o.Container != q.Name:
		return q, fmt.Errorf("%s: %w: it names container %s, and --container %s", o.Target, ErrNoContainer, q.Name, o.Container)
	}
	q.Namespace, q.Name = cmp.Or(q.Namespace, o.Namespace), cmp.Or(q.Name, o.Container)
	return q, q.CheckNames(o.Target)
}

// Beside says how to start a container beside another one. It asks kubectl for the user of a pod, else docker or podman. If
// kubectl cannot answer, the sidecar suits any user. An empty image is
// left as a placeholder.
func Beside(ctx context.Context, of Of, image string, kernel bool) (Sidecar, error) {
	q, err := of.findContainer()
	if err != nil {
		return Sidecar{}, err
	}
	if image == "" {
		image = Placeholder
	}
	if q.Pod != "" {
		return besidePod(ctx, q, image, kernel)
	}
	switch q.Engine {
	case "", "docker", "podman":
		return besideContainer(ctx, q, image, kernel)
	}
	return Sidecar{}, fmt.Errorf("%s: %s cannot start sidecar containers: give its pod, as pod/NAME", of.Target, q.Engine)
}

func besidePod(ctx context.Context, q container.Query, image string, kernel bool) (Sidecar, error) {
	words := []string{"get", "pod", q.Pod, "-o", "json", "--request-timeout=10s"}
	if q.Namespace != "" {
		words = append(words, "-n", q.Namespace)
	}
	said, err := runProgram(ctx, "kubectl", words...)
	switch {
	case err != nil && strings.Contains(err.Error(), "NotFound") && isTwoParts(q):
		return Sidecar{}, fmt.Errorf("%w; pod/%s/%s is container %[3]s of pod %[2]s: for pod %[3]s in namespace %[2]s give pod/%[3]s -n %[2]s", err, q.Pod, q.Name)
	case err != nil && strings.Contains(err.Error(), "NotFound"):
		return Sidecar{}, err
	case err != nil:
		a := sidecarOfPod(q, q.Namespace, cmp.Or(q.Name, ContainerPlaceholder), image, -1, kernel)
		if a.Unasked = err; isTwoParts(q) {
			a.Note = fmt.Sprintf("pod/%s/%s was read as container %[2]s of pod %[1]s: for pod %[2]s in namespace %[1]s give pod/%[2]s -n %[1]s. ", q.Pod, q.Name) + a.Note
		}
		return a, nil
	}
	var pod struct {
		Metadata struct{ Name, Namespace string }
		Spec     struct {
			SecurityContext struct{ RunAsUser *int }
			Containers      []struct {
				Name            string
				SecurityContext struct{ RunAsUser *int }
			}
		}
	}
	if err := json.Unmarshal(said, &pod); err != nil || len(pod.Spec.Containers) == 0 {
		return Sidecar{}, fmt.Errorf("kubectl get pod %s: its output is not a pod with containers", q.Pod)
	}
	at := 0
	if q.Name != "" {
		at = -1
		var names []string
		for i, c := range pod.Spec.Containers {
			if names = append(names, c.Name); c.Name == q.Name {
				at = i
			}
		}
		if at < 0 {
			return Sidecar{}, fmt.Errorf("pod %s has no container %s: it has %s", q.Pod, q.Name, sanitizeText(strings.Join(names, ", ")))
		}
	} else if n := len(pod.Spec.Containers); n > 1 {
		var names []string
		for _, c := range pod.Spec.Containers {
			names = append(names, "pod/"+q.Pod+"/"+c.Name)
		}
		return Sidecar{}, fmt.Errorf("pod %s has %d containers: choose one: %s", q.Pod, n, sanitizeText(strings.Join(names, ", ")))
	}
	c := pod.Spec.Containers[at]
	user := -1
	for _, u := range []*int{c.SecurityContext.RunAsUser, pod.Spec.SecurityContext.RunAsUser} {
		if u != nil {
			user = *u
			break
		}
	}
	namespace := pod.Metadata.Namespace
	if namespace == "" {
		namespace = "default"
	}
	return sidecarOfPod(q, namespace, c.Name, image, user, kernel), nil
}

// isTwoParts says whether a pod was given with one more name, which may have been meant as its namespace.
func isTwoParts(q container.Query) bool { return q.Namespace == "" && q.Name != "" }

// sidecarOfPod says how to start a container beside one of a pod whose processes a user runs, -1 unknown. No namespace is that of kubectl's
// context.
func sidecarOfPod(q container.Query, namespace, name, image string, user int, kernel bool) Sidecar {
	where := []string{q.Pod, name}
	if namespace != "" {
		where = append([]string{namespace}, where...)
	}
	a := Sidecar{Of: sanitizeText("pod " + strings.Join(where, "/")), Profile: Profile(user, kernel)}
	a.Rights, _ = neededRights(user, kernel)
	a.Rights = slices.Insert(a.Rights, 0, Right{"in the cluster: get pods, patch pods/ephemeralcontainers, create pods/attach", "to start the container and to read its output"})
	a.Command = []string{"kubectl", "debug", "-i", "--quiet", "pod/" + q.Pod}
	if namespace != "" {
		a.Command = append(a.Command, "-n", namespace)
	}
	a.Command = append(a.Command, "--image="+image, "--target="+name, "--profile=general", "--custom="+ProfileFile, "--arguments-only", "--")
	a.Note = "kubectl 1.31 or later is needed for --custom. An ephemeral container stays listed in the pod, ended, until the pod goes; nothing else of it stays."
	if name == ContainerPlaceholder {
		a.Note = name + " stands for the container in the pod. " + a.Note
	}
	return a
}

func besideContainer(ctx context.Context, q container.Query, image string, kernel bool) (Sidecar, error) {
	engine := q.Engine
	if engine == "" {
		engine = "docker"
	}
	said, err := runProgram(ctx, engine, "inspect", "--type", "container", "--format", "{{.Config.User}}", q.Name)
	if err != nil {
		return Sidecar{}, err
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(said)), ":")
	user, err := strconv.Atoi(name)
	switch {
	case name == "":
		user = 0 // an empty user means root
	case err != nil || user < 0:
		user = -1 // only the image knows the user's name
	}
	a := Sidecar{Of: "container " + q.Name}
	var adds []string
	a.Rights, adds = neededRights(user, kernel)
	a.Rights = slices.Insert(a.Rights, 1, Right{"its network namespace", "to ask what listens on its loopback, such as a debug port"})
	a.Command = []string{engine, "run", "--rm", "-i", "--pid=container:" + q.Name, "--network=container:" + q.Name, "--read-only", "--user=" + strconv.Itoa(max(0, runsAs(user, kernel))),
		"--cap-drop=ALL"}
	for _, c := range adds {
		a.Command = append(a.Command, "--cap-add="+c)
	}
	a.Command = append(a.Command, "--security-opt=no-new-privileges", image)
	return a, nil
}

// runProgram returns a program's output. The error is the last line of its standard error.
func runProgram(ctx context.Context, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s is not installed here: install it, or run unstall where it is installed", program)
	}
	c := exec.CommandContext(ctx, path, args...)
	said := new(tail)
	c.Stderr = said
	out, err := c.Output()
	if err != nil {
		if last := said.lastLine(); last != "" {
			return nil, fmt.Errorf("%s %s: %s", program, args[0], last)
		}
		return nil, fmt.Errorf("%s %s: %w", program, args[0], err)
	}
	return out, nil
}
