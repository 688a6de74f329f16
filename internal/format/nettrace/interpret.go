package nettrace

import (
	"strings"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

type handler = func(*process, *eventpipe.Event)

// byID are the interpreters of events without names.
var byID = map[string]map[int32]handler{
	provRuntime: {
		1: (*process).gcStart, 2: (*process).gcEnd, 3: (*process).restartStop, 4: (*process).heapStats, 7: (*process).restartStart, 8: (*process).suspendStop, 9: (*process).suspendStart, 35: (*process).gcTriggered,
		15: (*process).heapTypes, 18: (*process).heapObjects, 21: (*process).survivingRanges, 22: (*process).movedRanges, 23: (*process).generationRange,
		202: (*process).markWithType, 204: (*process).heapHistory, 205: (*process).globalHistory,
		10: (*process).allocationTick, 303: (*process).allocationSampled,
		50: (*process).workerThread, 51: (*process).workerThread, 54: (*process).poolThroughput, 55: (*process).poolAdjustment, 59: (*process).poolBounds,
		81: (*process).contentionStart, 91: (*process).contentionStop, 301: (*process).waitStart, 302: (*process).waitStop,
		142: (*process).methodUnload, 143: (*process).methodLoad, 144: (*process).methodUnload, 152: (*process).moduleLoad, 159: (*process).entryPoint,
		187: (*process).runtimeStart,
	},
	provRundown: {
		143: (*process).methodRundown, 144: (*process).methodRundown, 153: (*process).moduleLoad, 154: (*process).moduleLoad, 187: (*process).runtimeStart,
	},
	provPrivate: {23: (*process).largeWaitStart, 24: (*process).largeWaitStop},
	provSampler: {0: (*process).threadSample},
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

// byName are the interpreters of event sources' events, by their names.
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

// findHandler returns the handler of a type of events, nil if they are only counted.
func findHandler(m *eventpipe.Metadata) handler {
	if h, ok := byID[m.Provider]; ok {
		if h[m.ID] == nil && m.Provider == provPrivate && m.ID <= lastPrivateGC {
			return (*process).privateEvent
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
