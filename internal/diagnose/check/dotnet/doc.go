// Package dotnet holds the causes that lie in .NET's runtime and in programs' use of its threads.
//
// Sources: the pool (System.Private.CoreLib's PortableThreadPool.*.cs from .NET 6 on,
// https://github.com/dotnet/runtime/tree/main/src/libraries/System.Private.CoreLib/src/System/Threading,
// win32threadpool.cpp of the runtime before), the counters
// (https://learn.microsoft.com/dotnet/core/diagnostics/available-counters), the settings
// (https://learn.microsoft.com/dotnet/core/runtime-config/threading), and how starvation is
// told (https://learn.microsoft.com/dotnet/core/diagnostics/debug-threadpool-starvation).
package dotnet

import (
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose/check"
)

func isDotnet(c *check.Case) bool { return c.Runtime() == platform.Dotnet.ID }
