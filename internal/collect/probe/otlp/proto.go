package otlp

import (
	"errors"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields
// (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto).
const (
	requestResources = 1

	resourceSpansResource = 1
	resourceSpansScopes   = 2
	resourceAttributes    = 1
	scopeSpansSpans       = 2

	spanTrace      = 1
	spanID         = 2
	spanState      = 3
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanStart      = 7
	spanEnd        = 8
	spanAttributes = 9
	spanStatus     = 15
	statusCode     = 3

	keyValueKey   = 1
	keyValueValue = 2
	valueString   = 1
	valueBool     = 2
	valueInt      = 3
	valueDouble   = 4
)

var errProto = errors.New("it is no ExportTraceServiceRequest")

// eachField calls a function with each field of a message: text holds fields of bytes and
// messages, number those of numbers.
func eachField(b []byte, each func(n protowire.Number, text []byte, number uint64) error) error {
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return errProto
		}
		b = b[size:]
		var text []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			number, size = protowire.ConsumeFixed64(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return errProto
		}
		b = b[size:]
		if err := each(n, text, number); err != nil {
			return err
		}
	}
	return nil
}

func parseProto(b []byte) (all []batch, err error) {
	err = eachField(b, func(n protowire.Number, text []byte, _ uint64) error {
		if n != requestResources {
			return nil
		}
		var x batch
		err := eachField(text, func(n protowire.Number, text []byte, _ uint64) error {
			switch n {
			case resourceSpansResource:
				return eachField(text, func(n protowire.Number, text []byte, _ uint64) error {
					if n != resourceAttributes {
						return nil
					}
					return attributeOf(text, &x.resource)
				})
			case resourceSpansScopes:
				return eachField(text, func(n protowire.Number, text []byte, _ uint64) error {
					if n != scopeSpansSpans {
						return nil
					}
					s, err := spanOf(text)
					x.spans = append(x.spans, s)
					return err
				})
			}
			return nil
		})
		all = append(all, x)
		return err
	})
	return all, err
}

func spanOf(b []byte) (s span, err error) {
	err = eachField(b, func(n protowire.Number, text []byte, number uint64) error {
		switch n {
		case spanTrace:
			s.trace = text
		case spanID:
			s.id = text
		case spanParent:
			s.parent = text
		case spanState:
			s.state = string(text)
		case spanName:
			s.name = string(text)
		case spanKind:
			s.kind = int64(number)
		case spanStart:
			s.start = number
		case spanEnd:
			s.end = number
		case spanAttributes:
			return attributeOf(text, &s.attributes)
		case spanStatus:
			return eachField(text, func(n protowire.Number, _ []byte, number uint64) error {
				if n == statusCode {
					s.status = int64(number)
				}
				return nil
			})
		}
		return nil
	})
	return s, err
}

func attributeOf(b []byte, to *[]attribute) error {
	var a attribute
	err := eachField(b, func(n protowire.Number, text []byte, _ uint64) error {
		switch n {
		case keyValueKey:
			a.key = string(text)
		case keyValueValue:
			return eachField(text, func(n protowire.Number, text []byte, number uint64) error {
				switch n {
				case valueString:
					s := string(text)
					a.value = value{String: &s}
				case valueBool:
					is := number != 0
					a.value = value{Bool: &is}
				case valueInt:
					s := strconv.FormatInt(int64(number), 10)
					a.value = value{Int: &s}
				case valueDouble:
					if f := math.Float64frombits(number); !math.IsNaN(f) && !math.IsInf(f, 0) {
						a.value = value{Double: &f}
					}
				}
				return nil
			})
		}
		return nil
	})
	*to = append(*to, a)
	return err
}

// answerProto is an ExportTraceServiceResponse.
func answerProto(rejected int64) []byte {
	if rejected == 0 {
		return nil
	}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(rejected))
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), why)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}

const why = "no id, no time, or more than are kept"
