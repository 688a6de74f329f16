package discover

import "time"

// Found is a process here that can be diagnosed.
type Found struct {
	Target
	CPU   float64 // cores used over the look
	Look  time.Duration
	RSS   int64 // bytes
	Pprof bool  // the program has net/http/pprof and listens on TCP

	// Socket says that this user may ask a .NET runtime by its diagnostics socket.
	Socket bool

	// Attach says that this user may attach to a JVM.
	Attach bool

	Reads []string // what this user can read: "pprof", "diagnostics", "attach", "/proc", "environment"
	Next  string   // the command that diagnoses it: "unstall 4711"
}
