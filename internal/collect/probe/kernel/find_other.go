//go:build !linux

package kernel

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none where there is no Linux
// kernel.
func findAccess(context.Context, discover.Target) []probe.Access { return nil }

func findClock(context.Context, discover.Target) []probe.Access { return nil }

// Host gives nothing, likewise.
func Host() probe.Access {
	return probe.Access{Probe: name, Record: func(context.Context, probe.Plan, probe.Sink) error { return nil }}
}
