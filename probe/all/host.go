package all

import (
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/probe/kernel"
	"github.com/unstall/unstall/probe/linux"
)

// Host is what can be recorded of a whole host.
func Host(opt linux.HostOptions) []probe.Access {
	return []probe.Access{linux.Host(opt), kernel.Host()}
}
