//go:build !linux

package phpfpm

import (
	"context"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/probe"
)

func find(context.Context, discover.Target) []probe.Access { return nil }
