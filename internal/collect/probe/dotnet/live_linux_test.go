package dotnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
	"github.com/unstall/unstall/lab/dotnetapp"
)

const taskWait = "/api/diagscenario/taskwait"

// live finds the access to a running service.
func live(t *testing.T, a *dotnetapp.App) probe.Access {
	t.Helper()
	on, err := discover.Resolve(t.Context(), fmt.Sprint(a.PID), platform.Recognisers())
	if err != nil {
		t.Fatal(err)
	}
	return probetest.One(t, findAccess, on)
}

// events counts the events in the streams of an artifact, by provider and ID, and checks that the streams are whole.
func events(t *testing.T, k *probetest.Artifact) map[string]int {
	t.Helper()
	r, err := eventpipe.NewReader(strings.NewReader(k.String()))
	if err != nil {
		t.Fatalf("%s: %v", k.Meta.Name, err)
	}
	n := map[string]int{}
	for {
		e, err := r.Next()
		if err == io.EOF {
			if r.Lost() > 0 {
				t.Errorf("%s: %d events were lost", k.Meta.Name, r.Lost())
			}
			n["stream"]++
			if r, err = r.Another(); r == nil && err == nil {
				return n
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", k.Meta.Name, err)
		}
		n[fmt.Sprintf("%s/%d", e.Meta.Provider, e.Meta.ID)]++
		if e.Meta.Name == "RequestStart" && e.Activity != (eventpipe.GUID{}) {
			n["tracked request"]++
		}
		if e.Meta.Provider == sampler && len(r.Addresses(e.Stack)) > 0 {
			n["stack"]++
		}
		n[e.Meta.Provider]++
	}
}

// TestStarving records a service whose pool has no free thread.
func TestStarving(t *testing.T) {
	a := dotnetapp.Start(t)
	release := a.Hold(t, taskWait, 125)
	defer release()
	to := probetest.Record(t, live(t, a), probe.Plan{For: 4 * time.Second})
	if len(to.Warnings) > 0 {
		t.Errorf("warned %q", to.Warnings)
	}
	all := series(t, to.Kept, "events")
	if len(all) != 1 {
		t.Fatalf("%d pieces of events", len(all))
	}
	n := events(t, all[0])
	for _, want := range []string{"System.Runtime", "Microsoft.AspNetCore.Hosting",
		"Microsoft-Windows-DotNETRuntime/55", // ThreadPoolWorkerThreadAdjustment
		"Microsoft-Windows-DotNETRuntimeRundown/144", "tracked request"} {
		if n[want] == 0 {
			t.Errorf("%s has no %s: %v", all[0].Meta.Name, want, n)
		}
	}
	sessions := 0
	for _, k := range append(series(t, to.Kept, "threads"), all...) {
		n := events(t, k)
		if sessions += n["stream"]; n["Microsoft-Windows-DotNETRuntimeRundown/144"] == 0 || k.Meta.Series == "threads" && n["stack"] == 0 {
			t.Errorf("%s: %v", k.Meta.Name, n)
		}
	}
	if sessions < 3 {
		t.Errorf("%d sessions, want the long one, and looks at threads soon and at the end", sessions)
	}
}

// TestLiveHeap records which objects die and which are on a service's heap.
func TestLiveHeap(t *testing.T) {
	for _, x := range []struct {
		name  string
		start func(testing.TB, ...string) *dotnetapp.App
	}{{"3.1", dotnetapp.Start}, {"9", dotnetapp.Start9}} {
		t.Run(x.name, func(t *testing.T) {
			to := probetest.Record(t, live(t, x.start(t)), probe.Plan{For: leastDeaths, Heap: true})
			if len(to.Warnings) > 0 {
				t.Errorf("warned %q", to.Warnings)
			}
			all := series(t, to.Kept, "threads")
			if len(all) != 1 {
				t.Fatalf("%d artifacts", len(all))
			}
			n := events(t, all[0])
			for _, want := range []string{runtimeProvider + "/15", runtimeProvider + "/18"} { // BulkType, BulkNode
				if n[want] == 0 {
					t.Errorf("%s has no %s: %v", all[0].Meta.Name, want, n)
				}
			}
		})
	}
}

// TestKilled kills the service during a recording.
func TestKilled(t *testing.T) {
	a := dotnetapp.Start(t)
	record := live(t, a)
	to := probetest.Begin(t, record)
	to.Wait(t, "threads-0001.nettrace", probetest.Some)
	to.Wait(t, "events-0001.nettrace", probetest.Some)
	p, err := os.FindProcess(a.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(record.Where) })
	if err := to.Ended(); err != nil {
		t.Fatal(err)
	}
	if !to.Warned("the process ended; the data recorded until then is kept") {
		t.Errorf("warned %q", to.Warnings)
	}
	if k := series(t, to.Kept, "events"); len(k) != 1 || k[0].Len() == 0 {
		t.Errorf("events: %v", k)
	}
}

// TestNothingStaysOn interrupts a recording, and drops the connections of another as a killed recorder does. Afterwards the runtime has no
// threads of sessions or of the sampler any more.
func TestNothingStaysOn(t *testing.T) {
	a := dotnetapp.Start(t)
	record := live(t, a)
	threads := threadsOf(t, a.PID)
	probetest.Record(t, record, probe.Plan{For: time.Second}) // starts threads that stay, such as the counters'
	before := threads()

	to := probetest.Begin(t, record)
	to.Wait(t, "threads-0001.nettrace", probetest.Some)
	if err := to.End(); err != nil {
		t.Fatal(err)
	}
	back(t, threads, before)

	for _, providers := range [][]ipc.Provider{(&recording{fragile: true}).allProviders(), stacks, tracking} {
		for hung := 0; !dropSession(t, a.PID, providers, threads, before); hung++ {
			if hung == 3 {
				t.Fatal("the runtime hung each time")
			}
			a = dotnetapp.Start(t)
			threads = threadsOf(t, a.PID)
			probetest.Record(t, live(t, a), probe.Plan{For: time.Second})
			before = threads()
		}
	}
}

// dropSession begins a session and closes its connection while the session writes. It waits until there are no more threads than before. It
// returns false if the runtime did not answer: before .NET 6 a runtime may hang for good when it ends a session that is written to
// (dotnet/runtime#51579), and a killed recorder cannot prevent that.
func dropSession(t *testing.T, pid int, providers []ipc.Provider, threads func() int, before int) bool {
	t.Helper()
	client, err := ipc.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	s, err := client.Start(t.Context(), ipc.Config{Providers: providers, BufferMB: 1})
	if errors.Is(err, ipc.ErrSilent) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	back(t, threads, before) // a recorder has, and leaves, one session at a time
	return true
}

// threadsOf counts the threads of a process.
func threadsOf(t *testing.T, pid int) func() int {
	return func() int {
		list, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
}

// back waits until a process has no more threads than before; the pool may have fewer.
func back(t *testing.T, threads func() int, before int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for threads() > before {
		if !probe.Wait(ctx, 50*time.Millisecond) {
			t.Fatalf("%d threads, %d before", threads(), before)
		}
	}
}

// TestDisabled has a service without the socket.
func TestDisabled(t *testing.T) {
	a := dotnetapp.Start(t, "COMPlus_EnableDiagnostics=0", "DOTNET_EnableDiagnostics=0")
	found := findAccess(t.Context(), discover.Target{PID: a.PID, Runtime: "dotnet"})
	if len(found) != 1 || len(found[0].Lacks) != 1 || found[0].Lacks[0].Do != "restart it without this setting" {
		t.Errorf("found %+v", found)
	}
}

// TestNamed finds a service by the name of its assembly, and its socket in its TMPDIR.
func TestNamed(t *testing.T) {
	a := dotnetapp.Start(t, "TMPDIR="+t.TempDir())
	const program = "DiagnosticScenarios"
	on, err := discover.Resolve(t.Context(), program, platform.Recognisers())
	switch {
	case errors.Is(err, discover.ErrUse): // other such processes run here, too
		if !strings.Contains(err.Error(), fmt.Sprint(a.PID)) {
			t.Error(err)
		}
	case err != nil || on.PID != a.PID || on.Name != program:
		t.Errorf("%+v, %v", on, err)
	}
	found, err := discover.Discover(t.Context(), platform.Recognisers())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(f discover.Found) bool { return f.PID == a.PID })
	if i < 0 {
		t.Fatal("it is not listed")
	}
	f := found[i]
	if f.Name != program || f.Runtime != "dotnet" || f.Version == "" || !slices.Contains(f.Reads, "diagnostics") || len(f.Listens) == 0 {
		t.Errorf("%+v", f)
	}
}
