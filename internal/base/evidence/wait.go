package evidence

// Wait is what is known of a request's wait beyond its name for people. Checks use it and never parse the name.
type Wait struct {
	Kind  WaitKind
	Of    string // what it is for: an address, a pool, a place in the code; "" unknown
	By    string // the service that owns a [WorkerPool]
	Call  string // the system call, or one of Call…; "" none
	Class string // the kernel mechanism, one of Kernel…, where that is more precise than the call; "" unknown
	File  bool   // the call is on a file

	Places    int // number of places of what is waited for; 0 unknown
	Processes int // that have so many places each; 0 or 1: the one process
}

// InterpreterLock is the [Wait.Of] of waits for CPython's interpreter lock: the thread that has it runs Python, all others wait.
const InterpreterLock = "Python's interpreter lock (GIL)"

// WaitKind is the kind of a wait, for kinds that checks judge by.
type WaitKind uint8

// Kinds of waits.
const (
	OtherWait      WaitKind = iota
	AcceptQueueOf           // in a socket's queue of the kernel, before a service; Of is its address
	ConnectingTo            // a proxy connects to a service; Of is its address
	InProxy                 // in a proxy, before it calls the service
	ArrivedAt               // arrived at a socket and not read yet; Of is "port 8080" or "unix:/run/app.sock"
	UnreadAt                // before a service, in a connection that it has accepted and not read; Of is the address
	OneAtATime              // for something that lets one call at a time go to the dependency Of: a lock or a pool of one connection
	EventLoop               // for the thread Of, which alone reads many connections
	WorkerPool              // for one of a pool of workers, Of, of the service By
	GoroutineLimit          // for one of the goroutines that a request itself starts, with a limit on their number, in Of
	NameServer              // for a name server to resolve a name; Of is the server's address
	UnreadPeer              // until the peer of a write reads, in Of: the connection's buffer is full
	ForcedCycle             // for a Go GC cycle that the program asks for: runtime.GC, debug.FreeOSMemory
	PoolThread              // for a thread of a pool, Of
	Carrier                 // for a thread of the system to run a virtual thread, while others compute on all of them
	OneThread               // for the only thread that does the awaited work
	FutexWait               // at a futex, for any reason
	RateLimit               // for a limiter of calls per second to Of
	Turn                    // until the requests before it are served, one at a time
	HeldPool                // for one of a pool of connections to Of, which requests hold without a call
	LeakedPool              // for one of a pool of connections to Of, on which transactions stay open until a time-out closes them
	LostPool                // for one of a pool of connections to Of, some of which carry nothing more after an answer and yet keep their places
	RequestLimit            // for one of the places of a limit, within the program, on requests that are served at a time; Of is what most of these wait for
	TimedStart              // until a timer takes up what requests hand over; Of is the usual time (ns) between two such moments
	LoopTimer               // for a timer of an event loop, which sleeps until then
	RoomToWrite             // for room in a pipe or socket of this host, whose reader empties it too slowly
)

// waitNames are the beginnings of names of kinds that have one.
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
	Carrier:        "a carrier of virtual threads",
	ForcedCycle:    "a GC cycle that the program asks for",
}

// String returns the name of a wait whose kind has one.
func (w Wait) String() string { return w.By + waitNames[w.Kind] + w.Of }

// WaitID interns the name of a wait whose kind has one.
func (n *Names) WaitID(w Wait) NameID { return n.TellWait(w.String(), w) }

// TellWait interns the name of a wait with its facts.
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

// Wait returns the facts about a wait by its name; zero where none are known.
func (n *Names) Wait(id NameID) Wait { return n.waits[id] }

// Wait interns the name of a wait whose kind has one.
func (p *Builder) Wait(kind WaitKind, of string) NameID {
	return p.bundle.Names.WaitID(Wait{Kind: kind, Of: of})
}

// TellWait interns the name of a wait with its facts.
func (p *Builder) TellWait(name string, w Wait) NameID { return p.bundle.Names.TellWait(name, w) }
