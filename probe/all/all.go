// Package all lists the probes. Adding one is a package and a line here.
package all

import "github.com/unstall/unstall/probe"

// Probes are asked in this order.
var Probes = []probe.Probe{}
