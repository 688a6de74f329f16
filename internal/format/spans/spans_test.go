package spans

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Render: render, Match: heads,
	// A span in the middle of which the file ends is left out, what came before is read.
	Part: func(t testing.TB, _ []byte, n int, part *evidence.Bundle, _ error, whole *evidence.Bundle) {
		if p, w := part.Requests.Len(), whole.Requests.Len(); p > w {
			t.Errorf("%d requests, all have %d", p, w)
		}
	}}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, document(200, 40)) }

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v cut %v\n", a.Formats, a.Tail)
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %q %s\n", i, s.Service, s.Runtime)
	}
	for i := range b.Requests.Len() {
		r := b.Requests.Row(i)
		fmt.Fprintf(&w, "request %d of %d %q at %s, %v %s @%d\n ", i+1, r.Subject, b.Names.Text(r.Route), time.Unix(0, r.Start).UTC().Format("15:04:05.000000"), time.Duration(r.Latency()), r.Outcome, r.Origin.Position())
		for s := range r.Path.All {
			fmt.Fprintf(&w, " %s", s.Kind)
			if s.Cause != 0 {
				fmt.Fprintf(&w, " [%s]", b.Names.Text(s.Cause))
			}
			fmt.Fprintf(&w, " %v,", time.Duration(s.Dur))
		}
		w.WriteString("\n")
	}
	v := &b.Intervals
	for i := range v.Len() {
		fmt.Fprintf(&w, "%s of request %d: %s %q %v", v.Kind[i], v.Request.At(i), b.Names.Text(v.Cause.At(i)), b.Names.Text(v.NameOf(i, evidence.Operation)), time.Duration(v.End[i]-v.Start[i]))
		if ns, ok := v.Get(i, evidence.ServerTime); ok {
			fmt.Fprintf(&w, ", there %v", time.Duration(ns))
		}
		fmt.Fprintf(&w, " @%d\n", v.Origin.At(i).Position())
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact %s %s\n", f.Key, f.Value)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %d %s %v\n", c.Subject, c.Kind, time.Duration(c.Until-c.From))
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

var heads = map[string]format.Confidence{
	`{"resourceSpans":[`:                                                 format.Sure,
	"\ufeff" + `{ "resourceSpans" : [`:                                   format.Sure,
	`[{"traceId":"1","id":"2","localEndpoint":{}`:                        format.Sure,
	`[[{"traceId":"1","id":"2","timestamp":1,"duration":2}]]`:            format.Sure,
	`{"data":[{"traceID":"1","spans":[{"spanID":"2","operationName":"x"`: format.Sure,
	`{"traceId":"1","message":"logged in a trace","id":3}`:               format.No,
	`{"a":"\"resourceSpans\""}`:                                          format.No,
	`resourceSpans`:                                                      format.No,
	``:                                                                   format.No,
}

func TestStatement(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT o.id FROM orders o WHERE id = ?":    "SELECT orders",
		"insert into `shop`.`items`(id) values (1)": "INSERT shop.items",
		"update stock set n = n - 1":                "UPDATE stock",
		"HGETALL user:1":                            "HGETALL",
		"commit;":                                   "COMMIT",
		"":                                          "",
	} {
		if got := string(summarizeStatement([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Waits that overlap, nest and stand out of the request still sum to its latency, and what
// was waited for is the one that ended last.
func TestStates(t *testing.T) {
	b := evidence.NewBundle()
	p := &parser{b: b.Builder(b.AddArtifact(evidence.Artifact{}), "spans")}
	e := emitter{p: p, waits: []wait{
		{100, 300, 1, false}, {200, 250, 2, false}, {250, 400, 3, false}, // side by side
		{500, 600, 4, true}, {550, 650, 5, false}, // connecting, while a connection is taken
		{900, 1200, 6, false}, // ends after the request
		{1100, 1200, 7, true},
	}}
	var got strings.Builder
	var total int64
	for s := range e.buildPath(0, 1000).All {
		fmt.Fprintf(&got, "%s %d %d; ", s.Kind, s.Cause, s.Dur)
		total += s.Dur
	}
	const want = "unobserved 0 100; network wait 1 150; network wait 3 150; unobserved 0 100; pool wait 4 50; network wait 5 100; unobserved 0 250; network wait 6 100; "
	if got.String() != want || total != 1000 {
		t.Errorf("%s = %d, want %s", &got, total, want)
	}
	for _, w := range [][]wait{{{0, 1000, 1, false}}, {{0, 1000, 1, true}}, {{0, 500, 1, true}, {0, 300, 2, false}}} {
		e.waits = w
		total = 0
		first := true
		for s := range e.buildPath(0, 1000).All {
			if first && s.Kind != evidence.Unobserved {
				t.Errorf("%v begins with %s", w, s.Kind)
			}
			first = false
			total += s.Dur
		}
		if total != 1000 {
			t.Errorf("%v: %d", w, total)
		}
	}
}

// What nests without end ends the reading, not the program.
func TestNesting(t *testing.T) {
	const deep = 5_000_000
	for _, open := range []string{"[", `{"spans":`, `[{"spans":`} {
		if _, err := suite.Read([]byte(`{"resourceSpans":` + strings.Repeat(open, deep/len(open)))); err == nil {
			t.Errorf("%s…: no error", open)
		}
	}
}

// document is a collector's file: requests of a service, each with calls of a database.
func document(requests, calls int) []byte {
	var w bytes.Buffer
	const epoch = int64(1_700_000_000e9)
	for r := range requests {
		at := epoch + int64(r)*10e6
		w.WriteString(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"telemetry.sdk.language","value":{"stringValue":"java"}}]},"scopeSpans":[{"scope":{"name":"io.opentelemetry.jdbc"},"spans":[`)
		for c := range calls {
			from := at + int64(c)*5e6
			fmt.Fprintf(&w, `{"traceId":"%032x","spanId":"%016x","parentSpanId":"%016x","flags":257,"name":"SELECT orders","kind":3,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"db.system","value":{"stringValue":"postgresql"}},{"key":"db.name","value":{"stringValue":"shop"}},{"key":"db.statement","value":{"stringValue":"SELECT * FROM orders WHERE id = ?"}}],"status":{}},`,
				r+1, r*1000+c+2, r*1000+1, from, from+300e3)
		}
		fmt.Fprintf(&w, `{"traceId":"%032x","spanId":"%016x","parentSpanId":"","flags":257,"name":"GET /tree","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.route","value":{"stringValue":"/tree"}},{"key":"http.request.method","value":{"stringValue":"GET"}}],"status":{}}`,
			r+1, r*1000+1, at, at+250e6)
		w.WriteString("]}]}]}\n")
	}
	return w.Bytes()
}
