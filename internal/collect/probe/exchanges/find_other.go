//go:build !linux

package exchanges

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// findAccess returns no access, because exchanges need a Linux kernel.
func findAccess(context.Context, discover.Target) []probe.Access { return nil }
