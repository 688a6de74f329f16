package target

import (
	"net/netip"
	"net/url"
	"time"
)

// Target is something live that probes can look at: a process, a URL, or a
// process found behind a URL.
type Target struct {
	Arg string // what the user typed

	URL *url.URL // of a debug endpoint, as typed; nil: none was given

	PID       int // 0: not a process of this host, or none that could be found
	Name      string
	Start     time.Time // of the process, zero unknown
	Runtime   string    // "go", "jvm", "dotnet", "redis", "" other or unknown
	Version   string    // of the runtime: "go1.26.8"
	Exe       string    // path as /proc/PID/exe says, "" unreadable
	UID       int       // effective user
	User      string    // its name, or the number
	Container string
	Listens   []Listener
}

// Listener is a socket a process accepts connections on.
type Listener struct {
	Addr netip.AddrPort // TCP; not valid for a UNIX socket
	Path string         // UNIX socket, "@name" for an abstract one
}
