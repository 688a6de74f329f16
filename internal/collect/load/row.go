package load

import "github.com/unstall/unstall/internal/base/evidence"

// Row is one request. Times are ns since the epoch.
type Row struct {
	Intended int64
	Sent     int64 // 0: it never was
	End      int64 // the last byte of the answer, or when it was given up: then the latency is a lower bound
	Lag      int64 // ns of Sent − Intended that were the generator's own fault, not that of busy connections
	Bytes    int64 // received
	Status   int   // 0: no answer
	Outcome  evidence.Outcome
	Route    string // method and path, placeholders as they are
	Journey  string // of which it was a part, and the step; "": of none
	Step     string
}

// Latency is the time from the intended start, in ns.
func (r *Row) Latency() int64 { return r.End - r.Intended }

// hasLatency reports whether the latency says how long an answer took, or takes at least. A
// request that failed without an answer says nothing about that.
func (r *Row) hasLatency() bool {
	return r.Status != 0 || r.Outcome == evidence.TimedOut || r.Outcome == evidence.Unfinished
}
