package otlp

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// batch is what one resource sent.
type batch struct {
	resource []attribute
	spans    []span
}

// attribute has a value that is no list and no map.
type attribute struct {
	key   string
	value value
}

// span is what is kept of opentelemetry.proto.trace.v1.Span.
type span struct {
	trace, id, parent []byte
	state, name       string
	kind, status      int64
	start, end        uint64 // ns since the epoch
	attributes        []attribute
}

// Bounds of what a span may hold.
const (
	maxAttributes = 64
	maxText       = 1 << 10 // bytes
)

func (s *span) isComplete() bool {
	return len(s.trace) == 16 && len(s.id) == 8 && (len(s.parent) == 0 || len(s.parent) == 8) && s.start > 0 && s.end >= s.start
}

// The names of OTLP's JSON form.
type (
	request struct {
		Resources []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource resource     `json:"resource"`
		Scopes   []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	scopeSpans struct {
		Spans []spanJSON `json:"spans"`
	}
	spanJSON struct {
		Trace      string     `json:"traceId"`
		ID         string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		State      string     `json:"traceState,omitempty"`
		Name       string     `json:"name"`
		Kind       int64      `json:"kind,omitempty"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *statusOf  `json:"status,omitempty"`
	}
	statusOf struct {
		Code int64 `json:"code"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string  `json:"stringValue,omitempty"`
		Bool   *bool    `json:"boolValue,omitempty"`
		Int    *string  `json:"intValue,omitempty"`
		Double *float64 `json:"doubleValue,omitempty"`
	}
)

// toRequest returns a batch in OTLP's JSON form, with at most so many spans, and how many it has.
func (b *batch) toRequest(keep func(string) bool, most int64) (q request, n int64) {
	var all []spanJSON
	for i := range b.spans {
		s := &b.spans[i]
		if !s.isComplete() || n >= most {
			continue
		}
		x := spanJSON{Trace: hex.EncodeToString(s.trace), ID: hex.EncodeToString(s.id), Parent: hex.EncodeToString(s.parent), State: clipText(s.state), Name: clipText(s.name), Kind: s.kind,
			Start: strconv.FormatUint(s.start, 10), End: strconv.FormatUint(s.end, 10), Attributes: filterAttributes(s.attributes, keep)}
		if s.status != 0 {
			x.Status = &statusOf{s.status}
		}
		all = append(all, x)
		n++
	}
	return request{[]resourceSpans{{resource{filterAttributes(b.resource, keep)}, []scopeSpans{{all}}}}}, n
}

func filterAttributes(all []attribute, keep func(string) bool) (out []keyValue) {
	for _, a := range all {
		if a.value == (value{}) || !keep(a.key) || len(out) == maxAttributes {
			continue
		}
		if a.value.String != nil {
			text := clipText(*a.value.String)
			a.value.String = &text
		}
		out = append(out, keyValue{a.key, a.value})
	}
	return out
}

func clipText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "?")
}
