package evidence

import (
	"slices"
	"strings"
)

// diagnosticSockets are prefixes of the names of UNIX sockets on which runtimes answer tools: the diagnostic port of .NET, the pipe of its debugger,
// and the attach mechanism of HotSpot.
var diagnosticSockets = []string{"dotnet-diagnostic-", "clr-debug-pipe-", ".java_pid"}

// IsDiagnosticSocket reports whether the runtime, not the service, answers on a UNIX socket, given by its path.
func IsDiagnosticSocket(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return slices.ContainsFunc(diagnosticSockets, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
