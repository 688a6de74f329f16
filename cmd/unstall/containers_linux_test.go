package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe/reach"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-starvation/app"
	"github.com/unstall/unstall/lab/jvmapp"
	"github.com/unstall/unstall/lab/process"
)

// contained is a service in an OCI container with a root file system, a PID, a mount and a network namespace and a CPU quota of
// its own. It ends with its standard input, as all programs of tests do.
type contained struct {
	id  string
	pid int // of its first process, as seen on the host
	*process.Process
}

// runc returns a program that runs OCI containers. Without one, or without root, the test is skipped, unless the variable RUNC
// says that there is one.
func runc(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("containers of their own namespaces need root")
	}
	return tooltest.Find(t, "runc")
}

// heaviest is the largest CPU weight of a group of processes. A container with it runs all that its quota allows, however busy
// the host is.
const heaviest = 262144

// contain runs a command in a container. The root file system has the named paths, read only, and a /tmp of its own. The first
// output is decoded into said.
func contain(t *testing.T, cores float64, has []string, env, command []string, said any) *contained {
	t.Helper()
	runc := runc(t)
	dir, id := t.TempDir(), fmt.Sprintf("unstall-test-%d-%s", os.Getpid(), strings.ToLower(filepath.Base(t.Name())))
	mounts := []map[string]any{
		{"destination": "/proc", "type": "proc", "source": "proc"},
		{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=755"}},
		{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "nodev", "mode=1777"}},
	}
	for _, path := range has {
		mounts = append(mounts, map[string]any{"destination": path, "source": path, "type": "bind", "options": []string{"rbind", "ro"}})
	}
	namespaces := []map[string]any{}
	for _, kind := range []string{"pid", "mount", "network", "ipc", "uts"} {
		namespaces = append(namespaces, map[string]any{"type": kind})
	}
	config := map[string]any{
		"ociVersion":  "1.0.2",
		"process":     map[string]any{"args": command, "env": env, "cwd": "/", "user": map[string]any{"uid": 0, "gid": 0}},
		"root":        map[string]any{"path": "rootfs"},
		"hostname":    "shop",
		"mounts":      mounts,
		"annotations": map[string]string{"io.kubernetes.cri.sandbox-name": "shop-7f9", "io.kubernetes.cri.sandbox-namespace": "prod", "io.kubernetes.cri.image-name": "registry.example/shop:1.2"},
		"linux": map[string]any{"namespaces": namespaces, "cgroupsPath": "/" + id,
			"resources": map[string]any{"cpu": map[string]any{"quota": int(cores * 100_000), "period": 100_000, "shares": heaviest}, "memory": map[string]any{"limit": 768 << 20}}},
	}
	text, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "rootfs"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command(runc, "delete", "--force", id).Run() })
	p, err := process.Start(context.Background(), runc, []string{"run", "--bundle", dir, id}, nil, filepath.Join(dir, "stderr"), said)
	if err != nil {
		t.Skipf("no container can be made here: %v", err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	state, err := exec.Command(runc, "state", id).Output()
	var is struct{ PID int }
	if err == nil {
		err = json.Unmarshal(state, &is)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &contained{id: id, pid: is.PID, Process: p}
}

// client reaches the service on the container's own loopback.
func (c *contained) client() *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: reach.DialIn(c.pid), MaxIdleConnsPerHost: 64}}
}

// left returns what an observer might leave behind in the container: temporary files, and processes.
func (c *contained) left(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"/tmp", "/"} {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/root%s", c.pid, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	ours, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", c.pid))
	if err != nil {
		t.Fatal(err)
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, ns := range processes {
		if is, err := os.Readlink(ns); err == nil && is == ours {
			all = append(all, "process "+strings.Split(ns, "/")[2])
		}
	}
	slices.Sort(all)
	return all
}

// diagnosed runs unstall on the container by its name, under a load. It checks the finding, the container that unstall names,
// and that nothing stays behind.
func (c *contained) diagnosed(t *testing.T, runtime, cause string, cores float64, load func(ctx context.Context)) *diagnose.Diagnosis {
	t.Helper()
	before := c.left(t)
	ctx, stop := context.WithCancel(t.Context())
	var loading sync.WaitGroup
	loading.Go(func() { load(ctx) })
	kept := filepath.Join(t.TempDir(), "shop.unstall")
	run := program(t, "unstall", "--container", c.id, "--for", "7s", "--format", "json", "--capture", kept, "--no-kernel")
	var out, said bytes.Buffer
	run.Stdout, run.Stderr = &out, &said
	err := run.Run()
	stop()
	loading.Wait()
	d := new(diagnose.Diagnosis)
	if err == nil {
		err = json.Unmarshal(out.Bytes(), d)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if !strings.Contains(said.String(), "in runc pod prod/shop-7f9/"+c.id) && !strings.Contains(said.String(), "pod prod/shop-7f9") {
		t.Errorf("said %s", said.String())
	}
	at := slices.IndexFunc(d.Targets, func(x diagnose.Target) bool { return x.Runtime == runtime && x.In != nil })
	if at < 0 {
		t.Fatalf("targets %+v", d.Targets)
	}
	if in := d.Targets[at].In; in.Pod != "shop-7f9" || in.Namespace != "prod" || in.Image != "registry.example/shop:1.2" || d.Targets[at].Container != c.id {
		t.Errorf("it runs in %+v, %s", in, d.Targets[at].Container)
	}
	if limit := d.Targets[at].MemLimit; limit == nil || *limit != 768<<20 {
		t.Errorf("its limit is %v", limit)
	}
	// A cause by other programs on the host may also be true, and may come first.
	own := slices.DeleteFunc(slices.Clone(d.Verdicts), func(v diagnose.Verdict) bool {
		return slices.Contains([]string{"linux.noisy-neighbour", "linux.cpu-saturation", "jvm.gc-cpu-starved"}, v.Cause)
	})
	if len(own) == 0 || own[0].Cause != cause || own[0].Verdict != "supported" {
		for _, v := range d.Verdicts {
			t.Logf("%s %s: %s %s", v.Verdict, v.Cause, v.Title, v.Summary)
		}
		t.Errorf("want %s first: %s", cause, said.String())
	}
	if !quotaKept(t, kept, cores) {
		t.Errorf("the capture does not hold the quota of %g CPUs", cores)
	}
	after := c.left(t)
	for _, x := range after {
		// The JVM creates the socket of its attach listener at the first request, and keeps it.
		if !slices.Contains(before, x) && !strings.HasPrefix(x, "/tmp/.java_pid") {
			t.Errorf("left in it: %s", x)
		}
	}
	return d
}

// quotaKept says whether a capture holds a CPU quota, of either version of control groups.
func quotaKept(t *testing.T, path string, cores float64) bool {
	t.Helper()
	c, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Artifacts() {
		if a.Name != "procfs.txt" && !strings.HasSuffix(a.Name, "/procfs.txt") {
			continue
		}
		r, err := a.Reader()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte(strconv.Itoa(int(cores*100_000))))
	}
	return false
}

// bursts repeatedly sends a few requests at once.
func bursts(ctx context.Context, client *http.Client, url string, at int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var under sync.WaitGroup
	defer under.Wait()
	for {
		for range at {
			under.Go(func() {
				q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
				if err != nil {
					return
				}
				if answer, err := client.Do(q); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
				}
			})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// TestContainedGo finds a Go service by its container's name. Its pprof is on the container's loopback only. Its fault does not
// depend on how busy the host is.
func TestContainedGo(t *testing.T) {
	runc(t)
	dir := t.TempDir()
	bin := compiled(t, dir, locked)
	var said struct{ Serving string }
	c := contain(t, .5, []string{dir}, nil, []string{bin}, &said)
	c.diagnosed(t, "go", "go.lock-contention", .5, func(ctx context.Context) {
		bursts(ctx, c.client(), "http://"+said.Serving+"/quote", 8, 400*time.Millisecond)
	})
}

// compiled builds a static program from source, in a directory that is given to a container.
func compiled(t *testing.T, dir, source string) (program string) {
	program = filepath.Join(dir, "shop")
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("go", "build", "-o", program, file)
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if text, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

const locked = `package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

var prices sync.Mutex

func main() {
	http.HandleFunc("/quote", func(w http.ResponseWriter, _ *http.Request) {
		prices.Lock()
		defer prices.Unlock()
		time.Sleep(20 * time.Millisecond) // writes them down
		fmt.Fprintln(w, "ok")
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, nil)
	fmt.Printf("{\"serving\":%q}\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
}
`

// TestContainedQuota finds a container's quota as the cause, for a service with short work in bursts that on average uses less
// than the quota. The container outweighs all other programs of the host. If these withhold more CPU time than the quota does,
// they are the cause, and the quota stays inconclusive.
func TestContainedQuota(t *testing.T) {
	runc(t)
	dir := t.TempDir()
	bin := compiled(t, dir, bursting)
	var said struct{ Serving string }
	c := contain(t, .2, []string{dir}, nil, []string{bin}, &said)
	d := c.diagnosed(t, "go", "linux.cpu-throttled", .2, func(ctx context.Context) {
		bursts(ctx, c.client(), "http://"+said.Serving+"/quote", 4, 500*time.Millisecond)
	})
	i := slices.IndexFunc(d.Verdicts, func(v diagnose.Verdict) bool { return v.Cause == "linux.cpu-throttled" })
	if i < 0 || !strings.Contains(d.Verdicts[i].Title, "A quota of 0.2 CPUs throttles the process") {
		t.Errorf("it says %+v", d.Verdicts)
	}
}

const bursting = `package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
)

var sink int

func main() {
	http.HandleFunc("/quote", func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		for i := range 12_000_000 { // some ms of work
			n += i * n
		}
		sink = n
		fmt.Fprintln(w, "ok")
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, nil)
	fmt.Printf("{\"serving\":%q}\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
}
`

// libraries are the files that dynamically linked programs need.
func libraries() (has []string) {
	for _, path := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ssl"} {
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			has = append(has, path)
		}
	}
	return has
}

// TestContainedDotnet finds a .NET service, whose diagnostics socket is in the container's /tmp.
func TestContainedDotnet(t *testing.T) {
	runc(t)
	sdk, dotnet := tooltest.Find(t, "dotnet"), tooltest.Find(t, "dotnet9")
	assembly, err := build.Dotnet(t.Context(), sdk, "dotnet-starvation", build.Project{Sources: app.Sources, File: app.Project}, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	home, err := filepath.EvalSymlinks(filepath.Dir(dotnet))
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Serving string }
	c := contain(t, 1.5, append(libraries(), home, filepath.Dir(assembly)), []string{"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", "HOME=/tmp"},
		[]string{filepath.Join(home, "dotnet"), assembly, "--control=true"}, &said)
	c.diagnosed(t, "dotnet", "dotnet.threadpool-starvation", 1.5, func(ctx context.Context) {
		bursts(ctx, c.client(), "http://"+said.Serving+"/api/diagscenario/taskwait", 12, 250*time.Millisecond)
	})
}

// TestContainedJVM finds a JVM, whose attach socket is in the container's /tmp under the JVM's PID there.
func TestContainedJVM(t *testing.T) {
	runc(t)
	home, err := filepath.EvalSymlinks(jvmapp.Home(t, scriptJVM))
	if err != nil {
		t.Fatal(err)
	}
	classes := jvmapp.Classes(t, collecting)
	var said struct{ PID int }
	c := contain(t, 1.5, append(libraries(), home, classes), []string{"HOME=/tmp"}, []string{filepath.Join(home, "bin", "java"), "-Xmx256m", "-cp", classes, "Host"}, &said)
	if said.PID != 1 {
		t.Errorf("inside its PID is %d", said.PID)
	}
	c.diagnosed(t, "jvm", "jvm.explicit-gc", 1.5, func(ctx context.Context) { <-ctx.Done() })
}

// collecting is the source of a program that requests collections of a heap that takes a while to collect.
const collecting = `
import java.util.*;
public class App {
	static final List<Object> live = new ArrayList<>();
	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 600_000; i++) live.add(new long[] {i, i});
		Thread t = new Thread(() -> {
			try {
				while (true) { System.gc(); Thread.sleep(250); }
			} catch (InterruptedException e) { }
		}, "collector");
		t.setDaemon(true);
		t.start();
	}
}`
