package compare

import (
	"time"

	"github.com/unstall/unstall/internal/base/stats"
)

// Run is what was measured of one run, under a load.
type Run struct {
	Name    string
	Start   time.Time // zero unknown
	Load    Load
	Metrics map[string]float64 // by the names in [Metrics]; what is not known is not in it

	// Within are 95 % intervals from the requests of the run alone, of the metrics
	// that have one. They say nothing about what differs from run to run.
	Within map[string]stats.Interval

	// Parts are the metrics of its quarters in order of time, where they were measured: how much
	// the figures move without a change.
	Parts []map[string]float64

	Warnings []string // what to know beside the figures: lines not understood, a generator that lagged
}

// Load is what a run was measured under. Zero fields are not known.
type Load struct {
	URL         string
	Mode        string             // "open", "closed"
	LatencyFrom string             // "intended", "send", "server"
	Offered     float64            // per second, of an open loop
	Rate        float64            // achieved, per second
	Connections int                // of a closed loop
	Duration    time.Duration      // that was measured
	Sent        int64              // requests
	Failed      int64              // of them
	Routes      map[string]float64 // shares of the requests, by route
	Arrivals    bool               // Rate is how many came by themselves: nobody offered them

	// Others is the share of the host's processors that other processes used or
	// its hypervisor took; nil: not recorded.
	Others *float64

	// Limited: the generator did not keep its schedule.
	Limited bool
}

// Errors returns the share of requests that failed; false if it is not known.
func (l *Load) Errors() (float64, bool) {
	if l.Sent <= 0 {
		return 0, false
	}
	return float64(l.Failed) / float64(l.Sent), true
}

// servedShare returns the part of the offered rate that was served; false if either is unknown.
func (l *Load) servedShare() (float64, bool) {
	if l.Offered <= 0 || l.Rate <= 0 {
		return 0, false
	}
	return l.Rate / l.Offered, true
}

func (l *Load) isKnown() bool {
	return l.Mode != "" || l.Offered > 0 || l.Rate > 0 || l.Connections > 0
}
