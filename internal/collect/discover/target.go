// Package discover resolves what a user types into what can be read: files, the
// files in a directory, standard input; and into what runs: processes, by id or
// name, and addresses. It also finds the processes here that can be diagnosed.
//
// Its opinion: a file that exists wins over a process of that name. A process is
// known by the traces its runtime leaves (build information, hsperfdata, sockets
// for diagnosis, mapped libraries), never by asking it; only what may be Redis
// under another name is sent a PING. Names of programs are shown, their
// arguments and environments never are. Whatever may not be read is said,
// together with who may.
package discover

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover/container"
)

// Target is something live that probes can look at: a process, a URL, or a
// process found behind a URL.
type Target struct {
	Arg string // what the user typed; a URL may hold a password

	URL *url.URL // of a debug endpoint, as typed ("host:port" is http); nil: none was given

	PID       int                 // 0: not a process of this host, or none that could be found
	Name      string              // as ps shows it, whole where the executable's name is known; what dotnet runs instead of "dotnet"
	Main      string              // what runs in it: path of the main Go module, main class or jar file, "" unknown
	Start     time.Time           // of the process, zero unknown
	Runtime   string              // "go", "jvm", "dotnet", "redis", "" other or unknown
	Version   string              // of the runtime: "go1.26.8", "17.0.15"; "" unknown
	Traits    Traits              // of the runtime
	Exe       string              // path as /proc/PID/exe says, "" unreadable
	UID       int                 // effective user
	User      string              // its name, or the number
	Container string              // id of its container, mostly 64 hexadecimal digits; "" none
	In        container.Container // what the engines here know of that container, zero nothing
	Listens   []Listener

	// Unreadable are the files under /proc/PID that this user may not read, of
	// "environ", "exe", "fd", "io" and "maps".
	Unreadable []string

	// Needs is who may read them: "root or user app"; "" if nothing is unreadable.
	Needs string

	// Note is what else the user should know, one line: why there is no process
	// behind an address of this machine. Mostly empty.
	Note string
}

// Listener is a socket a process accepts connections on.
type Listener struct {
	Addr netip.AddrPort // TCP; not valid for a UNIX socket
	Path string         // UNIX socket, "@name" for an abstract one
}

// String is ":8080" for a socket on every address, "127.0.0.1:8080", or the path
// of a UNIX socket.
func (l Listener) String() string {
	switch {
	case !l.Addr.IsValid():
		return l.Path
	case l.Addr.Addr().IsUnspecified():
		_, port, _ := cutLast(l.Addr.String(), ':')
		return ":" + port
	}
	return l.Addr.String()
}

// Subject is the target as evidence names it.
func (t Target) Subject() evidence.Subject {
	s := evidence.Subject{Kind: evidence.Process, Name: t.Name, PID: t.PID, Runtime: t.Runtime, Version: t.Version, Container: t.Container}
	if !t.Start.IsZero() {
		s.StartTime = t.Start.UnixNano()
	}
	return s
}
