// Package json renders a diagnosis for machines: the struct as it is (schema
// unstall.diagnosis/v1), indented, keys in the order of the struct. Unknown is
// null, an empty list is [], times are RFC 3339 in UTC.
package json

import (
	"encoding/json"
	"io"
	"math"
	"reflect"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
)

// Report renders a diagnosis.
func Report(w io.Writer, d *diagnose.Diagnosis) error { return Encode(w, d) }

// Encode writes any of the tool's values as JSON by the same rules. The value is not changed.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(normalizeValue(reflect.ValueOf(v)).Interface())
}

// normalizeValue copies a value and replaces what JSON has no form for: nil lists by empty ones,
// pointers to figures that are not finite by null, times by the same times in UTC.
func normalizeValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() == reflect.Float64 && !isFinite(v.Elem().Float()) {
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(normalizeValue(v.Elem()))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(normalizeValue(v.Index(i)))
		}
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return reflect.ValueOf(t.UTC())
		}
		for i := range v.NumField() {
			if out.Field(i).CanSet() { // else it has no JSON form either
				out.Field(i).Set(normalizeValue(v.Field(i)))
			}
		}
	default:
		return v
	}
	return out
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
