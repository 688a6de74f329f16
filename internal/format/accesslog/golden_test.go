package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "access.log", Render: describe, Confidence: true, Match: heads,
	More: func(testing.TB) [][]byte {
		return [][]byte{logOf(5), jsonOf(5),
			[]byte("time=2026-10-10T13:55:36.2Z method=GET path=\"/a\\\"b\" status=200 duration=1m2.3s\n"),
			[]byte("[2026-10-10T13:55:36.123Z] \"GET /a HTTP/2\" 200 - 0 154 12 11 \"-\" \"a\" \"b\" \"c\" \"10.0.0.9:8080\"\n"),
			[]byte("10.0.1.2:33317 [06/Feb/2026:12:14:14.655] in b/s 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET /i HTTP/1.1\"\n"),
			[]byte("time:10/Oct/2026:13:55:36 +0900\treq:GET /p HTTP/1.1\tstatus:200\treqtime:0.012\n"),
			[]byte("[GIN] 2026/10/10 - 13:55:36 | 200 |      1.2345ms | 127.0.0.1 | GET      \"/ping/17\"\n"),
			[]byte(`{"ts":1791640536.25,"request":{"method":"GET","uri":"/p\u0026"},"duration":8.1e-05,"status":200}` + "\n")}
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for i, o := range b.Requests.Origin.All() {
			if o.Position() < 1 {
				t.Errorf("request %d is of no line", i)
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// describe prints everything that a log yields.
func describe(b *evidence.Bundle, err error) string {
	var out strings.Builder
	if err != nil {
		fmt.Fprintf(&out, "error %v\n", err)
		return out.String()
	}
	for _, c := range b.Clocks {
		fmt.Fprintf(&out, "clock %s resolution %v stamp %s\n", c.Name, time.Duration(c.Resolution), stampName(c.Stamp))
	}
	for i := range b.Requests.Len() {
		q := b.Requests.Row(i)
		fmt.Fprintf(&out, "%s + %v %s %q line %d", formatTime(q.Start), time.Duration(q.End-q.Start), q.Outcome, b.Names.Text(q.Route), q.Origin.Position())
		for s := range q.Path.All {
			fmt.Fprintf(&out, " · %s %v", s.Kind, time.Duration(s.Dur))
			if s.Cause != 0 {
				fmt.Fprintf(&out, " %s", b.Names.Text(s.Cause))
			}
		}
		out.WriteByte('\n')
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&out, "coverage %s %s to %s lost %d\n", c.Kind, formatTime(c.From), formatTime(c.Until), c.Lost)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&out, "series %s %v\n", s.Name, s.V)
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&out, "warning %s: %s\n", b.OriginText(w.Origin), w.Text)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			fmt.Fprintf(&out, "cut\n")
		}
	}
	for _, table := range b.Tables {
		fmt.Fprintf(&out, "table %s: %s\n", table.Title, strings.Join(table.Columns, " | "))
		for _, r := range table.Rows {
			fmt.Fprintf(&out, "  %s\n", strings.Join(r, " | "))
		}
	}
	return out.String()
}
