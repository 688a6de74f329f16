package linux

import "time"

// HostOptions say how to record a host. The zero value is that of `unstall host`.
type HostOptions struct {
	Root  string        // path of /proc; "": /proc. In another one only files are read.
	Every time.Duration // least time between readings of busy processes; 0: once a second
	Of    []int         // processes that are read whether they are busy or not
}
