// Package exchanges records requests and calls of a process over TCP and UNIX sockets, one line each, as the kernel sees them. For a request the
// line says when its first bytes arrived, when the process read them, and when its answer left. For a call it says when it was sent, when the
// answer came, and when it was read. The package needs no help from the process, works for any language, and includes child processes.
//
// Its artifact, exchanges.txt, is read by internal/format/exchanges.
//
// eBPF programs run at the tracepoints sock_send_length and sock_recv_length (Linux 6.3), which see each transfer of a socket with its length, at
// sk_data_ready, which sees bytes arrive, and at tcp_destroy_sock. For closed UNIX sockets the recorder asks sock_diag. The programs keep a state
// for each connection and report an exchange when the next one begins on it. They keep some of the first bytes of a request and of its answer.
// From these the recorder takes the method, the route without identifiers, and the status. For a call to a database it takes the verb and the
// table of the statement, and from the end of the answer whether a transaction is open. Nothing else of the data is written anywhere.
//
// Of a Go program the programs also keep the goroutine of each transfer, and the stack that sends a call. The recorder looks at the goroutines whose requests are
// under way, by their memory (internal/collect/probe/goroutine).
//
// For HTTP/2 (RFC 9113) the programs follow the frames (Linux 6.4), whose headers name their stream, and report those that begin and end requests.
// From their headers (RFC 7541) the recorder reads the name of the request and its status. TLS hides all of that.
//
// For UDP the programs report datagrams with the header of a query to a name server or of its answer (RFC 1035), at any port, with the
// question. The recorder matches them by number. It writes how long each lookup took, its type, its result, and the registrable end of the
// name. The kernel does not report that a UDP socket was closed, so a query without an answer is given up after 10 s.
//
// The package's opinion: on a connection exchanges follow one another, as in HTTP/1 and in the protocols of databases. In another protocol
// than HTTP/2 with several exchanges at once (pipelines), a line covers the transfers between two pauses of the connection; the format says so. If frames cannot
// be followed, requests are counted and not guessed.
package exchanges

import "github.com/unstall/unstall/internal/collect/probe"

const name = "exchanges"

// Probe records the exchanges of a process of this host.
var Probe = probe.Probe{
	Name:    name,
	About:   "requests and calls on the process's TCP and UNIX connections and its lookups of names, as the kernel sees them (eBPF)",
	Find:    findAccess,
	General: true,
}
