package parquet

import (
	"reflect"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/unstall/unstall/export"
	"github.com/unstall/unstall/ledger"
)

// requestColumns are the columns of requests, the same as in the CSV form. Those of the
// mechanisms follow in their order, as stop_the_world_ms.
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

// requestSchema has the mechanisms' columns too, whose list is the ledger's.
func requestSchema() *parquet.Schema {
	fields := reflect.VisibleFields(reflect.TypeFor[requestColumns]())
	for m := range ledger.NumMechanisms {
		fields = append(fields, reflect.StructField{
			Name: "Mechanism" + string('A'+rune(m)),
			Type: reflect.TypeFor[*float64](),
			Tag:  reflect.StructTag(`parquet:"` + m.String() + `_ms,optional"`),
		})
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

// cells makes rows of requests; what it returns is overwritten by the next.
type cells struct{ row parquet.Row }

func (c *cells) put(v parquet.Value) { c.row = append(c.row, v.Level(0, 0, len(c.row))) }

// optional puts a cell that may be null.
func (c *cells) optional(v parquet.Value, known bool) {
	if known {
		c.row = append(c.row, v.Level(0, 1, len(c.row)))
	} else {
		c.row = append(c.row, parquet.NullValue().Level(0, 0, len(c.row)))
	}
}

func (c *cells) text(s string, must bool) {
	v := parquet.ByteArrayValue([]byte(s))
	if must {
		c.put(v)
	} else {
		c.optional(v, s != "")
	}
}

// request is a row of requestSchema.
func (c *cells) request(run string, q *export.Request) parquet.Row {
	c.row = c.row[:0]
	c.text(run, true)
	c.text(q.Source, true)
	c.text(q.Origin, true)
	c.text(q.Process, true)
	c.text(q.Route, false)
	c.optional(parquet.Int64Value(q.Began/1e3), q.Dated && q.Began != 0)
	c.optional(parquet.Int64Value(q.Began), q.Began != 0)
	c.optional(parquet.Int64Value(q.Slack), q.Slack >= 0)
	c.put(parquet.DoubleValue(float64(q.Latency) / 1e6))
	c.text(q.Outcome.String(), true)
	c.optional(parquet.BooleanValue(q.Slow), q.Charged)
	c.text(q.Method, false)
	for _, ns := range q.Charges {
		c.optional(parquet.DoubleValue(float64(ns)/1e6), q.Charged)
	}
	return c.row
}
