package parquet

import (
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/present/export"
	"github.com/unstall/unstall/internal/present/export/parquet/columnar"
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
func requestSchema() columnar.Schema {
	s := columnar.SchemaOf(requestColumns{})
	for m := range ledger.NumMechanisms {
		s = append(s, &columnar.Node{Name: m.String() + "_ms", Kind: columnar.Double, Optional: true})
	}
	return s
}

// request puts one into the columns of requestSchema.
func request(columns []*columnar.Leaf, run string, q *export.Request) {
	next := func() *columnar.Leaf {
		c := columns[0]
		columns = columns[1:]
		return c
	}
	whole := func(v int64, known bool) {
		if c := next(); known {
			c.Int(v)
		} else {
			c.Null()
		}
	}
	name := func(s string) {
		if c := next(); s != "" {
			c.Text(s)
		} else {
			c.Null()
		}
	}
	next().Text(run)
	next().Text(q.Source)
	next().Text(q.Origin)
	next().Text(q.Process)
	name(q.Route)
	whole(q.Began/1e3, q.Dated && q.Began != 0)
	whole(q.Began, q.Began != 0)
	whole(q.Slack, q.Slack >= 0)
	next().Double(float64(q.Latency) / 1e6)
	next().Text(q.Outcome.String())
	if c := next(); q.Charged {
		c.Bool(q.Slow)
	} else {
		c.Null()
	}
	name(q.Method)
	for _, ns := range q.Charges {
		if c := next(); q.Charged {
			c.Double(float64(ns) / 1e6)
		} else {
			c.Null()
		}
	}
}
