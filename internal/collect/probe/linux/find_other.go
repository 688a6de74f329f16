//go:build !linux

package linux

import (
	"context"
	"errors"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none where there is no /proc.
func findAccess(context.Context, discover.Target) []probe.Access { return nil }

// Host gives nothing, likewise.
func Host(HostOptions) probe.Access {
	why := errors.New("unstall host: only a Linux host can be recorded")
	return probe.Access{Probe: name, Where: "/proc", Missing: why, Record: func(context.Context, probe.Plan, probe.Sink) error { return why }}
}
