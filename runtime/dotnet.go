package runtime

import (
	"github.com/unstall/unstall/reading"
	"github.com/unstall/unstall/threads"
	"github.com/unstall/unstall/top"
)

// Dotnet is .NET from Core 3.1 on (https://github.com/dotnet/runtime).
var Dotnet = &Runtime{
	ID:            "dotnet",
	Title:         ".NET",
	Versioned:     ".NET",
	Lane:          "thread",
	Launchers:     []string{"dotnet"},
	Hosts:         true,
	States:        looksAtThreads,
	Requests:      "an access log, or what a load generator measured,",
	Dump:          "dotnet-stack",
	Stacks:        &threads.DotnetStacks,
	Counters:      &top.Dotnet,
	ReadCollector: reading.DotnetCollector,
}
