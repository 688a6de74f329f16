package jfr

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// otelSpan emits a request for a span of OpenTelemetry without a parent, as its extension for flight recordings
// writes it. The thread is the one that ended the span, and may not be the
// one that worked on it.
// https://github.com/open-telemetry/opentelemetry-java-contrib/tree/main/jfr-events
func (p *parser) otelSpan(e *recording.Record) {
	if strings.Trim(e.Text("parentId"), "0") != "" || e.Duration() == 0 {
		return
	}
	p.spans = true
	from := e.Start()
	p.b.Request(evidence.Request{Subject: p.subject, Route: p.b.Name(spanRoute(e.Text("operationName"))), Start: from, End: from + e.Duration(), Origin: p.b.Origin(p.number)})
}

// spanRoute returns a span's name without the parts that differ from request to request.
func spanRoute(name string) string {
	method, path, ok := strings.Cut(strings.ToValidUTF8(name, "?"), " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return strings.ToValidUTF8(name, "?")
	}
	return method + " " + string(format.AppendRoute(nil, []byte(path)))
}
