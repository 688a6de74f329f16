package dotnetcounters

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "counters", Render: render, Match: heads}

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
	for _, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %q %s cpus %d\n", s.Name, s.Runtime, s.CPUs)
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "%s %s @%d:", s.Name, s.Unit, s.Origin.Position())
		for i := range s.T {
			fmt.Fprintf(&w, " %.6g@%s", s.V[i], time.Unix(0, s.T[i]).UTC().Format("2006-01-02T15:04:05.999"))
		}
		w.WriteString("\n")
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %v\n", c.Kind, time.Duration(c.Until-c.From))
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

// Times of all cultures; the file as a whole shows whether day or month comes first.
func TestStamps(t *testing.T) {
	want := time.Date(2026, 11, 21, 21, 0, 1, 0, time.UTC).UnixNano()
	for _, text := range []string{
		"11/21/2026 21:00:01", "11/21/2026 9:00:01 PM", "11/21/2026 9:00:01\u202fPM", "21.11.2026 21:00:01", "21/11/2026 21:00:01", "21-11-2026 21:00:01",
		"2026/11/21 21:00:01", "2026-11-21 21:00:01Z", "2026. 11. 21. 21:00:01", "2026/11/21 下午 9:00:01", "21.11.2026 21.00.01",
		"2026-11-21T22:00:01.0000000+01:00", "2026-11-21T21:00:01Z", "21/11/26 21:00:01",
	} {
		s, ok := parseStamp(text)
		month, certain := monthFirst([]stamp{s}, 0)
		if got := s.unixNano(month); !ok || !certain || got != want {
			t.Errorf("%q: %v %v, certain %v", text, ok, time.Unix(0, got).UTC(), certain)
		}
	}
	for _, text := range []string{"", "9", "11/21/2026", "13/13/2026 09:00:00", "11/21/2026 25:00:00", "1/1/1 1:1:1:1:1", "99999999999/1/1 1:1:1", strings.Repeat("1 ", 60)} {
		if s, ok := parseStamp(text); ok {
			t.Errorf("%q: %v", text, s)
		}
	}
}

func TestMonthOrDay(t *testing.T) {
	day := func(d int) int64 { return time.Date(2026, 11, d, 12, 0, 0, 0, time.UTC).UnixNano() }
	for _, c := range []struct {
		text           string
		modified       int64
		first, certain bool
	}{
		{"03/11/2026 09:00:00", 0, true, false},
		{"03/11/2026 09:00:00", day(3), false, true},
		{"11/03/2026 09:00:00", day(3), true, true},
		{"11/03/2026 09:00:00", day(20), true, false},
		{"11/11/2026 09:00:00", 0, true, true},
		{"3/11/2026 9:00:00 AM", 0, true, true},
		{"03.11.2026 09:00:00", 0, false, true},
	} {
		s, ok := parseStamp(c.text)
		if first, certain := monthFirst([]stamp{s}, c.modified); !ok || first != c.first || certain != c.certain {
			t.Errorf("%q, written %d: month first %v, certain %v", c.text, c.modified, first, certain)
		}
	}
}

// The file's modification time shows the offset of its stamps from UTC.
func TestZone(t *testing.T) {
	text := []byte("Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n11/21/2026 09:00:01,System.Runtime,CPU Usage (%),Metric,4\n")
	stamped := time.Date(2026, 11, 21, 9, 0, 1, 0, time.UTC)
	for _, c := range []struct {
		later time.Duration // when it was written
		want  time.Duration
		warn  string
	}{
		{2 * time.Second, 0, "read as UTC"},
		{-5*time.Hour - 30*time.Minute + 2*time.Second, -5*time.Hour - 30*time.Minute, "they are 5h30m0s from UTC"},
		{8*time.Hour + time.Second, 8 * time.Hour, "they are -8h0m0s from UTC"},
		{8*time.Hour + 7*time.Minute, 0, "read as UTC"},
		{40 * time.Hour, 0, "read as UTC"},
	} {
		a := suite.Artifact(text)
		a.Modified = stamped.Add(c.later).UnixNano()
		b, err := suite.ReadArtifact(a)
		if err != nil {
			t.Fatal(err)
		}
		b.Unify()
		b.Align()
		if got := time.Duration(b.Series[0].T[0] - stamped.UnixNano()); got != c.want || len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, c.warn) {
			t.Errorf("written %v later: moved by %v, %v", c.later, got, b.Warnings)
		}
	}
}

var heads = map[string]format.Confidence{
	"Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n":          format.Sure,
	"\ufeffTimestamp,Provider,Counter Name,Counter Type,Mean/Increment\r\n1": format.Sure,
	`{ "TargetProcess": "", "StartTime": "", "Events": [`:                    format.Sure,
	`{ "Target Process": "", "Events":[{`:                                    format.Sure,
	`{"Events":[{"TargetProcess":""}]}`:                                      format.No,
	"timestamp,provider\n":                                                   format.No,
	"1,2\nTimestamp,Provider,Counter Name,Counter Type,Mean/Increment\n":     format.No,
}

func TestBounds(t *testing.T) {
	var w bytes.Buffer
	w.WriteString("Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n")
	for i := range maxSeries + 10 {
		fmt.Fprintf(&w, "11/21/2026 09:00:01,Shop,orders[customer=%d],Metric,1\n", i)
	}
	b, err := suite.Read((w.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Series) != maxSeries || len(b.Warnings) != 2 || !strings.Contains(b.Warnings[1].Text, "too many readings: 10 left out") {
		t.Errorf("%d series, %v", len(b.Series), b.Warnings)
	}
}

func BenchmarkParse(b *testing.B) {
	a, err := txtar.ParseFile("testdata/meters.txtar")
	if err != nil {
		b.Fatal(err)
	}
	header, rows, _ := strings.Cut(string(a.Files[0].Data), "\n")
	var w bytes.Buffer
	w.WriteString(header + "\n")
	for i := range 2000 {
		w.WriteString(strings.ReplaceAll(rows, "21:00:0", fmt.Sprintf("%02d:%02d:%d", i/360%24, i/6%60, i%6)))
	}
	b.SetBytes(int64(w.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := suite.Read((w.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
