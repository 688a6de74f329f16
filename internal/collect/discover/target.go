// Package discover resolves what a user types into files (files, the files in a directory, standard input) and into live targets
// (processes by PID or name, and addresses). It also finds the processes on this host that can be diagnosed.
//
// Its opinion: a file that exists takes precedence over a process of that name. A process is recognised by the traces its runtime
// leaves (build information, hsperfdata, sockets for diagnosis, mapped libraries), never by asking it. Only a process that may be Redis
// under another name is sent a PING. Names of programs are shown; their arguments and environments never are. The package reports what
// it may not read, and who may.
package discover

import (
	"net/netip"
	"net/url"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover/container"
)

// Target is something live that probes can record: a process, a URL, or a process found behind a URL.
type Target struct {
	Arg string // what the user typed; a URL may hold a password

	URL *url.URL // debug endpoint as typed ("host:port" is http); nil: none was given

	PID       int                 // 0: not a process of this host, or no process could be found
	Name      string              // as ps shows it, uncut if the executable's name is known; for dotnet the program it runs
	Main      string              // the program in it: path of the main Go module, main class or jar file, "" unknown
	Start     time.Time           // of the process, zero unknown
	Runtime   string              // "go", "jvm", "dotnet", "redis", "" other or unknown
	Version   string              // of the runtime: "go1.26.8", "17.0.15"; "" unknown
	Traits    Traits              // of the runtime
	Exe       string              // path from /proc/PID/exe, "" unreadable
	UID       int                 // effective user
	User      string              // its name, or the number
	Container string              // ID of its container, usually 64 hexadecimal digits; "" none
	In        container.Container // what the engines here know about that container; zero: nothing
	Listens   []Listener

	// Unreadable are the files under /proc/PID that this user may not read, of
	// "environ", "exe", "fd", "io" and "maps".
	Unreadable []string

	// Needs says who may read them: "root or user app"; "" if nothing is unreadable.
	Needs string

	// Note is one line that the user should also know: why there is no process behind an address of this machine. It is
	// usually empty.
	Note string
}

// HasWorkers reports whether children of the same name may do its work, as far as its runtime is known.
func (t Target) HasWorkers() bool { return t.Runtime == "" || t.Traits.Master }

// Listener is a socket a process accepts connections on.
type Listener struct {
	Addr netip.AddrPort // TCP; not valid for a UNIX socket
	Path string         // UNIX socket, "@name" for an abstract one
}

// String returns ":8080" for a socket on every address, "127.0.0.1:8080", or the path of a UNIX socket.
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

// Subject returns the target as a subject of evidence.
func (t Target) Subject() evidence.Subject {
	s := evidence.Subject{Kind: evidence.Process, Name: t.Name, PID: t.PID, Runtime: t.Runtime, Version: t.Version, Container: t.Container}
	if !t.Start.IsZero() {
		s.StartTime = t.Start.UnixNano()
	}
	return s
}
