package otlp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// number is one that JSON of protobuf has as a string, and senders as a number.
type number string

func (n *number) UnmarshalJSON(b []byte) error {
	*n = number(strings.Trim(string(b), `"`))
	return nil
}

// kindOf is a number or the name of an enumeration's value.
func kindOf(n number, names map[string]int64) int64 {
	if k, ok := names[string(n)]; ok {
		return k
	}
	k, _ := strconv.ParseInt(string(n), 10, 64)
	return k
}

var kinds = map[string]int64{"SPAN_KIND_INTERNAL": 1, "SPAN_KIND_SERVER": 2, "SPAN_KIND_CLIENT": 3, "SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5}
var statuses = map[string]int64{"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}

type given struct {
	Key   string
	Value struct {
		StringValue *string
		BoolValue   *bool
		IntValue    *number
		DoubleValue json.RawMessage // may be "NaN"
	}
}

func parseJSON(b []byte) ([]batch, error) {
	var q struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []given }
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID      string
					TraceState, Name                   string
					Kind                               number
					StartTimeUnixNano, EndTimeUnixNano number
					Attributes                         []given
					Status                             struct{ Code number }
				}
			}
		}
	}
	if err := json.Unmarshal(b, &q); err != nil {
		return nil, fmt.Errorf("it is no ExportTraceServiceRequest: %w", err)
	}
	if q.ResourceSpans == nil {
		return nil, fmt.Errorf("it is no ExportTraceServiceRequest: it has no resourceSpans")
	}
	var all []batch
	for _, r := range q.ResourceSpans {
		x := batch{resource: convertAttributes(r.Resource.Attributes)}
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				y := span{state: s.TraceState, name: s.Name, kind: kindOf(s.Kind, kinds), status: kindOf(s.Status.Code, statuses), attributes: convertAttributes(s.Attributes)}
				y.trace, _ = hex.DecodeString(s.TraceID) // what is none is not whole
				y.id, _ = hex.DecodeString(s.SpanID)
				y.parent, _ = hex.DecodeString(s.ParentSpanID)
				y.start, _ = strconv.ParseUint(string(s.StartTimeUnixNano), 10, 64)
				y.end, _ = strconv.ParseUint(string(s.EndTimeUnixNano), 10, 64)
				x.spans = append(x.spans, y)
			}
		}
		all = append(all, x)
	}
	return all, nil
}

func convertAttributes(all []given) (out []attribute) {
	for _, g := range all {
		a := attribute{key: g.Key}
		switch v := g.Value; {
		case v.StringValue != nil:
			a.value.String = v.StringValue
		case v.BoolValue != nil:
			a.value.Bool = v.BoolValue
		case v.IntValue != nil:
			if n, err := strconv.ParseInt(string(*v.IntValue), 10, 64); err == nil {
				text := strconv.FormatInt(n, 10)
				a.value.Int = &text
			}
		case v.DoubleValue != nil:
			var f float64
			if json.Unmarshal(v.DoubleValue, &f) == nil {
				a.value.Double = &f
			}
		}
		out = append(out, a)
	}
	return out
}

func answerJSON(rejected int64) []byte {
	if rejected == 0 {
		return []byte("{}")
	}
	return fmt.Appendf(nil, `{"partialSuccess":{"rejectedSpans":"%d","errorMessage":%q}}`, rejected, why)
}
