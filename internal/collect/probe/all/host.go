package all

import (
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel"
	"github.com/unstall/unstall/internal/collect/probe/linux"
)

// Host returns the accesses that record a whole host.
func Host(opt linux.HostOptions) []probe.Access {
	return []probe.Access{linux.Host(opt), kernel.Host()}
}
