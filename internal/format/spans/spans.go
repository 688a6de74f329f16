// Package spans reads distributed traces, stored as JSON, and makes requests from them that
// show the time spent in calls.
//
//	OTLP     a collector's file exporter (one ExportTraceServiceRequest a line), or one
//	         document; the answers of Tempo's and Jaeger's v3 APIs; ids hexadecimal or base64
//	         https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
//	Zipkin   v2 arrays, lists of traces, lines; v1 with its annotations cs cr sr ss
//	         https://zipkin.io/zipkin-api/zipkin2-api.yaml
//	Jaeger   what the UI and /api/traces give; the span documents of its Elasticsearch store
//	         https://github.com/jaegertracing/jaeger-ui/blob/main/packages/jaeger-ui/src/types/trace.tsx
//
// A request of a service is a SERVER or CONSUMER span without another span of the service
// around it; in a service without such spans, a span without a parent. The time of CLIENT and PRODUCER
// spans beneath it is time in calls: parallel ones count once, and the
// request waits for the one that ends last. Spans with the name of taking a connection
// from a pool are waits for the pool, except the calls within. The rest is local time.
// No span shows whether the process ran then, or waited for a CPU, a lock or GC,
// so local time stays unobserved, and pauses are laid over it.
//
// The package's opinion: the order of spans and of members means nothing; a call whose parent
// is not in the file belongs to no request, and is counted; and a sampler's
// omissions must be reported, as rates are then of the sample.
package spans

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a file of spans.
var Format = format.Format{
	Name:  "spans",
	About: "distributed traces as JSON: OpenTelemetry (OTLP), Zipkin, Jaeger",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

// matchHead recognises a document by members that no other format has together.
func matchHead(head []byte) format.Confidence {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return format.No
	}
	text = text[:min(len(text), 64<<10)]
	has := func(names ...string) bool {
		for _, n := range names {
			if i := bytes.Index(text, []byte(`"`+n+`"`)); i < 0 || !bytes.HasPrefix(bytes.TrimLeft(text[i+len(n)+2:], " \t\r\n"), []byte(":")) {
				return false
			}
		}
		return true
	}
	switch {
	case has("resourceSpans"), has("resource_spans"), has("scopeSpans"), has("instrumentationLibrarySpans"),
		has("traceId", "id", "localEndpoint"), has("traceId", "id", "annotations"),
		has("traceId", "id", "timestamp", "duration"),
		has("traceID", "spanID", "operationName"):
		return format.Sure
	}
	return format.No
}

// Bounds of what is kept.
const (
	maxSpans    = 2 << 20
	maxServices = 1000
	maxNames    = 20_000
	maxName     = 200 // bytes
)

// parser reads one file.
type parser struct {
	b     *evidence.Builder
	s     *scanner
	arena []byte
	spans []span

	services []service
	of       map[service]int32

	names   map[string]evidence.NameID
	coarse  bool // times are in µs
	strange int64
	first   int64 // line of the first strange one
	dropped int64
	weights float64 // requests that those stand for whose sampler tells
	weighed int64
	sampled bool // some were left out, and it is not told how many
}

// service is the service that recorded spans.
type service struct {
	name, runtime, instance string
}

func (x *service) setAttribute(f field, text []byte) {
	switch f {
	case serviceName:
		x.name = string(clipName(text))
	case language:
		x.runtime = runtimes[string(text)]
	case instance:
		if x.instance == "" {
			x.instance = string(clipName(text))
		}
	}
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	p := &parser{b: b, of: make(map[service]int32), names: make(map[string]evidence.NameID)}
	b.SeenFrom(evidence.FromSpans)
	p.s = newScanner(&watched{ctx: ctx, r: r})
	p.s.skipMark()
	for c := p.s.peek(); c != 0; c = p.s.peek() {
		if c == '{' || c == '[' {
			p.readValue(0)
		} else {
			p.s.setError(errSyntax)
		}
		if p.s.err == errSyntax {
			p.countStrange(p.s.line)
			p.s.resyncAtLine()
		}
	}
	switch err := p.s.err; {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(p.spans) == 0 && err != nil:
		return fmt.Errorf("no span could be read: %w", err)
	case len(p.spans) == 0 && p.strange > 0:
		return fmt.Errorf("none of its %d spans has an id, a trace id and a time; the first is at line %d", p.strange, p.first)
	case len(p.spans) == 0:
		return errors.New("holds no spans: export the traces of the slow period")
	case err != nil:
		b.Warnf(p.s.line, "the file is incomplete")
		b.Cut()
	}
	if p.coarse {
		b.Clock().Resolution = 1000
	}
	b.Clock().Stamp = evidence.StampStart
	p.emitRequests()
	return nil
}

// watched stops reading when the context ends.
type watched struct {
	ctx context.Context
	r   io.Reader
}

func (w *watched) Read(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(b)
}

func (p *parser) countStrange(line int64) {
	if p.strange++; p.strange == 1 {
		p.first = line
	}
}

// serviceOf numbers a service, −1 without a name.
func (p *parser) serviceOf(x service) int32 {
	if x.name == "" {
		return -1
	}
	n, ok := p.of[x]
	if !ok {
		if len(p.services) == maxServices {
			return -1
		}
		n = int32(len(p.services))
		p.of[x] = n
		p.services = append(p.services, x)
	}
	return n
}

// internName names something of which a file may hold many.
func (p *parser) internName(s []byte) evidence.NameID {
	if id, ok := p.names[string(s)]; ok {
		return id
	}
	s = clipName(s)
	if id, ok := p.names[string(s)]; ok {
		return id
	}
	if len(p.names) == maxNames {
		return p.b.Name("(other)")
	}
	id := p.b.NameBytes(s)
	p.names[string(s)] = id
	return id
}

func clipName(s []byte) []byte {
	if len(s) > maxName {
		s = s[:maxName]
	}
	if utf8.Valid(s) {
		return s
	}
	return bytes.ToValidUTF8(s, []byte("?"))
}
