// Package golang holds the causes that lie in the Go runtime and in programs' use of it.
//
// Sources: the pacer (runtime/mgcpacer.go, https://go.dev/issue/44167,
// https://go.dev/issue/48409), the GC guide (https://go.dev/doc/gc-guide), and
// golang/go#19497: the collector's "cpu" figures are time on a P.
package golang

import (
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// gcTrace asks for the collector's log.
var gcTrace = check.Need{What: "the log of the service, started with GC logging enabled in its environment", Command: "GODEBUG=gctrace=1"}

func isGo(c *check.Case) bool { return c.Runtime() == platform.Go.ID }
