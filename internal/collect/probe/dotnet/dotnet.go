// Package dotnet records a .NET process over the diagnostics socket of its runtime, .NET Core 3.1 to .NET 10. The recorder needs
// no .NET itself.
//
// Its artifacts, as internal/format/nettrace reads them:
//
//	events-0001.nettrace …   all of the recording in one session: counters each second,
//	                         collections, the thread pool, locks, the
//	                         requests of ASP.NET Core and their calls; series "events"
//	threads-0001.nettrace …  moments, one session after the other: the stacks of all
//	                         threads, 50 ms each at random times, and what tasks are
//	                         awaited (before .NET 6 both are in events, between its sessions and
//	                         in its last two seconds), and who allocates what (before .NET 6 once, in events); if it
//	                         was asked for, what dies old for 3 s at a time, and after all else what lies on the
//	                         heap; series "threads"
//	detail-0001.nettrace …   requests and locks of a second now and then, where
//	                         they come too fast to be recorded all the time; series "detail"
//
// A session may end with the names of all methods that have code. That takes 40 ms of the target's CPU time in a small service,
// and more in larger ones, and threads that wait for a CPU then wait longer. So the last session writes the names into both of
// the first two artifacts, so that each can be read alone. Only a recording of half a minute or longer also has names before
// that, because it would lack them if it were killed.
//
// Requests come from ASP.NET Core's own events, so that no code has to change. To match ends with starts, a moment of the task
// library's events switches on the runtime's activity tracker. The tracker cannot be switched off again, and does nothing while
// no session listens to such events.
//
// Before .NET 6, ending a session may end the process, whichever program ends it. While the runtime writes names it enables events
// of its own, above all of compiled methods. A thread that writes such an event at that moment hangs, and the end with it
// (dotnet/runtime#51579), or writes into freed memory. Before 3.1.5 the names of generated methods are also freed while they are
// written (dotnet/coreclr#28036). With names at the end of two of three sessions, 3.1.2 crashed or hung in one of ten recordings of
// programs that compile or generate methods all the time.
//
// So on those versions a recording gets names once, from a session that no thread writes into. Before 3.1.5 it gets none if methods
// are generated at that time. Other sessions end without names: the runtime then waits a moment between the last event and the end.
// Sessions with counters are stopped between counters, a bounded number of times. A session whose events come too fast is not begun
// again. There is only one session at a time, because 3.1.2 crashed now and then when one was stopped beside another: the long session
// alternates with stacks at random moments, and its last seconds show which tasks are awaited.
//
// The package's opinion: a session belongs to its connection, so that it ends however the recorder ends. The runtime notices that when
// it next writes, and counters are written each second. Sessions are first stopped properly, because names come only then.
package dotnet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
)

// Probe records .NET processes of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "the diagnostics socket of a .NET process: counters, collections, thread pool, requests, locks and thread stacks",
	Find:  findAccess,
}

const name = "dotnet"

// switches are the names of what recording switches on.
var switches = []string{"event session (counters, collections, thread pool, locks, requests and their calls)", "thread stacks (50 ms at a time)"}

const recorded = ".NET counters, collections, thread pool, requests, locks and thread stacks"

// findAccess looks for the diagnostics socket of a .NET process. For a process without one it also returns an access, whose lack
// says why.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID == 0 || t.Runtime != "dotnet" {
		return nil
	}
	client, err := ipc.Find(t.PID)
	lacks := aheadOfTime(t, err)
	if err != nil {
		if lacks == nil {
			lacks = []probe.Lack{explainLack(err)}
		}
		return []probe.Access{{
			Probe:  name,
			Where:  "the diagnostics socket of the process",
			Lacks:  lacks,
			Record: func(context.Context, probe.Plan, probe.Sink) error { return nil },
		}}
	}
	return []probe.Access{{
		Probe:      name,
		Where:      client.Path(),
		SwitchesOn: switches,
		Lacks:      lacks,
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordProcess(ctx, client, t, plan, sink)
		},
	}}
}

// aheadOfTime is the lack of a program compiled ahead of time (NativeAOT). Stacks of its threads are missing, because it has neither
// a sampler nor names of methods. Everything is missing if its event sources were left out, which is the default:
// https://learn.microsoft.com/dotnet/core/deploying/native-aot/diagnostics
func aheadOfTime(t discover.Target, err error) []probe.Lack {
	switch native := discover.Managed(t.PID); {
	case !native:
		return nil
	case errors.Is(err, ipc.ErrNone):
		return []probe.Lack{{What: recorded, Why: "the program was compiled ahead of time (NativeAOT), without event sources",
			Do: "publish it with .NET 8 or later and -p:EventSourceSupport=true: that gives counters, collections and requests, but no thread stacks"}}
	case err != nil:
		return nil
	}
	return []probe.Lack{{What: "thread stacks and names of methods", Why: "the program was compiled ahead of time (NativeAOT), and its runtime has no sampler",
		Do: "publish it without PublishAot to see its threads"}}
}

func explainLack(err error) probe.Lack {
	l := probe.Lack{What: recorded, Why: err.Error()}
	var p *ipc.Problem
	if errors.As(err, &p) {
		l.Why, l.Do = p.Reason(), p.Do
	}
	return l
}

// recordProcess asks the runtime for its version, and records it.
func recordProcess(ctx context.Context, client *ipc.Client, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	if plan.Passive {
		sink.Lack(probe.Lack{What: recorded, Why: "they must be switched on in the process, and --passive switches nothing on", Do: "record without --passive"})
		return nil
	}
	info, err := client.Info(ctx)
	switch {
	case isExpired(ctx):
		return nil
	case err != nil:
		return err
	}
	if info.Version != "" {
		t.Version, _, _ = strings.Cut(info.Version, "+") // 8.0.4+2d7eea252964e69be94cb9c847b371b23e4dd470
	}
	first, _, _ := strings.Cut(info.Version, ".")
	release, _ := strconv.Atoi(first)
	r := &recording{release: release, client: client, about: t.Subject(), secrets: readSecrets(t.PID), fragile: info.Version == "", heap: plan.Heap, sink: sink}
	r.crashes = r.fragile && freesEarly(t.Version)
	return r.run(ctx, plan.For)
}

// freesEarly says whether a version before .NET 6 frees the name of a generated method while it may still write it
// (dotnet/coreclr#28036): before 3.1.5, or unknown.
func freesEarly(version string) bool {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return n < 3 || major < 3 || major == 3 && (minor < 1 || minor == 1 && patch < 5)
}
