package workload

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
)

// Of is the vector of a service on a host; nil: the host was not recorded.
func Of(work metrics.Work, host *metrics.Machine) Vector {
	v := Unknown()
	v.Work = work
	if host == nil {
		return v
	}
	if host.CPUs > 0 {
		v.CPUs = float64(host.CPUs)
	}
	softirq := math.NaN()
	if host.Busy > 0 {
		softirq = host.Softirq / host.Busy
	}
	v.Host = Beside{Busy: host.Busy, Softirq: softirq, NetRX: host.NetRX, Block: host.Block, PressureCPU: host.PressureCPU, PressureMemory: host.PressureMemory, PressureIO: host.PressureIO}
	return v
}
