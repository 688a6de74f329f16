//go:build !linux

package hugepages

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// find finds nothing: there is no /proc here.
func find(context.Context, discover.Target) []probe.Access { return nil }
