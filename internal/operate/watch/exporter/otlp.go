package exporter

import (
	"context"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/), as protobuf. Metrics have the same names as in all
// stores, so that the same rules hold.

// OTLP returns a store that takes OTLP, such as a collector. The address is the one for metrics:
// http://127.0.0.1:4318/v1/metrics.
func OTLP(address, token string) (Store, error) {
	where, auth, err := parseEndpoint(address)
	if err != nil {
		return Store{}, err
	}
	auth.Token = token
	c, began := newHTTPClient(), time.Now()
	header := map[string]string{"Content-Type": "application/x-protobuf", "User-Agent": "unstall"}
	return Store{Name: "OTLP", Where: where, Encode: func(s State) ([]byte, int) { return encodeOTLP(s, began) }, Send: func(ctx context.Context, body []byte) error {
		return postPayload(ctx, c, where, auth, header, body)
	}}, nil
}

// Fields of messages of opentelemetry.proto.metrics.v1
// (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto).
const (
	requestResources   = 1 // ExportMetricsServiceRequest
	resourceOf         = 1 // ResourceMetrics
	resourceScopes     = 2
	resourceAttributes = 1 // Resource
	scopeOf            = 1 // ScopeMetrics
	scopeMetrics       = 2
	scopeName          = 1 // InstrumentationScope
	metricName         = 1 // Metric
	metricDescription  = 2
	metricGauge        = 5
	metricSum          = 7
	gaugePoints        = 1 // Gauge, Sum
	sumTemporality     = 2
	sumMonotonic       = 3
	pointStart         = 2 // NumberDataPoint
	pointTime          = 3
	pointDouble        = 4
	pointAttributes    = 7
	keyKey             = 1 // KeyValue
	keyValue           = 2
	anyString          = 1 // AnyValue
	cumulative         = 2 // AggregationTemporality
)

func encodeOTLP(s State, began time.Time) ([]byte, int) {
	if len(s.Samples) == 0 {
		return nil, 0
	}
	message := func(out []byte, field protowire.Number, of []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(out, field, protowire.BytesType), of)
	}
	text := func(out []byte, field protowire.Number, of string) []byte {
		return protowire.AppendString(protowire.AppendTag(out, field, protowire.BytesType), of)
	}
	attribute := func(name, value string) []byte {
		return message(text(nil, keyKey, name), keyValue, text(nil, anyString, value))
	}
	var scope []byte
	scope = message(scope, scopeOf, text(nil, scopeName, "unstall"))
	for i := 0; i < len(s.Samples); {
		first := &s.Samples[i]
		var points []byte
		for ; i < len(s.Samples) && s.Samples[i].Full() == first.Full(); i++ {
			x := &s.Samples[i]
			at := x.At
			if at.IsZero() {
				at = s.At
			}
			var p []byte
			if first.Kind == Counter {
				p = protowire.AppendFixed64(protowire.AppendTag(p, pointStart, protowire.Fixed64Type), uint64(began.UnixNano()))
			}
			p = protowire.AppendFixed64(protowire.AppendTag(p, pointTime, protowire.Fixed64Type), uint64(at.UnixNano()))
			p = protowire.AppendFixed64(protowire.AppendTag(p, pointDouble, protowire.Fixed64Type), math.Float64bits(x.Value))
			for _, l := range x.Labels {
				p = message(p, pointAttributes, attribute(l.Name, l.Value))
			}
			points = message(points, gaugePoints, p)
		}
		m := text(text(nil, metricName, first.Full()), metricDescription, first.Help)
		if first.Kind == Counter {
			points = protowire.AppendVarint(protowire.AppendTag(points, sumTemporality, protowire.VarintType), cumulative)
			points = protowire.AppendVarint(protowire.AppendTag(points, sumMonotonic, protowire.VarintType), 1)
			m = message(m, metricSum, points)
		} else {
			m = message(m, metricGauge, points)
		}
		scope = message(scope, scopeMetrics, m)
	}
	resource := message(nil, resourceOf, message(nil, resourceAttributes, attribute("service.name", "unstall")))
	return message(nil, requestResources, message(resource, resourceScopes, scope)), len(s.Samples)
}
