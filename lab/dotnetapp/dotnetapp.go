// Package dotnetapp runs the .NET service of the lab dotnet-starvation for tests
// that need a live .NET process.
package dotnetapp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/dotnet-starvation/app"
	"github.com/unstall/unstall/lab/process"
)

// App is a running service.
type App struct {
	PID    int
	URL    string // http://127.0.0.1:PORT
	Dotnet string // runs it

	process *process.Process
}

// Start builds the service, starts it on a free loopback port with more environment
// variables, and ends it with the test. It serves /api/diagscenario/taskwait,
// tasksleepwait, taskasyncwait, cpu?rounds=N, lock?rounds=N and
// allocate?megabytes=N. Where there is no .NET the test is skipped; it fails if
// $DOTNET names one.
func Start(t testing.TB, env ...string) *App { return StartBy(t, nil, env...) }

// StartBy is [Start] through a command that starts the service, such as unshare(1); nil: directly.
func StartBy(t testing.TB, by []string, env ...string) *App {
	t.Helper()
	dotnet := tooltest.Find(t, "dotnet")
	assembly, err := build.Dotnet(t.Context(), dotnet, "dotnet-starvation", build.Project{Sources: app.Sources, File: app.Project}, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	return startApp(t, by, dotnet, assembly, env)
}

// Start9 is [Start] on .NET 9. Where there is none the test is skipped; it fails if
// $DOTNET9 names one.
func Start9(t testing.TB, env ...string) *App { return Start9By(t, nil, env...) }

// Start9By is [StartBy] on .NET 9.
func Start9By(t testing.TB, by []string, env ...string) *App {
	t.Helper()
	sdk, runs := tooltest.Find(t, "dotnet"), tooltest.Find(t, "dotnet9")
	assembly, err := build.Dotnet(t.Context(), sdk, "dotnet-starvation", build.Project{Sources: app.Sources, File: app.Project}, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	return startApp(t, by, runs, assembly, env)
}

func startApp(t testing.TB, by []string, dotnet, assembly string, env []string) *App {
	t.Helper()
	var said struct{ Serving string }
	// Not with the test's context: a process that is killed leaves its diagnostics socket.
	command := append(by[:len(by):len(by)], dotnet, assembly, "--control=true")
	p, err := process.Start(context.Background(), command[0], command[1:], env, filepath.Join(t.TempDir(), "stderr"), &said)
	if err != nil {
		t.Fatal(err)
	}
	a := &App{PID: lastDescendant(p.PID), URL: "http://" + said.Serving, Dotnet: dotnet, process: p}
	t.Cleanup(func() { p.Stop() })
	return a
}

// lastDescendant follows the children of a process and returns the last one: pid itself if it has
// started none.
func lastDescendant(pid int) int {
	for {
		child := 0
		dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, stat := range dirs {
			text, _ := os.ReadFile(stat)
			fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
			if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
				child, _ = strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			}
		}
		if child == 0 {
			return pid
		}
		pid = child
	}
}

// Hold keeps that many requests for a path in flight, each over a connection of its
// own, until the returned function is called or the test ends. It returns when
// every connection has sent its first request.
func (a *App) Hold(t testing.TB, path string, connections int) (release func()) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	ctx, cancel := context.WithCancel(t.Context())
	var sent, ended sync.WaitGroup
	sent.Add(connections)
	for range connections {
		first := sync.OnceFunc(sent.Done)
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { first() }})
		ended.Go(func() {
			defer first()
			for ctx.Err() == nil {
				if err := getURL(traced, client, a.URL+path); err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", path, err)
					return
				}
			}
		})
	}
	sent.Wait()
	release = sync.OnceFunc(func() {
		cancel()
		ended.Wait()
		client.CloseIdleConnections()
	})
	t.Cleanup(release)
	return release
}

func getURL(ctx context.Context, client *http.Client, url string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
