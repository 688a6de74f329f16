package dotnet

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
)

// Keywords of Microsoft-Windows-DotNETRuntime:
// https://learn.microsoft.com/dotnet/fundamentals/diagnostics/runtime-events
const (
	keywordGC         = 0x1
	keywordSurvival   = 0x400000  // address ranges that a collection keeps
	keywordsHeap      = 0x1980001 // a blocking full collection that reports each object, and the names of types
	keywordJIT        = 0x10
	keywordContention = 0x4000
	keywordThreading  = 0x10000
)

// Levels of events.
const (
	critical      = 1
	informational = 4
	verbose       = 5
)

const (
	runtimeProvider = "Microsoft-Windows-DotNETRuntime"
	privateProvider = runtimeProvider + "Private" // threads that wait to allocate while a collection runs
	hostingProvider = "Microsoft.AspNetCore.Hosting"
	everySecond     = "EventCounterIntervalSec=1"
)

// counters are sources of EventCounters. A source writes its counters whenever they are requested, whatever the level; critical keeps
// its other events off.
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

// rare are events that are too rare in any service to cost much: decisions of GC and of the thread pool.
var rare = append([]ipc.Provider{
	{Name: runtimeProvider, Keywords: keywordGC | keywordThreading, Level: informational},
}, counters...)

// rareProviders returns the providers in rare and, if that is safe, the one that reports threads waiting to allocate.
func (r *recording) rareProviders() []ipc.Provider {
	if r.fragile {
		return rare
	}
	return append([]ipc.Provider{{Name: privateProvider, Keywords: keywordGC, Level: informational}}, rare...)
}

// allocating reports allocations: an event with its stack for each 100 KB, and for each large object.
var allocating = []ipc.Provider{{Name: runtimeProvider, Keywords: keywordGC, Level: verbose}}

// dying also reports the objects that each collection keeps, so that it is known which of the allocated objects die old. Collections
// take longer for it; a background collection then stops the program longer.
var dying = []ipc.Provider{{Name: runtimeProvider, Keywords: keywordGC | keywordSurvival, Level: verbose}}

// heap is one collection that reports the objects of the heap. Level verbose would also report allocations.
var heap = []ipc.Provider{{Name: runtimeProvider, Keywords: keywordsHeap, Level: informational}}

// detailProviders returns the providers of events that a service may have at any rate: requests, locks, and calls to other services.
// Waits for handles (0x40000000000, from .NET 9 on) are left out, because they come only at level verbose, and each waiting thread
// checks whether they are on.
func (r *recording) detailProviders() []ipc.Provider {
	var sources []string
	if !r.fragile { // these came with .NET 5
		sources = []string{"System.Net.NameResolution", "System.Net.Sockets", "System.Net.Security"}
	}
	return mergeProviders([]ipc.Provider{{Name: runtimeProvider, Keywords: keywordContention, Level: informational}}, r.requestsAnd(sources))
}

// requestProviders returns only the providers of requests and their calls.
func (r *recording) requestProviders() []ipc.Provider { return r.requestsAnd(nil) }

// requestsAnd returns these providers and those of other sources.
func (r *recording) requestsAnd(sources []string) []ipc.Provider {
	all := []ipc.Provider{{Name: hostingProvider, Keywords: ^uint64(0), Level: informational}}
	var specs []string
	if r.release >= hidesQueries {
		sources = append(sources, "System.Net.Http")
	} else {
		specs = append(specs, httpCalls...)
	}
	specs = append(append(specs, sqlCalls...), entityFramework...)
	for _, name := range sources {
		all = append(all, ipc.Provider{Name: name, Keywords: ^uint64(0), Level: informational})
	}
	return append(all, ipc.Provider{Name: "Microsoft-Diagnostics-DiagnosticSource", Keywords: messages, Level: informational,
		Args: `FilterAndPayloadSpecs="` + strings.Join(specs, "\n") + `"`})
}

// hidesQueries is the release from which System.Net.Http leaves the values of queries out of its events
// (https://learn.microsoft.com/dotnet/core/compatibility/networking/9.0/query-redaction-events). Earlier ones would put them into the
// capture.
const hidesQueries = 9

// messages is the keyword of DiagnosticSourceEventSource for its events. With other keywords the source subscribes to more than
// requested.
const messages = 0x2

// What libraries tell through a DiagnosticSource, as event "Event" of its event source
// (https://github.com/dotnet/runtime/blob/main/src/libraries/System.Diagnostics.DiagnosticSource/src/System/Diagnostics/DiagnosticSourceEventSource.cs):
// of a call when it begins and ends, by a key that both have. A subscription to
// System.Net.Http.HttpRequestOut would have the runtime begin activities, which the requests'
// headers then tell; one to these older events changes nothing.
var httpCalls = []string{
	"HttpHandlerDiagnosticListener/System.Net.Http.Request@Event:-LoggingRequestId;Request.RequestUri.Host;Request.RequestUri.Port;Request.RequestUri.AbsolutePath",
	"HttpHandlerDiagnosticListener/System.Net.Http.Response@Event:-LoggingRequestId",
}

var entityFramework = []string{
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting@Event:-CommandId;Connection.DataSource",
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted@Event:-CommandId",
	"Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandError@Event:-CommandId",
}

// sqlCalls are the commands and connections of SqlClient, old and new.
var sqlCalls = func() (specs []string) {
	for _, library := range []string{"System.Data.SqlClient", "Microsoft.Data.SqlClient"} {
		for what, connection := range map[string]string{"WriteCommand": "Command.Connection", "WriteConnectionOpen": "Connection"} {
			event := "SqlClientDiagnosticListener/" + library + "." + what
			specs = append(specs, event+"Before@Event:-OperationId;"+connection+".DataSource", event+"After@Event:-OperationId", event+"Error@Event:-OperationId")
		}
	}
	return specs
}()

// allProviders returns the rare and the detail providers in one list.
func (r *recording) allProviders() []ipc.Provider {
	return mergeProviders(r.rareProviders(), r.detailProviders())
}

// stacks is the sample profiler. It stops all threads a thousand times a second and walks their stacks.
var stacks = []ipc.Provider{{Name: sampler, Level: verbose}}

const sampler = "Microsoft-DotNETCore-SampleProfiler"

// tracker switches activity tracking on when it is enabled (TasksFlowActivityIds). It writes no events.
var tracker = ipc.Provider{Name: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Level: informational}

// awaits reports which tasks code awaits (TaskTransfer, Tasks), and for which request.
var awaits = []ipc.Provider{
	{Name: tracker.Name, Keywords: tracker.Keywords | 0x1 | 0x2, Level: verbose},
}

// tracking is the first burst of stacks. While the tracker's source is on, each await costs more. A session of its own would stay on
// if the recorder is killed, because no event is written into it.
var tracking = append([]ipc.Provider{tracker}, stacks...)

// mergeProviders merges two lists into one that names each provider once, as a session requires, with the keywords of both and the
// higher level.
func mergeProviders(a, b []ipc.Provider) []ipc.Provider {
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

// compiling reports each compiled method, and each generated one (System.Reflection.Emit.DynamicMethod, compiled expressions) that is
// freed.
var compiling = []ipc.Provider{{Name: runtimeProvider, Keywords: keywordJIT, Level: informational}}

// quietly requests no events of the provider that a runtime before .NET 6 adds for the names of methods if a session does not have it.
var quietly = []ipc.Provider{{Name: runtimeProvider, Keywords: keywordContention, Level: critical}}

// generated looks for generated methods in a stream of [compiling].
type generated struct {
	times int
	freed bool
	held  []byte // the last bytes, which may begin a match
}

// fewGenerated is how many methods a program may generate in a moment and still get names, because the framework generates some for the
// first request of a handler.
const fewGenerated = 10

// ofNone is the class that the runtime reports for generated methods, which have none. unloaded identifies the event of freed methods:
// its description, the provider followed by the event's number, comes before the first such event.
var (
	ofNone   = utf16Bytes("dynamicClass\x00")
	unloaded = append(utf16Bytes(runtimeProvider+"\x00"), 144, 0, 0, 0)
)

func (g *generated) scanStream(data []byte) {
	old := len(g.held)
	g.held = append(g.held, data...)
	g.times += bytes.Count(g.held[max(0, old-len(ofNone)+1):], ofNone)
	g.freed = g.freed || bytes.Contains(g.held, unloaded)
	g.held = g.held[len(g.held)-min(len(g.held), len(unloaded)-1):]
}

// goesOn says whether the program generates or frees methods at this moment.
func (g *generated) goesOn() bool { return g.freed || g.times > fewGenerated }

// withCounters returns the providers with the counters of System.Runtime before them. In an idle process no other event is written each
// second, and a runtime notices only by writing that its recorder was killed.
func withCounters(all []ipc.Provider) []ipc.Provider { return append(counters[:1:1], all...) }
