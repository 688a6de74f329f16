// Package all lists the probes. Adding one is a package and a line here.
package all

import (
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/probe/dotnet"
	"github.com/unstall/unstall/probe/gopprof"
	"github.com/unstall/unstall/probe/hotspot"
	"github.com/unstall/unstall/probe/linux"
)

// Probes are asked in this order.
var Probes = []probe.Probe{
	gopprof.Probe,
	dotnet.Probe,
	hotspot.Probe,
	linux.Probe,
}
