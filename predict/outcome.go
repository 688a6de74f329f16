package predict

import (
	"encoding/json"
	"math"
)

// Estimate is a figure and the range in which it may lie. NaN is not known; in
// JSON that is null.
type Estimate struct{ Value, Low, High float64 }

// Unknown is no figure.
var Unknown = Estimate{math.NaN(), math.NaN(), math.NaN()}

// Exactly is a figure whose range is not known.
func Exactly(v float64) Estimate { return Estimate{v, math.NaN(), math.NaN()} }

// Known says whether there is a figure.
func (e Estimate) Known() bool { return !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0) }

// Ranged says whether there is a range, too.
func (e Estimate) Ranged() bool { return e.Known() && e.Low <= e.High && !math.IsInf(e.High, 0) }

// plus shifts a figure with its range.
func (e Estimate) plus(v float64) Estimate { return Estimate{e.Value + v, e.Low + v, e.High + v} }

type estimateJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MarshalJSON writes {"value", "low", "high"}, null for what is not known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(estimateJSON{number(e.Value), number(e.Low), number(e.High)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	var j estimateJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = Unknown
	for to, from := range map[*float64]*float64{&e.Value: j.Value, &e.Low: j.Low, &e.High: j.High} {
		if from != nil {
			*to = *from
		}
	}
	return nil
}

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
	Setting Setting  `json:"setting"`
	Live    float64  `json:"live_bytes"`      // what is taken to be live: what cycles mark under the setting in force
	Alloc   float64  `json:"alloc_bytes_s"`   // allocation rate
	Cycles  Estimate `json:"gc_cycles_per_s"` //
	// Collector is the time on processors that mark workers and assists take. It is
	// CPU time where the host gives the process its processors.
	Collector Estimate `json:"gc_cores"`
	Share     Estimate `json:"gc_cpu_share"`    // of the process's CPU, 0…1
	Marking   Estimate `json:"marking_share"`   // of the time, 0…1
	Assist    Estimate `json:"assist_cores"`    // the part of Collector that allocating goroutines do
	Process   Estimate `json:"process_cores"`   // CPU of the process
	Goal      Estimate `json:"goal_bytes"`      // size at which the pacer wants a cycle to end
	Peak      Estimate `json:"heap_peak_bytes"` // size at which cycles end
	RSS       Estimate `json:"rss_bytes"`       // resident
	P99       Estimate `json:"p99_ms"`          // of requests
	Fill      Fill     `json:"first_fill"`
	Bound     string   `json:"bound"`            // "gogc" | "limit" | "minimum" | "forced"
	Limiter   bool     `json:"limiter"`          // the collector meets the runtime's cap of half of the processors, and the heap outgrows its limit
	PilesUp   bool     `json:"requests_pile_up"` // requests and the collector need more processors than there are: there is no p99
}

// Fill is what it takes until memory that was never used is resident: page faults,
// once after each start. That slowness is not the collector's, and it passes.
type Fill struct {
	Faults  Estimate `json:"faults"`  // pages of 4 KiB beyond those the process has today; fewer with transparent huge pages
	Seconds Estimate `json:"seconds"` // at the present allocation rate, from the start to the first cycle at full size
}
