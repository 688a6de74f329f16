package dotnet

import "github.com/unstall/unstall/probe/dotnet/ipc"

// Keywords of Microsoft-Windows-DotNETRuntime:
// https://learn.microsoft.com/dotnet/fundamentals/diagnostics/runtime-events
const (
	keywordGC         = 0x1
	keywordContention = 0x4000
	keywordThreading  = 0x10000
	keywordWaitHandle = 0x40000000000 // .NET 9 on
)

// Levels of events.
const (
	critical      = 1
	informational = 4
	verbose       = 5
)

const (
	runtimeProvider = "Microsoft-Windows-DotNETRuntime"
	hostingProvider = "Microsoft.AspNetCore.Hosting"
	everySecond     = "EventCounterIntervalSec=1"
)

// counters are sources of EventCounters. Those are always written once asked for,
// whatever the level: critical keeps a source's other events off.
// https://learn.microsoft.com/dotnet/core/diagnostics/available-counters
var counters = []ipc.Provider{
	{Name: "System.Runtime", Keywords: 0x2, Level: informational, Args: everySecond}, // 0x2: the number of processors
	{Name: hostingProvider, Level: critical, Args: everySecond},
	{Name: "Microsoft-AspNetCore-Server-Kestrel", Level: critical, Args: everySecond},
	{Name: "System.Net.Http", Level: critical, Args: everySecond},
	{Name: "System.Net.NameResolution", Level: critical, Args: everySecond},
	{Name: "System.Net.Sockets", Level: critical, Args: everySecond},
	{Name: "Npgsql", Level: critical, Args: everySecond},
	{Name: "Microsoft.Data.SqlClient.EventSource", Level: critical, Args: everySecond},
}

// rare is what no service does so often that recording it would cost: what the
// collector and the thread pool decide.
var rare = append([]ipc.Provider{
	{Name: runtimeProvider, Keywords: keywordGC | keywordThreading, Level: informational},
}, counters...)

// detail is what a service does as often as it likes: requests, locks, waits.
var detail = []ipc.Provider{
	{Name: runtimeProvider, Keywords: keywordContention | keywordWaitHandle, Level: informational},
	{Name: hostingProvider, Keywords: ^uint64(0), Level: informational},
}

// everything is rare and detail in one session.
var everything = merge(rare, detail)

// stacks is the sample profiler: it stops all threads a thousand times a second
// and walks their stacks.
var stacks = []ipc.Provider{{Name: "Microsoft-DotNETCore-SampleProfiler", Level: verbose}}

// tracker switches activity tracking on as it is enabled (TasksFlowActivityIds), and
// writes nothing.
var tracker = ipc.Provider{Name: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Level: informational}

// tracking is the first burst of stacks. While the tracker's source is on, each await
// costs more: a session of its own would, as nothing is written into it, stay on
// should the recorder be killed.
var tracking = append([]ipc.Provider{tracker}, stacks...)

// merge gives one entry to providers that both lists have: a session takes each
// name once.
func merge(a, b []ipc.Provider) []ipc.Provider {
	all := append([]ipc.Provider{}, a...)
next:
	for _, p := range b {
		for i := range all {
			if all[i].Name == p.Name {
				all[i].Keywords |= p.Keywords
				all[i].Level = max(all[i].Level, p.Level)
				continue next
			}
		}
		all = append(all, p)
	}
	return all
}
