//go:build !linux

package exchanges

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// find gives nothing: there is no Linux kernel.
func find(context.Context, discover.Target) []probe.Access { return nil }
