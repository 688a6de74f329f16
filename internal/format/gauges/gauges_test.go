package gauges

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

var suite = formattest.Suite{Format: Format, Others: []format.Format{Exposition, Log, Counters}, Modified: 1_700_000_000e9, Render: render, Match: heads}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, a := range b.Artifacts {
		fmt.Fprintf(&w, "artifact %v cut %v\n", a.Formats, a.Tail)
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %q %s cpus %d\n", i, s.Kind, s.Name, s.Runtime, s.CPUs)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "%d %s %s @%d:", s.Subject, s.Name, s.Unit, s.Origin.Position())
		for i := range s.T {
			fmt.Fprintf(&w, " %.6g@%s", s.V[i], time.Unix(0, s.T[i]).UTC().Format("15:04:05.999"))
		}
		w.WriteString("\n")
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "%d fact %s %.6g (%s)\n", f.Subject, f.Key, f.Number, f.Value)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %v, every %v\n", c.Kind, time.Duration(c.Until-c.From), time.Duration(c.Sampled))
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
	"time,active,max,waiting\n":                                                  format.Sure,
	"Timestamp;Pool Name;Num Active;Num Idle;Max Total\r\n":                      format.Sure,
	`{"ts":1700000000,"active":7,"max":10}`:                                      format.Sure,
	`[{"time":"2026-11-21T14:02:00Z","dependency":"db","count":3,"avg_ms":0.3}]`: format.Sure,
	"# HELP x\nhikaricp_connections_active{pool=\"db\"} 7\n":                     format.Sure,
	"time,count,mean_ms\n":                                                       format.Sure,
	"time,path,count,mean_ms,status\n":                                           format.No,
	`{"time":"x","active":true,"max":1,"msg":"a log line"}`:                      format.No,
	"go_goroutines 7\n":                                                          format.No,
	"active\n":                                                                   format.No,
	"":                                                                           format.No,
	`{"time":1,"active":7,"max":`:                                                format.No,
}

func TestInstant(t *testing.T) {
	want := time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC).UnixNano()
	for _, text := range []string{"2026-11-21T14:02:00Z", "2026-11-21 14:02:00", "2026-11-21 15:02:00.000+01", "2026-11-21T14:02:00.000+0000", "2026/11/21 14:02:00", "2026-11-21 14:02:00,000",
		fmt.Sprint(want / 1e9), fmt.Sprint(want / 1e6), fmt.Sprint(want / 1e3), fmt.Sprint(want), fmt.Sprintf("%d.000", want/1e9), "Sat, 21 Nov 2026 14:02:00 GMT", "2026-11-21 14:02"} {
		if got, _, ok := parseTime(text); !ok || got != want {
			t.Errorf("%q: %v %v", text, time.Unix(0, got).UTC(), ok)
		}
	}
	for _, text := range []string{"", "7", "yesterday", "2026-13-21T14:02:00Z", "-1700000000", "NaN", "9e99"} {
		if got, _, ok := parseTime(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	w.WriteString("time,pool,active,idle,pending,total,max\n")
	for i := range 100_000 {
		fmt.Fprintf(&w, "%d,db,%d,%d,0,10,10\n", 1_700_000_000+i, i%8, 10-i%8)
	}
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := suite.Read(w.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
