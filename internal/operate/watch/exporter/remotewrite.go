package exporter

import (
	"context"
	"math"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"
)

// Remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/): a WriteRequest in snappy's
// block format.

// RemoteWrite returns a store that takes remote write: Prometheus, VictoriaMetrics, Mimir, Thanos.
func RemoteWrite(address, token string) (Store, error) {
	where, auth, err := parseEndpoint(address)
	if err != nil {
		return Store{}, err
	}
	auth.Token = token
	c := newHTTPClient()
	header := map[string]string{"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf", "User-Agent": "unstall", "X-Prometheus-Remote-Write-Version": "0.1.0"}
	return Store{Name: "remote write", Where: where, Encode: encodeWrite, Send: func(ctx context.Context, body []byte) error {
		return postPayload(ctx, c, where, auth, header, body)
	}}, nil
}

// Fields of prometheus.WriteRequest, TimeSeries, Label and Sample
// (https://github.com/prometheus/prometheus/blob/main/prompb/types.proto).
const (
	writeSeries   = 1
	seriesLabels  = 1
	seriesSamples = 2
	labelName     = 1
	labelValue    = 2
	sampleValue   = 1
	sampleTime    = 2 // ms
)

func encodeWrite(s State) ([]byte, int) {
	var out, one, part []byte
	for i := range s.Samples {
		x := &s.Samples[i]
		one = one[:0]
		label := func(name, value string) {
			part = protowire.AppendTag(part[:0], labelName, protowire.BytesType)
			part = protowire.AppendString(part, name)
			part = protowire.AppendTag(part, labelValue, protowire.BytesType)
			part = protowire.AppendString(part, value)
			one = protowire.AppendTag(one, seriesLabels, protowire.BytesType)
			one = protowire.AppendBytes(one, part)
		}
		label("__name__", x.Full()) // it sorts before all others
		for _, l := range x.Labels {
			if l.Value != "" {
				label(l.Name, l.Value)
			}
		}
		at := x.At
		if at.IsZero() {
			at = s.At
		}
		part = protowire.AppendTag(part[:0], sampleValue, protowire.Fixed64Type)
		part = protowire.AppendFixed64(part, math.Float64bits(x.Value))
		part = protowire.AppendTag(part, sampleTime, protowire.VarintType)
		part = protowire.AppendVarint(part, uint64(at.UnixMilli()))
		one = protowire.AppendTag(one, seriesSamples, protowire.BytesType)
		one = protowire.AppendBytes(one, part)
		out = protowire.AppendTag(out, writeSeries, protowire.BytesType)
		out = protowire.AppendBytes(out, one)
	}
	if len(s.Samples) == 0 {
		return nil, 0
	}
	return s2.EncodeSnappy(nil, out), len(s.Samples)
}
