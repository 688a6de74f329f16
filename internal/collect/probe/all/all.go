// Package all lists the probes. A new probe is a package and a line here.
package all

import (
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/container"
	"github.com/unstall/unstall/internal/collect/probe/dotnet"
	"github.com/unstall/unstall/internal/collect/probe/exchanges"
	"github.com/unstall/unstall/internal/collect/probe/gopprof"
	"github.com/unstall/unstall/internal/collect/probe/goroutine"
	"github.com/unstall/unstall/internal/collect/probe/hotspot"
	"github.com/unstall/unstall/internal/collect/probe/hugepages"
	"github.com/unstall/unstall/internal/collect/probe/interpreter"
	"github.com/unstall/unstall/internal/collect/probe/kernel"
	"github.com/unstall/unstall/internal/collect/probe/linux"
	"github.com/unstall/unstall/internal/collect/probe/phpfpm"
	"github.com/unstall/unstall/internal/collect/probe/redis"
)

// Probes are asked in this order.
var Probes = []probe.Probe{
	gopprof.Probe,
	goroutine.Probe,
	dotnet.Probe,
	hotspot.Probe,
	phpfpm.Probe,
	redis.Probe,
	interpreter.Probe,
	linux.Probe,
	hugepages.Probe,
	container.Probe,
}

// Clock is also asked about processes whose runtime names functions by their addresses.
var Clock = kernel.Clock

// Kernel is also asked if the user wants to know what the kernel does (--kernel).
var Kernel = []probe.Probe{kernel.Probe}

// Exchanges is also asked about processes that do not report their own requests.
var Exchanges = exchanges.Probe
