package evidence

// Wait is what a request waits for, as far as more is known of it than its name says to people. Checks ask for
// it, never for words of the name.
type Wait struct {
	Kind  WaitKind
	Of    string // whom or what it is for: an address, a pool, a place in the code; "" nothing more
	By    string // the service whose it is, of a [WorkerPool]
	Call  string // the system call, or one of Call…; "" none
	Class string // the mechanism of the kernel, one of Kernel…, where that says more than the call; "" unknown
	File  bool   // the call is on a file

	Places int // how many there are of what is waited for; 0 unknown
}

// WaitKind is what kind of wait it is, of those that are judged by it.
type WaitKind uint8

// Kinds of waits.
const (
	OtherWait      WaitKind = iota
	AcceptQueueOf           // in the queue before a service that the kernel keeps for a socket; Of is its address
	ConnectingTo            // a proxy connects to a service; Of is its address
	InProxy                 // in a proxy before that asks the service
	ArrivedAt               // arrived at a socket and not read yet; Of is "port 8080" or "unix:/run/app.sock"
	UnreadAt                // before a service, in a connection that it has accepted and not read; Of is the address
	OneAtATime              // for what lets one call at a time go to a dependency, Of: a lock or a pool of one connection
	EventLoop               // for a thread that serves many connections, each of which only it reads; Of is its name
	WorkerPool              // for one of a pool of workers, Of, of the service By
	GoroutineLimit          // for one of the goroutines that a request itself starts, so many at a time, in Of
	NameServer              // for a name server to say which address a name has; Of is its own address
	UnreadPeer              // until whom the program writes to reads it, in Of: the buffer of the connection is full
	ForcedCycle             // for a Go GC cycle that the program asks for: runtime.GC, debug.FreeOSMemory
	PoolThread              // for a thread of a pool, Of
	OneThread               // for the one thread that does what is waited for
	FutexWait               // at a futex, for whatever reason
	RateLimit               // for a limiter that lets so many calls a second through to Of
	Turn                    // until the requests before it are served, one at a time
	RoomToWrite             // for room in a pipe or socket of this host, whose reader empties it too slowly
)

// waitNames are how the names of kinds begin that have one of their own.
var waitNames = [...]string{
	AcceptQueueOf:  "accept queue of ",
	ConnectingTo:   "connecting to ",
	InProxy:        "in the proxy",
	ArrivedAt:      "arrived and not read yet, ",
	UnreadAt:       "unread connections at ",
	OneAtATime:     "a lock or a pool of one connection for calls to ",
	EventLoop:      "event loop ",
	WorkerPool:     " workers, pool ",
	GoroutineLimit: "limit of goroutines at a time in ",
	NameServer:     "name server (DNS) at ",
	UnreadPeer:     "the reader of what is written in ",
	PoolThread:     "a thread of ",
	ForcedCycle:    "a GC cycle that the program asks for",
}

// String is the name of a wait whose kind has one.
func (w Wait) String() string { return w.By + waitNames[w.Kind] + w.Of }

// WaitID interns the name of a wait whose kind has one.
func (n *Names) WaitID(w Wait) NameID { return n.TellWait(w.String(), w) }

// TellWait interns the name of a wait, with what is known of it.
func (n *Names) TellWait(name string, w Wait) NameID {
	id := n.ID(name)
	if id != 0 && w != (Wait{}) {
		if n.waits == nil {
			n.waits = make(map[NameID]Wait)
		}
		n.waits[id] = w
	}
	return id
}

// Wait is what is known of the wait that a name is of; zero where nothing is.
func (n *Names) Wait(id NameID) Wait { return n.waits[id] }

// Wait interns the name of a wait whose kind has one.
func (p *Builder) Wait(kind WaitKind, of string) NameID {
	return p.bundle.Names.WaitID(Wait{Kind: kind, Of: of})
}

// TellWait interns the name of a wait, with what is known of it.
func (p *Builder) TellWait(name string, w Wait) NameID { return p.bundle.Names.TellWait(name, w) }
