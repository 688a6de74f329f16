//go:build !linux

package goroutine

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

func findAccess(context.Context, discover.Target) []probe.Access { return nil }
