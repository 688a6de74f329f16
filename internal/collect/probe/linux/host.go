package linux

import "time"

// HostOptions say how a host is recorded. The zero value is how `unstall host` does it.
type HostOptions struct {
	Root  string        // where /proc is; "": /proc. Of a made one only files are read.
	Every time.Duration // how often busy processes are looked at, at most; 0: once a second
	Of    []int         // processes that are looked at whether they are busy or not
}
