//go:build !linux

package interpreter

import (
	"context"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

func findAccess(context.Context, discover.Target) []probe.Access { return nil }
