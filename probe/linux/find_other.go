//go:build !linux

package linux

import (
	"context"

	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/target"
)

// find finds nothing: there is no /proc here.
func find(context.Context, target.Target) []probe.Access { return nil }
