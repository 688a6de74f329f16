package spans

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// span is what is kept of one.
type span struct {
	trace, id, parent uint64
	start, end        int64 // ns
	line              int64
	service           int32           // −1 unknown
	process           evidence.NameID // Jaeger's name of the service within the trace, until that is known
	name              evidence.NameID // of a request its route
	peer              evidence.NameID // whom it calls, 0 not told
	operation         evidence.NameID // what for
	kind              kind
	outcome           evidence.Outcome
	shared            bool // the server's half of a Zipkin span
	pool              bool // the taking of a connection from a pool
}

// addSpan adds an object that turned out to be a span.
func (p *parser) addSpan(x *raw, line int64) {
	if x.halves[0] != (half{service: -1}) || x.halves[1] != (half{service: -1}) {
		p.addHalves(x, line)
		return
	}
	if x.end == 0 && x.duration >= 0 {
		x.end = x.start + x.duration
	}
	p.keepSpan(x, line)
}

// addHalves adds the halves of a span of Zipkin v1.
func (p *parser) addHalves(x *raw, line int64) {
	start, end := x.start, x.start+max(0, x.duration)
	for i, h := range x.halves {
		if h.from == 0 {
			continue
		}
		y := *x
		y.kind, y.shared, y.start, y.end = client, false, h.from, h.to
		if i == 1 {
			y.kind, y.shared = server, x.halves[0].from != 0 || start == 0
		}
		if h.to == 0 && start != 0 {
			y.end = end
		}
		if h.service >= 0 {
			y.service = h.service
		}
		p.keepSpan(&y, line)
	}
}

// latest is a time (ns) after that of any span: some day in 2262.
const latest = int64(9.2e18)

func (p *parser) keepSpan(x *raw, line int64) {
	switch {
	case x.start <= 0 || x.end < x.start || x.end > latest:
		p.countStrange(line)
		return
	case len(p.spans) == maxSpans:
		p.dropped++
		return
	}
	s := span{trace: x.trace, id: x.id, parent: x.parent, start: x.start, end: x.end, line: line, service: x.service, process: x.process,
		kind: x.kind, shared: x.shared, outcome: x.outcome()}
	if s.kind == unspecified && (x.attr[dbSystem] != nil || x.attr[peerService] != nil) {
		s.kind = client // before OpenTracing had span.kind
	}
	switch {
	case s.kind.isCall():
		s.peer, s.operation = p.internName(x.peerName()), p.internName(x.callOperation())
	case s.kind.isServing() || s.parent == 0:
		s.name = p.internName(x.routeName())
		p.noteSampler(x)
	default:
		s.name = p.internName(x.name)
	}
	s.pool = takesConnection(x.name)
	p.spans = append(p.spans, s)
}

func (x *raw) outcome() evidence.Outcome {
	status := string(x.attr[httpStatus])
	switch {
	case status == "504" || status == "499" || status == "408":
		return evidence.TimedOut
	case x.failed || len(status) == 3 && status[0] == '5':
		return evidence.Failed
	}
	return evidence.OK
}

// noteSampler records how many requests the kept one stands for.
func (p *parser) noteSampler(x *raw) {
	w := x.weight
	if w == 0 {
		kind := string(x.attr[samplerType])
		share, err := strconv.ParseFloat(string(x.attr[samplerParam]), 64)
		switch {
		case kind == "probabilistic" && err == nil && share > 0 && share <= 1:
			w = 1 / share
		case kind == "probabilistic", kind == "ratelimiting", kind == "lowerbound":
			p.sampled = true
		}
	}
	if w > 0 {
		p.weights += w
		p.weighed++
	}
}

// routeName returns the common name of requests of one kind: the server's own template, else the
// name if it is more than the method, else the path without its identifiers.
func (x *raw) routeName() []byte {
	method, path := x.attr[httpMethod], x.attr[httpRoute]
	if path == nil {
		words := bytes.Fields(x.name)
		bare := len(words) == 1 && (bytes.Equal(words[0], method) || bytes.EqualFold(words[0], []byte("http "))) || len(words) == 0
		target := x.attr[httpTarget]
		if target == nil {
			target = x.attr[httpURL]
		}
		switch {
		case bare && target != nil:
			path = format.AppendRoute(nil, target)
		case len(words) == 2 && words[1][0] == '/':
			return format.AppendRoute(append(append([]byte(nil), words[0]...), ' '), words[1])
		case len(words) == 1 && words[0][0] == '/':
			path = format.AppendRoute(nil, words[0])
		default:
			return x.name
		}
	}
	if len(method) == 0 {
		return path
	}
	return append(append(append([]byte(nil), method...), ' '), path...)
}

// peerName names what a span calls: as its service is called, else by what it is and where.
func (x *raw) peerName() []byte {
	a := &x.attr
	where := a[serverAddress]
	if where != nil && a[serverPort] != nil {
		where = append(append(append([]byte(nil), where...), ':'), a[serverPort]...)
	}
	switch {
	case a[dbSystem] != nil:
		name := a[dbName]
		if name == nil {
			name = a[peerService]
		}
		if name == nil {
			name = where
		}
		return joinSpaced(a[dbSystem], name)
	case a[messagingSystem] != nil:
		return joinSpaced(a[messagingSystem], a[messagingTarget])
	case a[peerService] != nil:
		return a[peerService]
	case a[rpcSystem] != nil && where == nil:
		return joinSpaced(a[rpcSystem], a[rpcService])
	case where != nil:
		return where
	case a[httpURL] != nil:
		return hostOf(a[httpURL])
	}
	return nil
}

// callOperation returns what a call asks for, without its values.
func (x *raw) callOperation() []byte {
	a := &x.attr
	switch {
	case a[dbOperation] != nil:
		return joinSpaced(a[dbOperation], a[dbTable])
	case a[dbStatement] != nil:
		return summarizeStatement(a[dbStatement])
	case a[rpcMethod] != nil:
		return a[rpcMethod]
	}
	return x.name
}

func joinSpaced(a, b []byte) []byte {
	if len(b) == 0 {
		return a
	}
	return append(append(append([]byte(nil), a...), ' '), b...)
}

// hostOf returns the host and port of a URL, without a user.
func hostOf(url []byte) []byte {
	if _, rest, ok := bytes.Cut(url, []byte("://")); ok {
		url = rest
	}
	if i := bytes.IndexAny(url, "/?#"); i >= 0 {
		url = url[:i]
	}
	if i := bytes.LastIndexByte(url, '@'); i >= 0 {
		url = url[i+1:]
	}
	return url
}

// summarizeStatement returns the verb and the table of a statement of SQL, the first word of any
// other.
func summarizeStatement(text []byte) []byte {
	var verb, table []byte
	after := false
	for n, word := range bytes.Fields(text[:min(len(text), 512)]) {
		upper := strings.ToUpper(string(word[:min(len(word), 16)]))
		switch {
		case n == 0:
			verb = []byte(strings.Trim(upper, "(;"))
			after = upper == "UPDATE"
		case after:
			if i := bytes.IndexByte(word, '('); i > 0 { // INTO orders(id, …)
				word = word[:i]
			}
			for _, c := range word {
				if !bytes.ContainsRune([]byte("`\"'();,[]"), rune(c)) {
					table = append(table, c)
				}
			}
			return joinSpaced(verb, table)
		default:
			after = upper == "FROM" || upper == "INTO"
		}
	}
	return verb
}

// acquisitions are how libraries call the taking of a connection from a pool: OpenTelemetry's
// instrumentation of javax.sql.DataSource ("HikariDataSource.getConnection"), and what
// people name spans of their own.
var acquisitions = []string{"getconnection", "get connection", "get_connection", "acquireconnection", "acquire connection", "connection.acquire", "connection acquire",
	"pool.acquire", "pool acquire", "pool.wait", "pool wait", "pool.borrow", "borrowobject", "pool.get", "pool-acquire", "connection-acquire"}

func takesConnection(name []byte) bool {
	if len(name) == 0 || len(name) > 120 {
		return false
	}
	lower := strings.ToLower(string(name))
	for _, a := range acquisitions {
		if strings.Contains(lower, a) {
			return true
		}
	}
	return false
}
