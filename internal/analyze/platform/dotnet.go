package platform

import (
	"path"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
)

// Dotnet is .NET from Core 3.1 on (https://github.com/dotnet/runtime).
var Dotnet = &Runtime{
	ID:            "dotnet",
	Title:         ".NET",
	Versioned:     ".NET",
	Lane:          "thread",
	Launchers:     []string{"dotnet"},
	Addresses:     true,
	Walks:         true,
	Hosts:         true,
	States:        looksAtThreads,
	Requests:      measured,
	Settings:      "DOTNET_gcServer and similar settings",
	Accepts:       true, // Kestrel hands both to the pool (SocketTransportOptions.UnsafePreferInlineScheduling is false)
	Dump:          "dotnet-stack",
	Stacks:        &threads.DotnetStacks,
	ReadCollector: metrics.DotnetCollector,
	Generations:   metrics.ReadDotnetGC,
	Pauses:        "trigger fewer of these collections: allocate less there, above all large objects, which can be rented from a pool; or keep fewer live objects for each collection to mark",
	Models:        []*model.Model{threadpool.Model},

	KeepsConnections: "one HttpClient for all requests, or IHttpClientFactory",
	Built:            discover.ReleaseOfAssembly,
	Recognise: &discover.Recogniser{
		Traces: func(p discover.Process) (seen discover.Seen, ok bool) {
			if ok = diagnosticSocket(p); ok {
				if where, mapped := p.Library(coreLibrary); mapped {
					seen.Version = coreVersion(p, where)
				}
			}
			return seen, ok
		},
		Built:   func(e discover.Executable) (discover.Seen, bool) { return discover.Seen{}, e.Managed },
		Program: launchedByDotnet,
		Library: coreLibrary,
		Version: coreVersion,
		Way: func(p discover.Process, _ []discover.Listener) string {
			if p.Ours() {
				if _, err := ipc.Find(p.PID()); err == nil {
					return "diagnostics"
				}
			}
			return ""
		},
	},
}

// coreLibrary is what every .NET process has mapped but those compiled ahead of time.
const coreLibrary = "libcoreclr.so"

// diagnosticSocket looks for the socket of a .NET runtime (3.0 on), whose name holds the
// process's id and when it started, as its /proc/PID/stat has it, so that one which a killed
// process left is not the next one's:
// https://github.com/dotnet/diagnostics/blob/main/documentation/design-docs/ipc-protocol.md#naming-and-location-conventions
func diagnosticSocket(p discover.Process) bool {
	for _, s := range p.Left("dotnet-diagnostic-*-socket") {
		// dotnet-diagnostic-PID-STARTED-socket
		parts := strings.Split(path.Base(s), "-")
		if len(parts) != 5 {
			continue
		}
		id, err := strconv.Atoi(parts[2])
		started, err2 := strconv.ParseUint(parts[3], 10, 64)
		if err == nil && err2 == nil && id == p.Inner() && started == p.Started() {
			return true
		}
	}
	return false
}

// coreVersion takes the version out of where a shared .NET runtime is installed:
// …/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so. Programs that bring their
// own have none.
func coreVersion(_ discover.Process, library string) string {
	dir := path.Dir(library)
	if path.Base(path.Dir(dir)) != "Microsoft.NETCore.App" {
		return ""
	}
	return path.Base(dir)
}

// launchedByDotnet is the assembly that a command line "dotnet [exec] [options]
// Shop.dll …" runs, without its extension; "" for the commands of the SDK, which
// end in a process of their own. The options are those of the host:
// https://learn.microsoft.com/dotnet/core/tools/dotnet#runtime-options
func launchedByDotnet(args []string) string {
	if len(args) > 1 && args[1] == "exec" {
		args = args[1:]
	}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-d" || args[i] == "--diagnostics":
		case strings.HasPrefix(args[i], "--"):
			i++ // all others have a value
		default:
			for _, extension := range []string{".dll", ".exe"} {
				if assembly, ok := strings.CutSuffix(path.Base(args[i]), extension); ok {
					return assembly
				}
			}
			return ""
		}
	}
	return ""
}
