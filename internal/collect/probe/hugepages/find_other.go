//go:build !linux

package hugepages

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns one access for a process of this host, and none where the kernel has no huge
// pages or there is no /proc.
func findAccess(context.Context, discover.Target) []probe.Access { return nil }
