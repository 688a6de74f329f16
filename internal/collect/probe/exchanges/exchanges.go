// Package exchanges records the requests that a process is asked over TCP and UNIX sockets and the calls it makes, one line each, as
// the kernel sees them: when a request's first bytes arrived, when the process read them, when its answer left; and of its
// own calls when they were sent, when the answer came and when it was read. It needs no word of the process, whatever
// it is written in, and works for its child processes, too.
//
// Its artifact, exchanges.txt, is read by internal/format/exchanges.
//
// eBPF programs run at the tracepoints sock_send_length and sock_recv_length (Linux 6.3), which see each transfer of
// a socket with its length, at sk_data_ready, at which bytes have arrived, and at tcp_destroy_sock; of UNIX sockets that are given up
// sock_diag is asked. They keep a state for
// each connection and tell an exchange when the next one begins on it. Of the first bytes that are read in a request and
// sent in its answer they keep some, from which the recorder takes the method, the route without identifiers, and the
// status; of a call to a database the verb and the table of the statement, and of how its answer ends whether a transaction is open. Nothing
// else of it is written anywhere.
//
// Of HTTP/2 (RFC 9113) the programs follow the frames (Linux 6.4), whose headers say which stream they are of, and tell those that begin and
// end requests; the recorder reads of the headers (RFC 7541) what names the request and its status. TLS hides all of that.
//
// Of UDP they tell what has the header of a query to a name server or of its answer (RFC 1035), at whatever port, with the question. The recorder
// matches them by number and writes how long each lookup took, its type, what became of it, and the registrable end of the name. Nothing
// tells that a UDP socket is closed: a query without an answer is given up after 10 s.
//
// The package's opinion: on a connection one exchange follows the other, as in HTTP/1 and in what databases speak. Where
// several are on their way at once in another protocol than HTTP/2 (pipelines), a line is what passed between two rests; the format
// says so. Where frames cannot be followed, requests are counted and none is made up.
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
