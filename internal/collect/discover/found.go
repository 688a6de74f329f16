package discover

import "time"

// Found is a process here that can be diagnosed.
type Found struct {
	Target
	CPU  float64 // cores used over the look
	Look time.Duration
	RSS  int64 // bytes

	Reads []string // what this user can read: "pprof", "diagnostics", "attach", "/proc", "environment"
	Next  string   // the command that diagnoses it: "unstall 4711"
}
