// Package exchanges reads the requests that a process served over TCP and UNIX sockets and the calls it made, as unstall records them
// (internal/collect/probe/exchanges) by eBPF programs on tracepoints of the kernel:
//
//	# exchanges of pid 4711
//	from 1763689985000000000
//	k 1763689985100400000 60000 2100000 0 5012 220 1 1 4712 4712 43210 10.0.0.7:5432 postgresql idle SELECT orders
//	t 4712 http-nio-8080-e
//	pid 4715 4713
//	s 1 syscall.write	net.(*conn).Write	main.(*store).find
//	q 1763689985100000000 210000 2600000 40000 180 5120 1 2 4712 4712 8080/7 - http 200 GET /orders/{id}
//	q 1763689985101000000 0 900000 0 310 88 1 1 4712 4712 unix:/run/shop.sock/8 - http 200 GET /search
//	g 1763689985101200000 9 w 2
//	p unix:/run/shop.sock 901 nginx
//	q 1763689985102000000 9000 4000000 20000 47 61 2 3 4713 4715 9090/9 - grpc 0 POST /shop.Prices/Quote
//	until 1763689985200000000
//	lost 3
//	h2 1 0
//	of 4
//	open
//
// A request (q) begins with the moment when it came from the network (ns since the epoch). Three times in ns follow: until the process
// read it, from there until the first byte of its answer was sent (-1: never), and from there until the last byte was. Then come bytes and
// transfers, in and out, the threads that read it and that answered, its port, and the number of its connection. The client is not
// recorded. t gives the name of a thread, where it is known, and pid the process of one that is not of the process in the heading. In Go (1.17 and later) "4712/9" is goroutine 9 on thread 4712, and "4712/9@1" sent a call from
// stack 1, whose functions s gives, innermost first. A goroutine that serves a request is looked at many times a second: g says when, which one,
// and whether it ran (r), was ready (q), was parked (w) or in a system call (s), with its stack (0 unknown). Goroutines that it has started (Go 1.21 and later), and those
// that these have, are looked at in the same round: then the number of the request's goroutine follows, and the number that Go gave the started one. HTTP/1 adds the
// status (0 unknown), the method and the route. A call (k) begins with the moment when it was sent. Three times follow: how long its answer had
// been there when the process read it, from the sending until the process read its first byte (-1: never), and from there until the last byte.
// The other figures are the same, with the process's own port and the peer. Then comes the protocol; HTTP/1 adds the status, the
// method and the route; a database adds the result (idle: no transaction is open after it, open: one is, failed, - unknown) and
// the statement's verb and table, which recordings from before 2026-12 do not have.
//
// A UNIX socket has a path, or a name that begins with @; bytes that are not plain characters are written as %20. It stands for the port
// where the process listens, and for the peer of a call. The own port of such a call is 65536 plus the number of its
// connection. p gives the process at the other end of a UNIX socket.
//
// A query to a name server (DNS) is a call, too:
//
//	k 1763689985100400000 0 350000000 0 61 45 1 1 4712 4712 43211 10.0.0.2:53 dns ok A example.com
//
// The transfers out are how often it was sent: a query that is sent again before its answer, also to the next server, is the same lookup,
// and the first server counts as its peer. The result (ok, nxdomain: there is no such name, servfail, refused, failed, truncated: it is asked
// again over TCP, - unanswered) stands before the type of the record and the registrable end of the name, if it has one. In an
// unanswered one the time after -1 is its age when it was written. Queries over TCP have tcp there, and are like other calls.
//
// In HTTP/2 each stream is one of these, and the status is that of gRPC if it is gRPC (- unknown). Its route may be
// unknown, as a sender replaces what it has sent before by a number: "POST ~2" is the second of the routes that the connection named before.
// Several streams are in progress on one connection; where both ends send
// in turns, a request is answered when the answer begins. "h2 2 5" says that 2 more connections speak it, and that 5 more requests
// on such connections could not be told apart.
//
// Requests without an answer are of connections that were closed, and the time after -1 is until the close; for UNIX sockets it may be a second
// too long. After open, they are still in progress, as are those whose answer was being sent, piece by piece, when the recording ended. lost counts exchanges that did not fit into the buffers. After "of 4" one connection in
// four is recorded.
//
// A call belongs to the request that its goroutine serves, if there are goroutines. Else it belongs to the request that its thread read last,
// or whose earlier call's answer the thread read last,
// unless that request is answered already. This holds where a thread serves one request at a time, where an event loop handles
// what it reads before it reads more, and mostly where goroutines continue on the thread that woke them. Where
// some threads read requests and others answer them, it is the request that the thread answers next. Where calls outlive the
// requests that threads give them, times decide, if most requests are answered as soon as a call has ended; otherwise nothing does. Times also
// decide lookups by threads of their own, as the C library's function blocks: a request shows no activity for
// hardly longer than its lookup takes.
//
// The package's opinion: on a port with HTTP, exchanges that are not HTTP are messages of upgraded connections, and no
// requests. Protocols with several requests in progress on one connection are left out where these cannot be told apart.
// Data that a process writes to a UNIX socket which never answers are no calls: they are logs. A request that the process sends to itself is a part of the
// request that sends it.
package exchanges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// Format reads the requests and calls of a process as the kernel sees them.
var Format = format.Format{
	Name:  "exchanges",
	About: "requests and calls on a process's TCP and UNIX connections and its lookups of names, as the Linux kernel sees them (eBPF)",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const heading = "# exchanges of pid "

func matchHead(head []byte) format.Confidence {
	if bytes.HasPrefix(head, []byte(heading)) {
		return format.Sure
	}
	return format.No
}

// Limits of what is kept: about 300 MB.
const (
	mostRows   = 2 << 20
	mostRoutes = 1 << 12
	mostPeers  = 1 << 10

	mostThreads = 1 << 13 // with names
	mostName    = 64

	mostStacks = 1 << 12
	mostDepth  = 127
)

// exchange is a request or a call; moments are in ns since the epoch.
type exchange struct {
	turn   int64           // until when (ns since the epoch) others are served before a request; 0: it does not wait for its turn, or that is unknown
	worker evidence.NameID // what it waits for until then, where that is a thread of a pool; 0: its turn
	timer  evidence.NameID // or a timer
	came   int64           // of a request: when its first bytes had arrived
	begun  int64           // when the process read it, or sent it
	first  int64           // when the first byte of the answer was sent, or read; 0 none
	last   int64
	ready  int64 // of a call: how long (ns) the answer had been there when it was read

	thread, other int64
	stack         evidence.StackID // of a call: the code that sent it, 0 unknown
	goroutines    [2]int64         // the one that began it, and the one that began to answer or to read the answer; 0 unknown
	in, out       int64
	sends         int64
	port          int64
	connection    int64           // of a request: its number, 0 unknown
	what          evidence.NameID // route, or the peer of a call
	operation     evidence.NameID // of a call: what it asked for; 0 unknown
	line          int64
	request       int32           // of a call: its request, −1 unknown
	pool          evidence.NameID // of a call: the pool that its request waited for, for pooled ns
	pooled        int64
	held          evidence.NameID // what those call that hold the places of that pool; 0: the same peer
	paced         bool            // that pool is a limiter
	idle          bool            // that pool's connections are held without a call
	byTime        bool            // of a call: times alone link it
	served        bool            // of a call: its goroutine had read a request, or one had started it
	byStarted     bool            // of a call: a goroutine sent it that the request's has started
	status        int16           // of a call's answer, 0 unknown
	transaction   transaction
	open          bool
	ends          bool // nothing later was recorded of its connection
	http          bool
	known         bool      // its protocol is known
	multiplexed   bool      // others may be in progress on its connection
	lookup        bool      // of a call: it asks a name server
	unknownName   bool      // which answered that the name does not exist
	shared        bool      // of a call: its connection carried further questions before its answer
	behind        bool      // of a call: it stands for what a request asked behind another one's call, and is no call of its own
	awaited       bool      // of one that is behind another: its request waits for that one's end, not on its connection
	serves        *exchange // of a call that the process makes to itself: the request that serves it
	unnamed       int64     // number of a route of unknown name, 0 none; what is its method until it gets a name
	failed        bool
	byThread      bool // of a request: its thread served it from reading to answering, and no other request meanwhile
}

// transaction says whether a transaction is open on a connection after a call.
type transaction uint8

const (
	transactionUnknown transaction = iota
	transactionNone
	transactionOpen
)

type parser struct {
	recording.Scanner
	b       *evidence.Builder
	subject evidence.SubjectID

	pid               int64
	from, until       int64
	lost, of, dropped int64
	open              bool

	requests, calls []exchange
	routes          map[string]evidence.NameID
	peers           map[string]evidence.NameID
	plain           map[int64]int // requests other than HTTP/1, by port
	http            map[int64]int
	multiplexed     int
	spoke, untold   int64                      // connections with HTTP/2, and requests on them that could not be told apart
	nameless        int                        // requests over HTTP/2 without a known route
	sealed          int                        // encrypted requests
	names           map[int64]string           // of threads
	processes       map[int64]int64            // by thread, where it is not p.pid
	stacks          map[int64]evidence.StackID // that sent calls, by number
	frames          []evidence.Frame
	looks           []look
	started         *started
	paths           map[string]int64 // of UNIX sockets that requests came to: the number that stands for a port
	pathTexts       []string
	ends            map[string]string // by path of a UNIX socket: the process at the other end
	extra           []evidence.Extra
	prepared        map[ownEnd]string          // what the previous call has prepared
	spoken          map[evidence.NameID]string // by the name of a product at an address: the address
	opened          map[int64]int64            // by the own port of a connection: when its first call began
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, of: 1, routes: make(map[string]evidence.NameID), peers: make(map[string]evidence.NameID), plain: make(map[int64]int), http: make(map[int64]int),
		prepared: make(map[ownEnd]string), spoken: make(map[evidence.NameID]string), names: make(map[int64]string), processes: make(map[int64]int64), stacks: make(map[int64]evidence.StackID), paths: make(map[string]int64), ends: make(map[string]string)}
	if err := p.Scan(ctx, a, p.parseLine); err != nil {
		return err
	}
	if p.from == 0 || p.until <= p.from {
		return errors.New("exchanges: it covers no time: record again while the process runs")
	}
	p.Warn(b)
	p.linkAndEmit()
	return nil
}

// parseLine reads one line, and says whether it was understood.
func (p *parser) parseLine(text []byte) bool {
	if rest, is := bytes.CutPrefix(text, []byte(heading)); is {
		pid, ok := format.ParseDigits(rest)
		if !ok || p.pid != 0 || pid == 0 || pid > 1<<30 {
			return false
		}
		p.pid = pid
		p.subject = p.b.Subject(evidence.Subject{PID: int(pid)})
		return true
	}
	if p.pid == 0 {
		return false
	}
	word, rest, _ := bytes.Cut(text, []byte(" "))
	switch string(word) {
	case "q":
		return p.parseExchange(rest, true)
	case "k":
		return p.parseExchange(rest, false)
	case "t":
		digits, name, _ := bytes.Cut(rest, []byte(" "))
		thread, ok := format.ParseDigits(digits)
		if !ok || thread == 0 || thread > 1<<30 || len(name) == 0 || len(name) > mostName {
			return false
		}
		if len(p.names) < mostThreads {
			p.names[thread] = string(name)
		}
		return true
	case "pid":
		digits, process, _ := bytes.Cut(rest, []byte(" "))
		thread, ok := format.ParseDigits(digits)
		of, known := format.ParseDigits(process)
		if !ok || !known || thread == 0 || thread > 1<<30 || of == 0 || of > 1<<30 {
			return false
		}
		if len(p.processes) < mostThreads {
			p.processes[thread] = of
		}
		return true
	case "s":
		return p.parseStack(rest)
	case "g":
		return p.parseLook(rest)
	case "p":
		return p.parsePeerProcess(rest)
	case "from":
		at, ok := format.ParseDigits(rest)
		if !ok || p.from != 0 || !recording.IsDate(at) {
			return false
		}
		p.from = at
		return true
	case "until":
		at, ok := format.ParseDigits(rest)
		if !ok || at < p.until || !recording.IsDate(at) {
			return false
		}
		p.until = at
		return true
	case "lost":
		n, ok := format.ParseDigits(rest)
		p.lost += n
		return ok && p.lost >= 0
	case "of":
		n, ok := format.ParseDigits(rest)
		if !ok || n < p.of || n > 1<<20 {
			return false
		}
		p.of = n
		return true
	case "h2":
		connections, more, _ := bytes.Cut(rest, []byte(" "))
		n, ok := format.ParseDigits(connections)
		m, ok2 := format.ParseDigits(more)
		if !ok || !ok2 || n > 1<<40 || m > 1<<40 {
			return false
		}
		p.spoke, p.untold = p.spoke+n, p.untold+m
		return true
	case "open":
		p.open = true
		return len(rest) == 0
	}
	return len(text) == 0
}

// longest is the longest time of an exchange: a day.
const longest = int64(86400e9)

// parseExchange reads the figures of a request or a call.
func (p *parser) parseExchange(text []byte, request bool) bool {
	var n [11]int64 // moment, wait, first, last, in, out, reads, sends, thread, other, port
	connection, goroutines, stack := int64(0), [2]int64{}, evidence.StackID(0)
	for i := range n {
		digits, rest, _ := bytes.Cut(text, []byte(" "))
		ok := true
		switch {
		case i == len(n)-1 && request:
			n[i], connection, ok = p.parseListener(digits)
		case i == 2 && string(digits) == "-1":
			n[i] = -1
		case i == 8 || i == 9:
			worker, site, sent := bytes.Cut(digits, []byte("@"))
			if n[i], goroutines[i-8], ok = parseWorker(worker); sent && ok {
				var number int64
				number, ok = format.ParseDigits(site)
				stack = p.stacks[number] // 0: there were too many
				ok = ok && i == 8 && !request
			}
		default:
			n[i], ok = format.ParseDigits(digits)
		}
		if !ok || i > 0 && i < 4 && n[i] > longest {
			return false
		}
		text = rest
	}
	peer, text, _ := bytes.Cut(text, []byte(" "))
	if !recording.IsDate(n[0]) || request != (string(peer) == "-") || !request && !isPeer(peer) {
		return false
	}
	kind, text, _ := bytes.Cut(text, []byte(" "))
	x := exchange{begun: n[0], in: n[4], out: n[5], sends: n[7], thread: n[8], other: n[9], goroutines: goroutines, stack: stack, port: n[10], connection: connection, line: p.Number, request: -1, open: p.open && n[2] < 0, ends: p.open}
	if request {
		x.came, x.begun = n[0], n[0]+n[1]
	} else {
		x.ready = n[1]
	}
	switch {
	case n[2] >= 0:
		x.first = x.begun + n[2]
		x.last = x.first + n[3]
	case n[3] > 0:
		x.last = x.begun + n[3]
	}
	if request && x.port < 0 && evidence.IsDiagnosticSocket(p.listenerText(x.port)) {
		return true // what tools ask the runtime, this one among them
	}
	if len(p.requests)+len(p.calls) >= mostRows {
		p.dropped++
		return true
	}
	if !request {
		return p.parseCall(&x, peer, kind, text)
	}
	switch string(kind) {
	case "http", "http2", "grpc":
		if !p.asksHTTP(&x, kind, text) {
			return false
		}
	case "h2", "resp", "postgresql", "mysql", "mongodb":
		p.multiplexed++
		return true
	default:
		if p.plain[x.port]++; string(kind) == "tls" {
			p.sealed++
		}
	}
	p.requests = append(p.requests, x)
	return true
}

// parseStack reads the functions of a stack that sends calls, innermost first.
func (p *parser) parseStack(text []byte) bool {
	digits, text, _ := bytes.Cut(text, []byte(" "))
	number, ok := format.ParseDigits(digits)
	if !ok || number == 0 || len(text) == 0 {
		return false
	}
	if len(p.stacks) >= mostStacks {
		return true
	}
	p.frames = p.frames[:0]
	for function := range bytes.SplitSeq(text, []byte("\t")) {
		if len(function) > 0 && len(p.frames) < mostDepth && !bytes.HasPrefix(function, []byte("runtime.goexit")) { // below each goroutine's first function
			p.frames = append(p.frames, evidence.Frame{Func: p.b.Name(gostack.Printed(recording.Clean(function, longestFunction)))})
		}
	}
	p.stacks[number] = p.b.Stack(p.frames)
	return true
}

// longestFunction bounds the name of a function.
const longestFunction = 256

// parseWorker reads a thread and the goroutine that ran on it, 0 unknown: "4712", "4712/9".
func parseWorker(text []byte) (thread, goroutine int64, ok bool) {
	digits, rest, has := bytes.Cut(text, []byte("/"))
	if thread, ok = format.ParseDigits(digits); ok && has {
		goroutine, ok = format.ParseDigits(rest)
		ok = ok && goroutine > 0
	}
	return thread, goroutine, ok
}

// parseListener reads the listener of a request and the number of its connection, 0 unknown:
// "8080/7", "unix:/run/app.sock/7". A UNIX socket has a number below 0 instead of a port.
func (p *parser) parseListener(text []byte) (port, connection int64, ok bool) {
	local := isPath(text)
	at := bytes.LastIndexByte(text, '/')
	if local && at <= len(unixPrefix) {
		return 0, 0, false
	}
	if at >= 0 { // recordings of earlier versions have no number
		if connection, ok = format.ParseDigits(text[at+1:]); !ok || connection == 0 {
			return 0, 0, false
		}
		text = text[:at]
	}
	if !local {
		port, ok = format.ParseDigits(text)
		return port, connection, ok
	}
	port, known := p.paths[string(text)]
	if !known && len(p.paths) < mostPeers {
		port = -1 - int64(len(p.paths))
		p.paths[string(text)] = port
		p.pathTexts = append(p.pathTexts, string(text))
	}
	return port, connection, true
}

// listenerText returns a listener in words.
func (p *parser) listenerText(port int64) string {
	if port < 0 {
		return p.pathTexts[-1-port]
	}
	return fmt.Sprintf("port %d", port)
}

// unixPrefix begins the address of a UNIX socket: "unix:/run/app.sock", "unix:@name". An address has at most mostPath bytes, as each byte that is
// not a plain character is written as three.
const (
	unixPrefix = "unix:"
	mostPath   = len(unixPrefix) + 3*108
)

func isPath(text []byte) bool {
	return bytes.HasPrefix(text, []byte(unixPrefix)) && len(text) > len(unixPrefix) && len(text) <= mostPath+20
}

// isPeer says whether a text is an address with a port, or a UNIX socket.
func isPeer(text []byte) bool {
	if isPath(text) {
		return true
	}
	at, err := netip.ParseAddrPort(string(text))
	return err == nil && at.IsValid()
}

// parsePeerProcess reads the process at the other end of the connections of a UNIX socket.
func (p *parser) parsePeerProcess(text []byte) bool {
	path, text, _ := bytes.Cut(text, []byte(" "))
	digits, name, _ := bytes.Cut(text, []byte(" "))
	if pid, ok := format.ParseDigits(digits); !isPath(path) || !ok || pid == 0 || len(name) == 0 || len(name) > mostName {
		return false
	}
	if _, known := p.ends[string(path)]; !known && len(p.ends) < mostPeers {
		p.ends[string(path)] = string(name)
	}
	return true
}

// firstUNIX is the first own port of a call that is the number of a UNIX connection.
const firstUNIX = 1 << 16

// asksHTTP reads the status and the route of a request over HTTP. Over HTTP/2 the route may be unknown, and gRPC has its own status.
func (p *parser) asksHTTP(x *exchange, kind, text []byte) bool {
	status, route, named := bytes.Cut(text, []byte(" "))
	code, digits := format.ParseDigits(status)
	switch {
	case len(route) > format.MaxRoute+64, named && len(route) == 0, string(kind) == "http" && !named:
		return false
	case string(kind) == "grpc":
		if x.failed = digits && slices.Contains(failures, code); !digits && string(status) != "-" {
			return false
		}
	case !digits:
		return false
	default:
		x.failed = code >= 500
	}
	x.http = true
	p.http[x.port]++
	method, number, is := bytes.Cut(route, []byte(" ~"))
	if n, ok := format.ParseDigits(number); is && ok && n > 0 && n < mostUnnamed && string(kind) != "http" {
		x.unnamed, x.what = n, p.internName(p.routes, method, mostRoutes)
		named = false
	}
	if !named {
		p.nameless++
		return true
	}
	if x.unnamed == 0 {
		x.what = p.internName(p.routes, route, mostRoutes)
	}
	return true
}

// mostUnnamed is more than the number of numbered routes of a connection.
const mostUnnamed = 1 << 10

// nameUnnamed names routes that were named before the recording began, if they are on one connection: on several, equal names may
// have different numbers.
func (p *parser) nameUnnamed() {
	of := int64(0)
	for i := range p.requests {
		if x := &p.requests[i]; x.unnamed > 0 {
			if of != 0 && of != x.connection {
				of = -1
				break
			}
			of = x.connection
		}
	}
	for i := range p.requests {
		switch x := &p.requests[i]; {
		case x.unnamed == 0:
		case of < 0:
			x.what = 0
		default:
			x.what = p.internName(p.routes, fmt.Appendf(nil, "%s, route %d without a name", p.b.Text(x.what), x.unnamed), mostRoutes)
		}
	}
}

// failures are the statuses of gRPC that mean a fault of the server, and not of the request.
// Source: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/.
var failures = []int64{2, 4, 12, 13, 14, 15} // UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS

// dropOneWay drops what the process wrote, in no known protocol, to UNIX sockets that never answered: logs, for instance.
func (p *parser) dropOneWay() {
	answered := make(map[int64]bool)
	for i := range p.calls {
		if x := &p.calls[i]; x.port >= firstUNIX && (x.first > 0 || x.known) {
			answered[x.port] = true
		}
	}
	p.calls = slices.DeleteFunc(p.calls, func(x exchange) bool { return x.port >= firstUNIX && !answered[x.port] })
}

// internName returns the number of a name, 0 beyond the maximum of names.
func (p *parser) internName(known map[string]evidence.NameID, text []byte, most int) evidence.NameID {
	id, ok := known[string(text)]
	if !ok && len(known) < most {
		id = p.b.NameBytes(bytes.ToValidUTF8(text, []byte("?")))
		known[string(text)] = id
	}
	return id
}
