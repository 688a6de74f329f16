package nettrace

import (
	"strings"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

type handler = func(*process, *eventpipe.Event)

// byID are the events that carry no names.
var byID = map[string]map[int32]handler{
	provRuntime: {
		1: (*process).gcStart, 2: (*process).gcEnd, 3: (*process).restarted, 4: (*process).heapStats, 7: (*process).resuming, 8: (*process).suspended, 9: (*process).suspend, 35: (*process).gcTriggered,
		15: (*process).heapTypes, 18: (*process).heapObjects, 21: (*process).stayed, 22: (*process).moved, 23: (*process).generationRange,
		202: (*process).marked, 204: (*process).heapHistory, 205: (*process).globalHistory,
		10: (*process).allocationTick, 303: (*process).allocationSampled,
		50: (*process).workerThread, 51: (*process).workerThread, 54: (*process).throughput, 55: (*process).adjusted, 59: (*process).poolBounds,
		81: (*process).contentionStart, 91: (*process).contentionStop, 301: (*process).waitStart, 302: (*process).waitStop,
		142: (*process).methodUnload, 143: (*process).methodLoad, 144: (*process).methodUnload, 152: (*process).module, 159: (*process).entryPoint,
		187: (*process).runtimeStart,
	},
	provRundown: {
		143: (*process).methodRundown, 144: (*process).methodRundown, 153: (*process).module, 154: (*process).module, 187: (*process).runtimeStart,
	},
	provPrivate: {23: (*process).largeWaitStart, 24: (*process).largeWaitStop},
	provSampler: {0: (*process).sampled},
}

// lastPrivateGC is the last event of the private provider that its GC keyword switches on.
const lastPrivateGC = 25

// Providers of events with names.
const (
	provCounters   = "System.Runtime"
	provPipe       = "Microsoft-DotNETCore-EventPipe"
	provHosting    = "Microsoft.AspNetCore.Hosting"
	provKestrel    = "Microsoft-AspNetCore-Server-Kestrel"
	provDiagnostic = "Microsoft-Diagnostics-DiagnosticSource"
	provHTTP       = "System.Net.Http"
	provNames      = "System.Net.NameResolution"
	provSockets    = "System.Net.Sockets"
	provTLS        = "System.Net.Security"
	provTasks      = "System.Threading.Tasks.TplEventSource"
	provMetrics    = "System.Diagnostics.Metrics"
)

// byName are the events of event sources, which name them.
var byName = map[string]map[string]handler{
	provCounters: {"ProcessorCount": (*process).processorCount},
	provPipe:     {"ProcessInfo": (*process).processInfo},
	provHosting:  {"RequestStart": (*process).hostingStart, "RequestStop": (*process).hostingStop, "UnhandledException": (*process).hostingFailed},
	provKestrel: {"ConnectionQueued": (*process).connectionQueued, "ConnectionDequeued": (*process).connectionDequeued,
		"ConnectionQueuedStart": (*process).connectionQueued, "ConnectionQueuedStop": (*process).connectionDequeued,
		"RequestQueuedStart": (*process).requestQueued, "RequestQueuedStop": (*process).requestDequeued, "RequestUpgradedStart": (*process).requestUpgraded},
	provHTTP: {"RequestStart": (*process).clientStart, "RequestStop": (*process).clientStop, "RequestFailed": (*process).clientStop,
		"RequestLeftQueue": (*process).leftQueue},
	provNames:   {"ResolutionStart": (*process).lookupStart, "ResolutionStop": (*process).clientStop, "ResolutionFailed": (*process).clientStop},
	provSockets: {"ConnectStart": (*process).connectStart, "ConnectStop": (*process).clientStop, "ConnectFailed": (*process).clientStop},
	provTLS:     {"HandshakeStart": (*process).handshakeStart, "HandshakeStop": (*process).clientStop, "HandshakeFailed": (*process).clientStop},
	provTasks:   {"TaskWaitBegin": (*process).awaitBegin, "TaskWaitEnd": (*process).awaitEnd},
	provMetrics: {
		"CounterRateValuePublished": (*process).meterRate, "UpDownCounterRateValuePublished": (*process).meterValue,
		"GaugeValuePublished": (*process).meterGauge, "HistogramValuePublished": (*process).meterHistogram,
		"CollectionStart": (*process).meterCollecting, "CollectionStop": (*process).meterCollected, "TimeSeriesLimitReached": (*process).meterLimit, "HistogramLimitReached": (*process).meterLimit,
	},
}

// interpreter is what an event of a type means, nil if it is only counted.
func interpreter(m *eventpipe.Metadata) handler {
	if h, ok := byID[m.Provider]; ok {
		if h[m.ID] == nil && m.Provider == provPrivate && m.ID <= lastPrivateGC {
			return (*process).private
		}
		return h[m.ID]
	}
	if m.Name == "EventCounters" {
		return (*process).eventCounter
	}
	if m.Provider == provDiagnostic {
		switch {
		case strings.HasSuffix(m.Name, "Start"):
			return (*process).diagnosticStart
		case strings.HasSuffix(m.Name, "Stop"):
			return (*process).diagnosticStop
		case m.Name == "Event":
			return (*process).diagnosticEvent
		}
		return nil
	}
	return byName[m.Provider][m.Name]
}
