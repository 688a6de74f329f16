package goheap

import "github.com/unstall/unstall/internal/analyze/model"

// What decides where a cycle ends.
const (
	ByGOGC    = "gogc"    // a ratio of the live heap
	ByLimit   = "limit"   // the memory limit, less what is not heap
	ByMinimum = "minimum" // 4 MiB · GOGC/100
	ByClock   = "forced"  // two minutes without a cycle
)

// Outcome is what a process's collector does under a setting and a load. Rates
// are per second, sizes bytes, times on processors are cores.
type Outcome struct {
	Setting Setting        `json:"setting"`
	Live    float64        `json:"live_bytes"`      // what is taken to be live: what cycles mark under the setting in force
	Alloc   float64        `json:"alloc_bytes_s"`   // allocation rate
	Cycles  model.Estimate `json:"gc_cycles_per_s"` //
	// Collector is the time on processors that mark workers and assists take. It is
	// CPU time where the host gives the process its processors.
	Collector model.Estimate `json:"gc_cores"`
	Share     model.Estimate `json:"gc_cpu_share"`    // of the process's CPU, 0…1
	Marking   model.Estimate `json:"marking_share"`   // of the time, 0…1
	Assist    model.Estimate `json:"assist_cores"`    // the part of Collector that allocating goroutines do
	Process   model.Estimate `json:"process_cores"`   // CPU of the process
	Goal      model.Estimate `json:"goal_bytes"`      // size at which the pacer wants a cycle to end
	Peak      model.Estimate `json:"heap_peak_bytes"` // size at which cycles end
	RSS       model.Estimate `json:"rss_bytes"`       // resident
	P99       model.Estimate `json:"p99_ms"`          // of requests
	Fill      Fill           `json:"first_fill"`
	Bound     string         `json:"bound"`            // "gogc" | "limit" | "minimum" | "forced"
	Limiter   bool           `json:"limiter"`          // the collector meets the runtime's cap of half of the processors, and the heap outgrows its limit
	PilesUp   bool           `json:"requests_pile_up"` // requests and the collector need more processors than there are: there is no p99
}

// Fill is what it takes until memory that was never used is resident: page faults,
// once after each start. That slowness is not the collector's, and it passes.
type Fill struct {
	Faults  model.Estimate `json:"faults"`  // pages of 4 KiB beyond those the process has today; fewer with transparent huge pages
	Seconds model.Estimate `json:"seconds"` // at the present allocation rate, from the start to the first cycle at full size
}
