package container

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	shopID = "0f3c5f5b3dd4c1c5e5a1c1a7a6d8f9c0b1a2939495969798999a9b9c9d9e9f90"
	sideID = "0f3caaaa3dd4c1c5e5a1c1a7a6d8f9c0b1a2939495969798999a9b9c9d9e9f90"
)

func TestParse(t *testing.T) {
	for arg, want := range map[string]Query{
		"docker://shop":            {Engine: "docker", Name: "shop"},
		"podman://shop":            {Engine: "podman", Name: "shop"},
		"containerd://" + shopID:   {Engine: "containerd", Name: shopID},
		"container:1234":           {Name: "1234"},
		"pod/shop-7f9":             {Pod: "shop-7f9"},
		"pod/shop-7f9/app":         {Pod: "shop-7f9", Name: "app"},
		"pod/prod/shop-7f9.v2/app": {Namespace: "prod", Pod: "shop-7f9.v2", Name: "app"},
	} {
		if got, ok, err := Parse(arg); !ok || err != nil || got != want {
			t.Errorf("%s is %+v, %v, %v", arg, got, ok, err)
		}
	}
	for _, arg := range []string{"docker://", "docker://../../info", "container:", "container:a b", "pod/", "pod/a/b/c/d", "pod/--all", "docker://shop?x=1"} {
		if _, ok, err := Parse(arg); !ok || err == nil {
			t.Errorf("%s: %v, %v", arg, ok, err)
		}
	}
	for _, arg := range []string{"shop", "http://docker:80", "podium/x", "127.0.0.1:80"} {
		if _, ok, err := Parse(arg); ok || err != nil {
			t.Errorf("%s: %v, %v", arg, ok, err)
		}
	}
}

// TestDocker asks an API that answers as Docker 24's does.
func TestDocker(t *testing.T) {
	socket := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/containers/shop/json" || r.URL.Path == "/containers/"+shopID+"/json":
			answer(t, w, "docker-inspect.json")
		case r.URL.Path == "/containers/stopped/json":
			fmt.Fprintf(w, `{"Id":%q,"Name":"/stopped","State":{"Pid":0}}`, sideID)
		case r.URL.Path == "/containers/broken/json":
			_, _ = io.WriteString(w, `{"Id":`)
		case r.URL.Path == "/containers/json" && strings.Contains(r.URL.Query().Get("filters"), "shop-7f9"):
			answer(t, w, "docker-pod.json")
		case r.URL.Path == "/containers/json":
			_, _ = io.WriteString(w, "[]")
		default:
			http.NotFound(w, r)
		}
	}))
	asked := func(q Query) (Container, error) {
		return findContainer(t.Context(), []engine{newDockerEngine("docker", []string{"/nowhere.sock", socket})}, q)
	}
	want := Container{Engine: "docker", ID: shopID, Name: "shop", Image: "registry.example/shop:1.2", PID: 4711,
		Labels: map[string]string{"com.docker.compose.project": "market", "com.docker.compose.service": "shop"}}
	for _, name := range []string{"shop", shopID} {
		if got, err := asked(Query{Engine: "docker", Name: name}); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(want, got))
		}
	}
	inPod := Container{Engine: "docker", ID: shopID, Name: "app", Image: "registry.example/shop:1.2", Pod: "shop-7f9", Namespace: "prod", PodUID: "3c1e", Labels: map[string]string{"app": "shop"}}
	if got, err := asked(Query{Pod: "shop-7f9"}); err != nil || cmp.Diff(inPod, got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(inPod, got))
	}
	for name, says := range map[string]string{"stopped": "stopped is stopped", "broken": "not understood", "nobody": "no such container or pod"} {
		if _, err := asked(Query{Name: name}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := asked(Query{Engine: "podman", Name: "shop"}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := findContainer(t.Context(), []engine{newDockerEngine("podman", []string{"/nowhere.sock"})}, Query{Engine: "podman", Name: "shop"}); err == nil || !strings.Contains(err.Error(), "podman does not run here: /nowhere.sock does not exist") {
		t.Error(err)
	}
}

// TestCRI asks a server that speaks gRPC as containerd does.
func TestCRI(t *testing.T) {
	var status, asked string
	message := appendContainer(nil, shopID, "app", "registry.example/shop:1.2", map[string]string{"io.kubernetes.pod.name": "shop-7f9", "io.kubernetes.pod.namespace": "prod", "io.kubernetes.pod.uid": "3c1e", "io.kubernetes.container.name": "app", "app": "shop"})
	message = appendContainer(message, sideID, "proxy", "sha256:aaaabbbbccccddddeeeeffff", map[string]string{"io.kubernetes.pod.name": "shop-7f9", "io.kubernetes.pod.namespace": "prod", "io.kubernetes.container.name": "proxy"})
	socket := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = fmt.Sprintf("%s %s %s %x", r.Proto, r.URL.Path, r.Header.Get("Content-Type"), body)
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
		w.Header().Set("Grpc-Status", status)
		w.Header().Set("Grpc-Message", "unknown service runtime.v1.RuntimeService")
	}))
	ask := func(q Query) (Container, error) {
		return findContainer(t.Context(), []engine{newCRIEngine("containerd", []string{socket})}, q)
	}
	status = "0"
	want := Container{Engine: "containerd", ID: shopID, Name: "app", Image: "registry.example/shop:1.2", Pod: "shop-7f9", Namespace: "prod", PodUID: "3c1e", Labels: map[string]string{"app": "shop"}}
	for _, q := range []Query{{Pod: "shop-7f9", Name: "app"}, {Name: shopID}, {Name: "0f3c5f"}, {Engine: "containerd", Name: "app"}} {
		if got, err := ask(q); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%+v: %v %s", q, err, cmp.Diff(want, got))
		}
	}
	if got, err := ask(Query{Name: "proxy"}); err != nil || got.Image != "sha256:aaaabbbbcccc" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ask(Query{Pod: "shop-7f9"}); !errors.Is(err, ErrSeveral) || !strings.Contains(err.Error(), "pod prod/shop-7f9/app (container:0f3c5f5b3dd4), pod prod/shop-7f9/proxy") {
		t.Error(err)
	}
	if _, err := ask(Query{Name: "0f3c"}); !errors.Is(err, ErrSeveral) {
		t.Error(err)
	}
	if want := "HTTP/2.0 /runtime.v1.RuntimeService/ListContainers application/grpc 00000000060a0412020801"; asked != want {
		t.Errorf("asked %s", asked)
	}
	status = "12"
	if _, err := ask(Query{Name: "app"}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "gRPC status 12: unknown service") {
		t.Error(err)
	}
}

func FuzzContainers(f *testing.F) {
	f.Add(appendContainer(nil, shopID, "app", "shop:1.2", map[string]string{"app": "shop"}))
	f.Fuzz(func(t *testing.T, message []byte) { _, _ = parseContainers("containerd", message) })
}

func FuzzPods(f *testing.F) {
	f.Add(`{"metadata":{"name":"shop-7f9"},"status":{"containerStatuses":[{"name":"app","containerID":"containerd://0f3c"}]}}`)
	f.Fuzz(func(t *testing.T, text string) { _, _ = parsePods(strings.NewReader(text), "shop-7f9") })
}

// appendContainer adds a Container with further, unread fields to a ListContainersResponse.
func appendContainer(message []byte, id, name, image string, labels map[string]string) []byte {
	bytes := func(to []byte, number protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), value)
	}
	c := bytes(nil, 1, id)
	c = bytes(c, 2, "sandbox")
	c = bytes(c, 3, string(protowire.AppendVarint(protowire.AppendTag(bytes(nil, 1, name), 2, protowire.VarintType), 3)))
	c = bytes(c, 4, string(bytes(nil, 1, image)))
	c = protowire.AppendVarint(protowire.AppendTag(c, 6, protowire.VarintType), 1)
	for key, value := range labels {
		c = bytes(c, 8, string(bytes(bytes(nil, 1, key), 2, value)))
	}
	return bytes(message, 1, string(c))
}

// TestBundles reads the files that containerd's shim, crun and runc write.
func TestBundles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("task/k8s.io/"+shopID+"/config.json", `{"ociVersion":"1.0.2","process":{"env":["PASSWORD=hunter2"]},"annotations":{"io.kubernetes.cri.container-type":"container",
		"io.kubernetes.cri.container-name":"app","io.kubernetes.cri.sandbox-name":"shop-7f9","io.kubernetes.cri.sandbox-namespace":"prod","io.kubernetes.cri.image-name":"shop:1.2"}}`)
	write("task/k8s.io/"+shopID+"/init.pid", "4711")
	write("task/k8s.io/"+sideID+"/config.json", `{"annotations":{"io.kubernetes.cri.container-type":"sandbox","io.kubernetes.cri.sandbox-name":"shop-7f9"}}`)
	write("bundle/config.json", `{"annotations":{"org.example":"x"}}`)
	write("crun/till/status", `{"pid":4712,"bundle":"`+dir+`/bundle","rootfs":"/r"}`)
	write("runc/store/state.json", `{"id":"store","init_process_pid":4713,"config":{"labels":["bundle=/b","org.example=x"]}}`)
	write("runc/torn/state.json", `{"id":"sto`)
	all := newBundleEngine([]root{{dir + "/task/*/*/config.json", readShim}, {dir + "/crun/*/status", crunStatus}, {dir + "/runc/*/state.json", runcState}})
	for _, c := range []struct {
		q    Query
		want Container
	}{
		{Query{Pod: "shop-7f9"}, Container{Engine: "containerd", ID: shopID, Name: "app", Image: "shop:1.2", PID: 4711, Pod: "shop-7f9", Namespace: "prod"}},
		{Query{Engine: "containerd", Name: shopID}, Container{Engine: "containerd", ID: shopID, Name: "app", Image: "shop:1.2", PID: 4711, Pod: "shop-7f9", Namespace: "prod"}},
		{Query{Name: "till"}, Container{Engine: "crun", ID: "till", Name: "till", PID: 4712}},
		{Query{Name: "store"}, Container{Engine: "runc", ID: "store", Name: "store", PID: 4713}},
	} {
		if got, err := findContainer(t.Context(), []engine{all}, c.q); err != nil || cmp.Diff(c.want, got) != "" {
			t.Errorf("%+v: %v %s", c.q, err, cmp.Diff(c.want, got))
		}
	}
	if _, err := findContainer(t.Context(), []engine{all}, Query{Name: "torn"}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestPods reads the answers of a kubelet and of kubectl.
func TestPods(t *testing.T) {
	want := Container{Engine: "containerd", ID: shopID, Name: "app", Image: "registry.example/shop:1.2", Pod: "shop-7f9", Namespace: "prod", PodUID: "3c1e", Node: "worker-3", Labels: map[string]string{"app": "shop"}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(t, w, "kubelet-pods.json") })} //nolint:gosec // of a test
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	program := filepath.Join(t.TempDir(), "kubectl")
	text, err := os.ReadFile("testdata/kubelet-pods.json")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n[ \"$*\" = 'get pod shop-7f9 -o json --request-timeout=2s -n prod' ] || { echo 'Error from server (NotFound): pods \"'$3'\" not found' >&2; exit 1; }\ncat <<'END'\n" + string(text) + "END\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]engine{"kubelet": newKubeletEngine("http://" + l.Addr().String() + "/pods"), "kubectl": newKubectlEngine(program)} {
		got, err := findContainer(t.Context(), []engine{e}, Query{Pod: "shop-7f9", Namespace: "prod", Name: "app"})
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(want, got))
		}
	}
	if _, err := findContainer(t.Context(), []engine{newKubectlEngine(program)}, Query{Pod: "other"}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), `kubectl: Error from server (NotFound): pods "other" not found`) {
		t.Error(err)
	}
}

// TestSilent asks an engine that accepts the request and never answers.
func TestSilent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, e := range []engine{newDockerEngine("docker", []string{path}), newCRIEngine("containerd", []string{path})} {
		if _, err := findContainer(ctx, []engine{e}, Query{Name: "shop"}); !errors.Is(err, ErrNone) || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
}

// serve answers at a UNIX socket, by HTTP/1.1 and HTTP/2 without TLS.
func serve(t *testing.T, by http.Handler) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // the path of t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: by, Protocols: both} //nolint:gosec // of a test
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return dir + "/s"
}

// answer sends an answer from testdata, which has the fields of real ones that matter here.
func answer(t *testing.T, w io.Writer, name string) {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Error(err)
	}
	_, _ = w.Write(text)
}
