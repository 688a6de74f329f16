package dotnetcounters

import "github.com/unstall/unstall/internal/base/evidence"

// meaning is the meaning of a known counter's figures.
type meaning struct {
	name string // of the series
	unit string // if it is not the displayed one
	kind kind
}

// kind is how a counter counts.
type kind uint8

const (
	gauge kind = iota // it has a value; several tags are summed
	level             // the same, of a meter: its rate is the change
	total             // it only grows: the series is the growth per second
	cpu               // seconds of processor time, a total; the series is percent of all processors
	count             // the number of processors
)

const runtime, hosting, kestrel = "System.Runtime/", "Microsoft.AspNetCore.Hosting/", "Microsoft-AspNetCore-Server-Kestrel/"

// displays are EventCounters by provider and displayed name. Their own
// names, which the rest of the tool uses, are not in the files
// (RuntimeEventSource.cs, HostingEventSource.cs, KestrelEventSource.cs).
var displays = map[string]string{
	runtime + "CPU Usage":                            evidence.SeriesCPU,
	runtime + "Working Set":                          evidence.SeriesWorkingSet,
	runtime + "GC Heap Size":                         evidence.SeriesManagedHeap,
	runtime + "GC Committed Bytes":                   runtime + "gc-committed",
	runtime + "GC Fragmentation":                     runtime + "gc-fragmentation",
	runtime + "Gen 0 GC Count":                       evidence.SeriesGen0Collections,
	runtime + "Gen 1 GC Count":                       evidence.SeriesGen1Collections,
	runtime + "Gen 2 GC Count":                       evidence.SeriesGen2Collections,
	runtime + "Gen 0 GC Budget":                      runtime + "gen-0-gc-budget",
	runtime + "Gen 0 Size":                           evidence.SeriesGen0Size,
	runtime + "Gen 1 Size":                           evidence.SeriesGen1Size,
	runtime + "Gen 2 Size":                           evidence.SeriesGen2Size,
	runtime + "LOH Size":                             evidence.SeriesLOHSize,
	runtime + "POH (Pinned Object Heap) Size":        evidence.SeriesPOHSize,
	runtime + "% Time in GC since last GC":           evidence.SeriesGCTime,
	runtime + "Time paused by GC":                    runtime + "total-pause-time-by-gc",
	runtime + "Allocation Rate":                      evidence.SeriesAllocation,
	runtime + "Exception Count":                      evidence.SeriesExceptions,
	runtime + "ThreadPool Thread Count":              evidence.SeriesPoolThreads,
	runtime + "ThreadPool Queue Length":              evidence.SeriesPoolQueue,
	runtime + "ThreadPool Completed Work Item Count": evidence.SeriesPoolCompleted,
	runtime + "Monitor Lock Contention Count":        evidence.SeriesContentions,
	runtime + "Number of Active Timers":              evidence.SeriesTimers,
	runtime + "Number of Assemblies Loaded":          evidence.SeriesAssemblies,
	runtime + "IL Bytes Jitted":                      runtime + "il-bytes-jitted",
	runtime + "Number of Methods Jitted":             runtime + "methods-jitted-count",
	runtime + "Time spent in JIT":                    runtime + "time-in-jit",

	hosting + "Request Rate":     evidence.SeriesRequestRate,
	hosting + "Total Requests":   hosting + "total-requests",
	hosting + "Current Requests": evidence.SeriesRequestsInFlight,
	hosting + "Failed Requests":  hosting + "failed-requests",

	kestrel + "Connection Rate":                        kestrel + "connections-per-second",
	kestrel + "Total Connections":                      kestrel + "total-connections",
	kestrel + "TLS Handshake Rate":                     kestrel + "tls-handshakes-per-second",
	kestrel + "Total TLS Handshakes":                   kestrel + "total-tls-handshakes",
	kestrel + "Current TLS Handshakes":                 kestrel + "current-tls-handshakes",
	kestrel + "Failed TLS Handshakes":                  kestrel + "failed-tls-handshakes",
	kestrel + "Current Connections":                    evidence.SeriesConnections,
	kestrel + "Connection Queue Length":                evidence.SeriesConnectionQueue,
	kestrel + "Request Queue Length":                   evidence.SeriesRequestQueue,
	kestrel + "Current Upgraded Requests (WebSockets)": kestrel + "current-upgraded-requests",
}

// instruments are meters' instruments that have the figures of an EventCounter, or that
// only grow (RuntimeMetrics.cs, .NET 9+; ASP.NET Core's, .NET 8+). If they have an EventCounter's name,
// the values of their tags are summed.
var instruments = map[string]meaning{
	runtime + "dotnet.process.cpu.time":                              {evidence.SeriesCPU, "percent", cpu},
	runtime + "dotnet.process.cpu.count":                             {"", "", count},
	runtime + "dotnet.process.memory.working_set":                    {evidence.SeriesWorkingSet, "bytes", level},
	runtime + "dotnet.thread_pool.thread.count":                      {evidence.SeriesPoolThreads, "count", level},
	runtime + "dotnet.thread_pool.queue.length":                      {evidence.SeriesPoolQueue, "count", level},
	runtime + "dotnet.thread_pool.work_item.count":                   {evidence.SeriesPoolCompleted, "count/s", total},
	runtime + "dotnet.timer.count":                                   {evidence.SeriesTimers, "count", level},
	runtime + "dotnet.monitor.lock_contentions":                      {evidence.SeriesContentions, "count/s", total},
	runtime + "dotnet.exceptions":                                    {evidence.SeriesExceptions, "count/s", total},
	runtime + "dotnet.gc.heap.total_allocated":                       {evidence.SeriesAllocation, "bytes/s", total},
	runtime + "dotnet.assembly.count":                                {evidence.SeriesAssemblies, "count", level},
	runtime + "dotnet.gc.pause.time":                                 {"", "", total},
	runtime + "dotnet.gc.collections":                                {"", "", total},
	runtime + "dotnet.jit.compiled_il.size":                          {"", "", total},
	runtime + "dotnet.jit.compiled_methods":                          {"", "", total},
	runtime + "dotnet.jit.compilation.time":                          {"", "", total},
	runtime + "dotnet.gc.last_collection.memory.committed_size":      {"", "", level},
	runtime + "dotnet.gc.last_collection.heap.size":                  {"", "", level},
	runtime + "dotnet.gc.last_collection.heap.fragmentation.size":    {"", "", level},
	hosting + "http.server.active_requests":                          {evidence.SeriesRequestsInFlight, "count", level},
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.active_connections": {evidence.SeriesConnections, "count", level},
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.queued_connections": {evidence.SeriesConnectionQueue, "count", level},
	"Microsoft.AspNetCore.Server.Kestrel/kestrel.queued_requests":    {evidence.SeriesRequestQueue, "count", level},
}

// meaningOf finds the meaning of a column's figures.
func meaningOf(k rawKey, s shown) meaning {
	known := func(name string) (meaning, bool) {
		series, ok := displays[k.provider+"/"+name]
		return meaning{name: series}, ok
	}
	if m, ok := known(k.display); ok { // the display name itself has parentheses
		return m
	}
	if m, ok := known(s.name); ok {
		return m
	}
	m := instruments[k.provider+"/"+s.name]
	if m.name == "" && m.kind != count {
		m.name = k.provider + "/" + s.name
		if k.tags != "" {
			m.name += "{" + k.tags + "}"
		}
	}
	return m
}
