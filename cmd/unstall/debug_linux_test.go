package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/remote"
)

// engines puts programs on PATH that answer as kubectl and docker do and write down their arguments.
func engines(t *testing.T, pod, user, begins string) (asked func() string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"unstall", "touch"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("pod.json", pod)
	const begin = `for a; do case "$a" in --custom=*) cat "${a#--custom=}" >%s/profile;; esac; done; while [ "$1" != %s ]; do shift; done; shift; echo Targeting container; ` + "%s\n"
	write("kubectl", fmt.Sprintf("#!/bin/sh\necho kubectl \"$@\" >>%s/asked\ncase $1 in get) cat %[1]s/pod.json; exit;; esac\n", dir)+fmt.Sprintf(begin, dir, "--", begins))
	write("docker", fmt.Sprintf("#!/bin/sh\necho docker \"$@\" >>%s/asked\ncase $1 in inspect) echo '%s'; exit;; esac\n", dir, user)+fmt.Sprintf(begin, dir, "example/unstall", begins))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "asked"))
		profile, _ := os.ReadFile(filepath.Join(dir, "profile"))
		return string(text) + string(profile)
	}
}

func podOf(user string) string {
	return `{"metadata":{"name":"shop-7f9","namespace":"prod"},"spec":{"securityContext":{` + user + `},"containers":[{"name":"app"},{"name":"proxy","securityContext":{"runAsUser":101}}]}}`
}

func said(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	c := program(t, "unstall", args...)
	var both bytes.Buffer
	c.Stdout, c.Stderr = &both, &both
	_ = c.Run()
	return both.String(), c.ProcessState.ExitCode()
}

// The printed command asks only for rights that the process's user needs, and says why for each.
func TestDebugPrints(t *testing.T) {
	for _, c := range []struct {
		name, pod, user string
		args            []string
		want, not       []string
		code            int
	}{
		{"user", podOf(`"runAsUser":10001`), "", []string{"pod/prod/shop-7f9/app"},
			[]string{"kubectl debug -i --quiet pod/shop-7f9 -n prod --image=registry.example/unstall:latest --target=app --profile=general --custom=unstall-profile.json --arguments-only -- diagnose 1 --for 30s",
				`"runAsUser": 10001`, `"runAsNonRoot": true`, `"ALL"`, "user 10001", "pods/ephemeralcontainers", "--run"}, []string{`"add"`, "SYS_PTRACE"}, 0},
		{"container's user", podOf(`"runAsUser":10001`), "", []string{"pod/shop-7f9/proxy", "--image", "example/unstall", "--for", "10s", "--passive"},
			[]string{`"runAsUser": 101`, "--image=example/unstall", "diagnose 1 --for 10s --passive"}, []string{`"add"`, remote.Placeholder}, 0},
		{"root", podOf(`"runAsUser":0`), "", []string{"pod/shop-7f9/app"}, []string{"SYS_PTRACE", `"runAsUser": 0`}, []string{"SETUID", "SYS_ADMIN", "BPF"}, 0},
		{"unknown", podOf(""), "", []string{"pod/shop-7f9/app"}, []string{"SYS_PTRACE", "SETUID", "DAC_OVERRIDE", "KILL", "is not known"}, []string{"SYS_ADMIN", "BPF"}, 0},
		{"kernel", podOf(`"runAsUser":10001`), "", []string{"pod/shop-7f9/app", "--kernel"}, []string{"BPF", "PERFMON", `"runAsUser": 0`, "diagnose 1 --for 30s --kernel"}, []string{"SYS_ADMIN"}, 0},
		{"which", podOf(""), "", []string{"pod/shop-7f9"}, []string{"pod/shop-7f9/app, pod/shop-7f9/proxy"}, []string{"kubectl debug"}, 3},
		{"none such", podOf(""), "", []string{"pod/shop-7f9/db"}, []string{"has no container db: it has app, proxy"}, nil, 3},
		{"docker", "", "10001:10001", []string{"docker://shop"}, []string{"docker run --rm -i --pid=container:shop --network=container:shop --read-only --user=10001 --cap-drop=ALL --security-opt=no-new-privileges registry.example/unstall:latest diagnose 1 --for 30s"}, []string{"cap-add", "END"}, 0},
		{"docker's root", "", "", []string{"docker://shop"}, []string{"--user=0 --cap-drop=ALL --cap-add=SYS_PTRACE --security-opt"}, nil, 0},
		{"docker by name", "", "app", []string{"docker://shop"}, []string{"--cap-add=SETUID"}, nil, 0},
		{"as kubectl takes it", podOf(`"runAsUser":10001`), "", []string{"shop-7f9", "-n", "prod", "-c", "proxy"}, []string{"pod prod/shop-7f9/proxy", "kubectl debug -i --quiet pod/shop-7f9 -n prod", "--target=proxy"}, nil, 0},
		{"two namespaces", podOf(""), "", []string{"pod/prod/shop-7f9/app", "-n", "test"}, []string{"it names namespace prod, and --namespace test"}, []string{"kubectl debug"}, 2},
		{"a namespace of docker", "", "", []string{"docker://shop", "-n", "prod"}, []string{"--namespace and --container are of a pod"}, []string{"docker run"}, 2},
		{"a process", "", "", []string{"4711"}, []string{"give a pod or a container"}, nil, 2},
		{"no image", podOf(""), "", []string{"pod/shop-7f9/app", "--run"}, []string{"--run: give the image with --image"}, nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := engines(t, c.pod, c.user, "exit 9")
			out, code := said(t, append([]string{"debug"}, c.args...)...)
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
			for _, not := range c.not {
				if strings.Contains(out, not) {
					t.Errorf("%q in:\n%s", not, out)
				}
			}
			if a := asked(); strings.Contains(a, " debug ") || strings.Contains(a, " run ") {
				t.Errorf("something was started: %s", a)
			}
		})
	}
}

// Where kubectl cannot answer, the command that suits any user is printed; what it would start is not.
func TestDebugWithoutCluster(t *testing.T) {
	engines(t, podOf(""), "", "exit 9")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\necho 'The connection to the server localhost:8080 was refused' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, code := said(t, "debug", "pod/shop-7f9")
	for _, want := range []string{"warning: kubectl get: The connection to the server localhost:8080 was refused", "kubectl debug -i --quiet pod/shop-7f9 --image=", "--target=CONTAINER", "is not known", "CONTAINER stands for"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	if out, code = said(t, "debug", "pod/shop-7f9", "--run", "--image", "example/unstall"); code != 3 || strings.Contains(out, "kubectl debug") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, code = said(t, "debug", "pod/prod/shop-7f9"); code != 0 || !strings.Contains(out, "for pod shop-7f9 in namespace prod give pod/shop-7f9 -n prod") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// The started container records the container's process, and the capture arrives here.
func TestDebugRuns(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a PID namespace takes root")
	}
	if err := exec.Command("unshare", "-pf", "--mount-proc", "true").Run(); err != nil {
		t.Skipf("no PID namespace here: %v", err)
	}
	const begins = `exec unshare -pf --mount-proc sh -c 'touch </dev/null >/dev/null 2>&1 & p=$!; unstall "$@"; e=$?; kill $p; exit $e' sh "$@"`
	for target, want := range map[string]string{"pod/prod/shop-7f9/app": "kubectl debug -i --quiet pod/shop-7f9 -n prod --image=example/unstall --target=app --profile=general --custom=", "docker://shop": "docker run --rm -i --pid=container:shop"} {
		t.Run(target[:3], func(t *testing.T) {
			asked := engines(t, podOf(`"runAsUser":10001`), "10001", begins)
			path := filepath.Join(t.TempDir(), "x.unstall")
			out, code := said(t, "debug", target, "--run", "--image", "example/unstall", "--for", "1s", "--passive", "--capture", path)
			if code != 0 {
				t.Fatalf("exit %d: %s", code, out)
			}
			c, err := capture.Open(path)
			if err != nil || !c.Ended || !strings.Contains(c.Info.Target, "touch") && !strings.Contains(c.Info.Target, "unstall.test") {
				t.Errorf("%v: %+v", err, c)
			}
			if a := asked(); !strings.Contains(a, want) || strings.Contains(target, "pod") && !strings.Contains(a, `"runAsUser": 10001`) {
				t.Errorf("asked: %s\nwant %s", a, want)
			}
		})
	}
}

// The files in deploy/ are those that unstall debug prints.
func TestDebugManifests(t *testing.T) {
	for name, user := range map[string]int{"debug-user.json": 10001, "debug-root.json": 0, "debug-any.json": -1} {
		text, err := os.ReadFile("../../deploy/kubernetes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, remote.Profile(user, false)) {
			t.Errorf("deploy/kubernetes/%s is not what unstall debug prints:\n%s", name, remote.Profile(user, false))
		}
		if !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
}
