package discover

import "time"

// Found is a process on this host that can be diagnosed.
type Found struct {
	Target
	CPU  float64 // cores used during the look
	Look time.Duration
	RSS  int64 // bytes

	Reads []string // data that this user can read: "pprof", "diagnostics", "attach", "/proc", "environment"
	Next  string   // the command that diagnoses it: "unstall 4711"
}
