package spans

import (
	"bytes"
	"math"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
)

// raw is one object of the file as far as it was read: a span, or what holds spans.
type raw struct {
	trace, id, parent uint64
	start, end        int64 // ns
	duration          int64 // ns, where that is told instead of the end
	name              []byte
	kind              kind
	failed, shared    bool
	weight            float64 // requests it stands for, by its sampler; 0: not told
	attr              [numFields][]byte
	halves            [2]half // of Zipkin v1: the client's and the server's
	process           evidence.NameID
	service           int32 // where the object says it itself, else -1

	// Of what holds spans.
	resource  int32
	processes map[evidence.NameID]int32
}

// half is what one side of a call has annotated.
type half struct {
	from, to int64
	service  int32
}

// keepBytes copies what the scanner will overwrite, for as long as the span is read.
func (p *parser) keepBytes(b []byte) []byte {
	from := len(p.arena)
	p.arena = append(p.arena, b...)
	return p.arena[from:len(p.arena):len(p.arena)]
}

// readValue reads any value: wherever spans are in it, they are found.
func (p *parser) readValue(depth int) {
	switch c := p.s.peek(); {
	case depth > maxNesting:
		p.s.skipValue()
	case c == '[':
		p.s.scanArray(func() { p.readValue(depth + 1) })
	case c == '{':
		p.readObject(depth)
	default:
		p.s.skipValue()
	}
}

// maxNesting is how deep spans may lie in a document: the deepest are five objects down, each
// in an array.
const maxNesting = 24

// readObject reads a span, or something that holds spans: OTLP's resource, Jaeger's trace, an
// answer of their APIs. Its members come in any order.
func (p *parser) readObject(depth int) {
	from := len(p.spans)
	if depth == 0 {
		p.arena = p.arena[:0]
	}
	arena := len(p.arena)
	x := raw{service: -1, resource: -1, halves: [2]half{{service: -1}, {service: -1}}}
	line := p.s.line
	p.s.scanObject(func(key []byte) { p.readMember(&x, key, depth) })
	if p.s.err != nil && x.end == 0 && x.duration == 0 {
		x.id = 0 // broke off within it
	}
	if x.resource >= 0 || x.processes != nil {
		for i := from; i < len(p.spans); i++ {
			s := &p.spans[i]
			if s.service >= 0 {
				continue
			}
			s.service = x.resource
			if of, ok := x.processes[s.process]; ok {
				s.service = of
			}
		}
	}
	if x.id != 0 && x.trace != 0 {
		p.addSpan(&x, line)
	}
	p.arena = p.arena[:arena]
}

func (p *parser) readMember(x *raw, key []byte, depth int) {
	s := p.s
	switch string(key) {
	case "resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans", "spans", "data", "result", "traces", "trace":
		p.readValue(depth + 1)
	case "resource":
		x.resource = p.readResource()
	case "process":
		x.service = p.readProcess()
	case "processes":
		if s.peek() != '{' {
			s.skipValue()
			return
		}
		x.processes = make(map[evidence.NameID]int32)
		s.scanObject(func(id []byte) {
			n := p.b.NameBytes(clipName(id))
			if of := p.readProcess(); len(x.processes) < maxServices {
				x.processes[n] = of
			}
		})
	case "traceId", "traceID", "trace_id":
		x.trace = uint64(evidence.KeyOf(s.scanScalar()))
	case "spanId", "spanID", "span_id", "id":
		x.id = uint64(evidence.KeyOf(s.scanScalar()))
	case "parentSpanId", "parent_span_id", "parentId", "parentSpanID":
		x.parent = uint64(evidence.KeyOf(s.scanScalar()))
	case "references":
		p.readReferences(x)
	case "name", "operationName":
		x.name = p.keepBytes(s.scanScalar())
	case "kind":
		x.kind = kinds[string(s.scanScalar())]
	case "startTimeUnixNano", "start_time_unix_nano":
		x.start, _ = s.scanNumber()
	case "endTimeUnixNano", "end_time_unix_nano":
		x.end, _ = s.scanNumber()
	case "timestamp", "startTime":
		x.start = p.readMicros()
	case "duration":
		x.duration = p.readMicros()
	case "attributes", "tags", "binaryAnnotations":
		p.readTags(func(f field, text []byte) { p.setAttribute(x, f, text) })
	case "status":
		p.readStatus(x)
	case "traceState", "trace_state":
		x.weight = weightOf(s.scanScalar())
	case "shared":
		x.shared = string(s.scanScalar()) == "true"
	case "processID":
		x.process = p.b.NameBytes(clipName(s.scanScalar()))
	case "localEndpoint":
		name, _, _ := p.readEndpoint()
		x.service = p.serviceOf(service{name: string(name)})
	case "remoteEndpoint":
		name, host, port := p.readEndpoint()
		p.setAttribute(x, peerService, name)
		p.setAttribute(x, serverAddress, host)
		p.setAttribute(x, serverPort, port)
	case "annotations":
		p.readAnnotations(x)
	default:
		s.skipValue()
	}
}

// readMicros reads a time that is given in µs, in ns.
func (p *parser) readMicros() int64 {
	v, ok := p.s.scanNumber()
	if !ok || v < 0 || v > math.MaxInt64/1000 {
		return -1
	}
	p.coarse = true
	return v * 1000
}

func (p *parser) setAttribute(x *raw, f field, text []byte) {
	switch {
	case f == none || len(text) == 0:
	case f == spanKind:
		x.kind = kinds[string(text)]
	case f == isError:
		x.failed = x.failed || string(text) != "false" && string(text) != "OK" && string(text) != "UNSET"
	case x.attr[f] == nil:
		x.attr[f] = p.keepBytes(text)
	}
}

// readTags reads attributes: OTLP's and Jaeger's lists of key and value, Zipkin's object.
func (p *parser) readTags(f func(of field, text []byte)) {
	s := p.s
	switch s.peek() {
	case '{':
		s.scanObject(func(key []byte) {
			of := attributes[string(key)]
			f(of, s.scanScalar())
		})
	case '[':
		s.scanArray(func() {
			if s.peek() != '{' {
				s.skipValue()
				return
			}
			of, named := none, false
			var text []byte
			s.scanObject(func(key []byte) {
				switch {
				case string(key) == "key":
					of, named = attributes[string(s.scanScalar())], true
				case string(key) == "value" && (of != none || !named): // the key may follow
					text = p.keepBytes(p.readTagValue())
				default:
					s.skipValue()
				}
			})
			f(of, text)
		})
	default:
		s.skipValue()
	}
}

// readTagValue reads a scalar, or OTLP's {"stringValue": …}, {"intValue": "3"}.
func (p *parser) readTagValue() (text []byte) {
	if p.s.peek() != '{' {
		return p.s.scanScalar()
	}
	p.s.scanObject(func([]byte) {
		if v := p.s.scanScalar(); v != nil {
			text = p.keepBytes(v)
		}
	})
	return text
}

func (p *parser) readStatus(x *raw) {
	if p.s.peek() != '{' {
		p.s.skipValue()
		return
	}
	p.s.scanObject(func(key []byte) {
		if string(key) != "code" {
			p.s.skipValue()
			return
		}
		code := string(p.s.scanScalar())
		x.failed = x.failed || code == "2" || code == "STATUS_CODE_ERROR"
	})
}

// readReferences finds the parent; one that a span only follows from is better than none.
func (p *parser) readReferences(x *raw) {
	if p.s.peek() != '[' {
		p.s.skipValue()
		return
	}
	p.s.scanArray(func() {
		if p.s.peek() != '{' {
			p.s.skipValue()
			return
		}
		var id uint64
		child := false
		p.s.scanObject(func(key []byte) {
			switch string(key) {
			case "spanID", "spanId":
				id = uint64(evidence.KeyOf(p.s.scanScalar()))
			case "refType":
				child = string(p.s.scanScalar()) == "CHILD_OF"
			default:
				p.s.skipValue()
			}
		})
		if child || x.parent == 0 {
			x.parent = id
		}
	})
}

func (p *parser) readEndpoint() (name, host, port []byte) {
	if p.s.peek() != '{' {
		p.s.skipValue()
		return nil, nil, nil
	}
	p.s.scanObject(func(key []byte) {
		switch string(key) {
		case "serviceName":
			name = p.keepBytes(p.s.scanScalar())
		case "ipv4", "ipv6":
			host = p.keepBytes(p.s.scanScalar())
		case "port":
			if v, ok := p.s.scanNumber(); ok && v > 0 {
				port = p.keepBytes(strconv.AppendInt(nil, v, 10))
			}
		default:
			p.s.skipValue()
		}
	})
	return name, host, port
}

// readAnnotations reads annotations, which are moments. Of Zipkin v1 four of them are the span:
// client send and receive, server receive and send.
func (p *parser) readAnnotations(x *raw) {
	if p.s.peek() != '[' {
		p.s.skipValue()
		return
	}
	p.s.scanArray(func() {
		if p.s.peek() != '{' {
			p.s.skipValue()
			return
		}
		var at int64
		var value, name []byte
		p.s.scanObject(func(key []byte) {
			switch string(key) {
			case "timestamp":
				at = p.readMicros()
			case "value":
				value = p.keepBytes(p.s.scanScalar())
			case "endpoint":
				name, _, _ = p.readEndpoint()
			default:
				p.s.skipValue()
			}
		})
		h, begins := &x.halves[0], false
		switch string(value) {
		case "cs":
			begins = true
		case "cr":
		case "sr":
			h, begins = &x.halves[1], true
		case "ss":
			h = &x.halves[1]
		default:
			return
		}
		if begins {
			h.from = at
		} else {
			h.to = at
		}
		if h.service < 0 && len(name) > 0 {
			h.service = p.serviceOf(service{name: string(name)})
		}
	})
}

// readResource reads the service whose spans follow or went before.
func (p *parser) readResource() int32 {
	if p.s.peek() != '{' {
		p.s.skipValue()
		return -1
	}
	var x service
	p.s.scanObject(func(key []byte) {
		if string(key) != "attributes" {
			p.s.skipValue()
			return
		}
		p.readTags(x.setAttribute)
	})
	return p.serviceOf(x)
}

// readProcess reads Jaeger's form of a resource.
func (p *parser) readProcess() int32 {
	if p.s.peek() != '{' {
		p.s.skipValue()
		return -1
	}
	var x service
	p.s.scanObject(func(key []byte) {
		switch string(key) {
		case "serviceName":
			x.name = string(p.s.scanScalar())
		case "tags":
			p.readTags(x.setAttribute)
		default:
			p.s.skipValue()
		}
	})
	return p.serviceOf(x)
}

// weightOf is how many requests one stands for by its tracestate, 0 if that does not
// tell: ot=th:T, where T/2⁵⁶ of all were rejected (opentelemetry.io/docs/specs/otel/trace/
// tracestate-probability-sampling), earlier ot=p:N for one in 2ᴺ.
func weightOf(state []byte) float64 {
	for _, vendor := range bytes.Split(state, []byte(",")) {
		own, ok := bytes.CutPrefix(bytes.TrimSpace(vendor), []byte("ot="))
		if !ok {
			continue
		}
		for _, pair := range bytes.Split(own, []byte(";")) {
			if t, ok := bytes.CutPrefix(pair, []byte("th:")); ok && len(t) > 0 && len(t) <= 14 {
				v, err := strconv.ParseUint(string(t), 16, 64)
				if rejected := float64(v) / math.Pow(16, float64(len(t))); err == nil && rejected < 1 {
					return 1 / (1 - rejected)
				}
			}
			if n, ok := bytes.CutPrefix(pair, []byte("p:")); ok {
				if v, err := strconv.ParseUint(string(n), 10, 8); err == nil && v < 63 {
					return math.Pow(2, float64(v))
				}
			}
		}
	}
	return 0
}
