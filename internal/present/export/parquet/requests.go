package parquet

import (
	"reflect"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/present/export"
)

// requestColumns are the columns of requests, the same as in the CSV form. Those of the
// mechanisms follow in their order, as stop_the_world_ms, and after them those that were added later.
type requestColumns struct {
	Run     string     `parquet:"run,dict"`
	Source  string     `parquet:"source,dict"`
	Origin  string     `parquet:"origin"`
	Process string     `parquet:"process,dict"`
	Route   *string    `parquet:"route,optional,dict"`
	Began   *time.Time `parquet:"began,optional,timestamp(microsecond)"`
	BeganNs *int64     `parquet:"began_ns,optional"`
	Slack   *int64     `parquet:"began_error_ns,optional,dict"`
	Latency float64    `parquet:"latency_ms"`
	Outcome string     `parquet:"outcome,dict"`
	Slow    *bool      `parquet:"slow,optional"`
	Method  *string    `parquet:"method,optional,dict"`
}

// requestType returns the type of a row of requests, which has a column for each mechanism of the
// ledger.
func requestType() reflect.Type {
	fields := reflect.VisibleFields(reflect.TypeFor[requestColumns]())
	for m := range ledger.NumMechanisms {
		fields = append(fields, reflect.StructField{
			Name: "Mechanism" + strconv.Itoa(int(m)),
			Type: reflect.TypeFor[*float64](),
			Tag:  reflect.StructTag(`parquet:"` + m.String() + `_ms,optional"`),
		})
	}
	fields = append(fields, reflect.StructField{Name: "Counted", Type: reflect.TypeFor[bool](), Tag: `parquet:"counted"`})
	return reflect.StructOf(fields)
}

// appendRequest appends a request's values in the order of the columns.
func appendRequest(row parquet.Row, run string, q *export.Request) parquet.Row {
	required := func(v parquet.Value) { row = append(row, v.Level(0, 0, len(row))) }
	optional := func(v parquet.Value, known bool) {
		if known {
			row = append(row, v.Level(0, 1, len(row)))
		} else {
			row = append(row, parquet.NullValue().Level(0, 0, len(row)))
		}
	}
	required(parquet.ValueOf(run))
	required(parquet.ValueOf(q.Source))
	required(parquet.ValueOf(q.Origin))
	required(parquet.ValueOf(q.Process))
	optional(parquet.ValueOf(q.Route), q.Route != "")
	optional(parquet.Int64Value(q.Began/1e3), q.Dated && q.Began != 0)
	optional(parquet.Int64Value(q.Began), q.Began != 0)
	optional(parquet.Int64Value(q.Slack), q.Slack >= 0)
	required(parquet.DoubleValue(float64(q.Latency) / 1e6))
	required(parquet.ValueOf(q.Outcome.String()))
	optional(parquet.BooleanValue(q.Slow), q.Charged)
	optional(parquet.ValueOf(q.Method), q.Method != "")
	for _, ns := range q.Charges {
		optional(parquet.DoubleValue(float64(ns)/1e6), q.Charged)
	}
	required(parquet.BooleanValue(q.Charged))
	return row
}
