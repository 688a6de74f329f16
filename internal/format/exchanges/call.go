package exchanges

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// parseCall reads the peer of a call and what it asked for, and adds the call. It returns false
// for text that is not understood.
func (p *parser) parseCall(x *exchange, peer, kind, text []byte) bool {
	switch string(kind) {
	case "h2": // bytes between two idle moments are no call
		p.multiplexed++
		return true
	case "http2", "grpc":
		x.multiplexed = true
	case "resp":
		x.shared = x.sends > 1
	case "dns":
		x.lookup, x.multiplexed = true, true // several are in progress on one socket
	}
	x.what, x.known = p.namePeer(peer, kind), string(kind) != "-"
	x.failed = x.first == 0 && !p.open // its connection was closed
	if !p.parseOutcome(x, kind, text) {
		return false
	}
	p.calls = append(p.calls, *x)
	return true
}

// longestOperation bounds the text of what a call asks for.
const longestOperation = format.MaxRoute + 64

// parseOutcome reads what a call asked for and how it ended. Older recordings do not contain
// it.
func (p *parser) parseOutcome(x *exchange, kind, text []byte) bool {
	if len(text) == 0 {
		return true
	}
	result, what, _ := bytes.Cut(text, []byte(" "))
	if len(what) > longestOperation {
		return false
	}
	if x.lookup {
		return p.lookedUp(x, result, what)
	}
	if string(kind) == "grpc" {
		code, digits := format.ParseDigits(result)
		if !digits && string(result) != "-" {
			return false
		}
		x.http, x.failed = true, x.failed || code > 0
		if len(what) > 0 && !isUnnamed(what) {
			x.operation = p.internName(p.routes, what, mostRoutes)
		}
		return true
	}
	switch string(result) {
	case "-":
	case "idle":
		x.transaction = transactionNone
	case "open":
		x.transaction = transactionOpen
	case "failed":
		x.failed = true
	default:
		code, digits := format.ParseDigits(result)
		if !digits || string(kind) != "http" && string(kind) != "http2" || code > 999 {
			return false
		}
		x.http, x.status = true, int16(code)
		x.failed = x.failed || code >= 500 || code == tooMany
	}
	at := ownEnd{x.what, x.port}
	before := p.prepared[at]
	delete(p.prepared, at)
	if rest, is := bytes.CutPrefix(what, []byte("PREPARE ")); is {
		if len(p.prepared) < mostRoutes {
			p.prepared[at] = string(rest)
		}
	} else if before != "" && (string(what) == "EXECUTE" || strings.HasPrefix(before, string(what)+" ")) {
		what = []byte(before) // what runs is what was prepared right before
	}
	if len(what) > 0 && !(x.multiplexed && isUnnamed(what)) {
		x.operation = p.internName(p.routes, what, mostRoutes)
	}
	return true
}

// lookedUp reads the result of a query to a name server, which asked for a type of record and mostly for names of a zone.
func (p *parser) lookedUp(x *exchange, result, what []byte) bool {
	switch string(result) {
	case "-", "ok", "truncated":
	case "nxdomain":
		x.unknownName = true
	case "servfail", "refused", "failed":
		x.failed = true
	case "tcp": // like other calls
		x.multiplexed, x.sends = false, 1
	default:
		return false
	}
	if len(what) > 0 {
		x.operation = p.internName(p.routes, what, mostRoutes)
	}
	return true
}

// isUnnamed says whether a route over HTTP/2 has a number instead of a name.
func isUnnamed(route []byte) bool { return bytes.Contains(route, []byte(" ~")) }

// ownEnd is the process's end of a connection to another process.
type ownEnd struct {
	to   evidence.NameID
	port int64
}

const tooMany = 429 // requests, says a server of HTTP that is asked too often

// products are the products that speak the protocols that the recorder knows.
var products = map[string]string{"postgresql": "PostgreSQL at ", "mysql": "MySQL/MariaDB at ", "resp": "Redis at ", "mongodb": "MongoDB at ", "grpc": "gRPC at "}

// namePeer names the peer of a call: by its product, or by the process that listens at a UNIX
// socket whose protocol is unknown.
func (p *parser) namePeer(address, kind []byte) evidence.NameID {
	if string(kind) == "dns" {
		return p.nameServer(address)
	}
	title := products[string(kind)]
	if who := p.ends[string(address)]; title == "" && who != "" && string(kind) == "-" {
		title = who + " at "
	}
	id := p.internName(p.peers, append([]byte(title), address...), mostPeers)
	if products[string(kind)] != "" && id != 0 {
		p.spoken[id] = string(address)
	}
	return id
}

// unifyPeers gives all calls to one address the product that most of them show: one listens at an address, a short piece of one protocol
// may look like another's, and calls of which too little was seen show none. Of calls without a product those over HTTP count. The first calls of connections show
// none, and pools are found by that: they get it afterwards, withPlain.
func (p *parser) unifyPeers(withPlain bool) {
	byAddress := make(map[string][]evidence.NameID)
	for id, address := range p.spoken {
		byAddress[address] = append(byAddress[address], id)
	}
	plain := make(map[evidence.NameID]bool)
	to := make(map[evidence.NameID]evidence.NameID)
	for address, names := range byAddress {
		if id, known := p.peers[address]; withPlain && known && id != 0 {
			names, plain[id] = append(names, id), true
			byAddress[address] = names
		}
		if len(names) < 2 {
			delete(byAddress, address)
			continue
		}
		for _, id := range names {
			to[id] = id
		}
	}
	if len(to) == 0 {
		return
	}
	count := make(map[evidence.NameID]int)
	for i := range p.calls {
		if x := &p.calls[i]; !plain[x.what] || x.http {
			count[x.what]++
		}
	}
	for _, names := range byAddress {
		slices.SortFunc(names, func(a, b evidence.NameID) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(p.b.Text(a), p.b.Text(b)))
		})
		for _, id := range names {
			to[id] = names[0]
		}
	}
	for i := range p.calls {
		if id, one := to[p.calls[i].what]; one {
			p.calls[i].what = id
		}
	}
}

func (p *parser) nameServer(address []byte) evidence.NameID {
	key := "dns " + string(address)
	id, known := p.peers[key]
	if !known && len(p.peers) < mostPeers {
		id = p.b.Wait(evidence.NameServer, string(address))
		p.peers[key] = id
	}
	return id
}
