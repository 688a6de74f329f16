package all

import (
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel"
	"github.com/unstall/unstall/internal/collect/probe/linux"
)

// Host is what can be recorded of a whole host.
func Host(opt linux.HostOptions) []probe.Access {
	return []probe.Access{linux.Host(opt), kernel.Host()}
}
