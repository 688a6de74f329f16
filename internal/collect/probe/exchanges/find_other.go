//go:build !linux

package exchanges

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none where there is no Linux
// kernel.
func findAccess(context.Context, discover.Target) []probe.Access { return nil }
