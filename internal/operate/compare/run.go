package compare

import (
	"time"

	"github.com/unstall/unstall/internal/base/stats"
)

// Run holds the figures of one run and its load.
type Run struct {
	Name    string
	Start   time.Time // zero unknown
	Load    Load
	Metrics map[string]float64 // by the names in [Metrics]; unknown ones are absent

	// Within are 95 % intervals of metrics from the requests of this run alone, for metrics that have one.
	// They say nothing about how runs differ from each other.
	Within map[string]stats.Interval

	// Parts are the metrics of the run's quarters in order of time, where they were measured. They show how
	// much the figures move without a change.
	Parts []map[string]float64

	// Settings are the settings and versions under which the process ran, as far as recorded, by name.
	Settings map[string]string

	Warnings []string // shown beside the figures: lines not understood, a generator that lagged
}

// Load is the load of a run. Zero fields are unknown.
type Load struct {
	URL         string
	Mode        string             // "open", "closed"
	LatencyFrom string             // "intended", "send", "server"
	Offered     float64            // requests per second, of an open loop
	Rate        float64            // achieved requests per second
	Connections int                // of a closed loop
	Duration    time.Duration      // of the measurement
	Sent        int64              // number of requests
	Failed      int64              // number of them that failed
	Routes      map[string]float64 // shares of the requests, by route
	Arrivals    bool               // no generator offered the requests; Rate is how many came

	// Others is the share of the host's processors that other processes or other virtual machines (steal)
	// used; nil: not recorded.
	Others *float64

	// Limited says that the generator did not keep its schedule.
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

// HasOtherSettings says whether a setting or version that is known of both runs differs, so that a change lies between them.
func (r *Run) HasOtherSettings(o *Run) bool {
	for name, v := range r.Settings {
		if w, known := o.Settings[name]; known && v != w {
			return true
		}
	}
	return false
}
