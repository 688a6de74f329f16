// Package pythonprofile reads the tables of Python's profilers: of cProfile and profile, as pstats prints them, and of the sampling profiler of 3.15:
//
//	         9 function calls in 6.007 seconds
//
//	   ncalls  tottime  percall  cumtime  percall filename:lineno(function)
//	        3    6.007    2.002    6.007    2.002 {built-in method time.sleep}
//
//	Captured 60,001 samples in 60.00 seconds
//	       nsamples   sample%   tottime (s)    cumul%   cumtime (s)  filename:lineno(function)
//	    52660/52660      88.6        52.660      88.6        52.660  foof.py:7(l3)
//
// https://docs.python.org/3/library/profile.html, Python 2.5 to 3.15. Times are of a wall clock: a function that waits has the time of its wait.
// Its own time (tottime) is read.
package pythonprofile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a table.
var Format = format.Format{
	Name:  "python-profile",
	About: "profiles of Python as pstats prints them (cProfile, profile), and tables of its sampling profiler (3.15)",
	Match: func(head []byte) format.Confidence {
		for l := range bytes.Lines(head) {
			if len(l) <= mostLine && columnsOf(string(l)) != 0 {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine  = 4096
	mostRows  = 20_000
	mostName  = 200
	mostShown = 15
)

// columnsOf says how many columns of figures a table has, by its heading; 0 for other lines.
func columnsOf(text string) int {
	f := strings.Fields(text)
	switch {
	case len(f) == 6 && f[0] == "ncalls" && f[1] == "tottime" && f[5] == "filename:lineno(function)":
		return 5
	case len(f) >= 7 && f[0] == "nsamples" && f[1] == "sample%" && f[2] == "tottime" && f[len(f)-1] == "filename:lineno(function)":
		return 5
	}
	return 0
}

// row is a function.
type row struct {
	name  string
	calls string
	own   float64 // s
	line  int64
}

// rowOf reads a row; at is the column of its own time.
func rowOf(text string, at int) (r row, ok bool) {
	f := strings.Fields(text)
	if len(f) < 6 || strings.Trim(f[0], "0123456789/") != "" {
		return r, false
	}
	for _, x := range f[1:5] {
		if v, err := strconv.ParseFloat(x, 64); err != nil || !(v >= 0) {
			return r, false
		}
	}
	r.own, _ = strconv.ParseFloat(f[at], 64)
	name := strings.Join(f[5:], " ")
	r.name, r.calls = strings.ToValidUTF8(name[:min(len(name), mostName)], "?"), f[0]
	return r, r.own < 1e9
}

// totalOf reads "… function calls (… primitive calls) in 138.252 seconds", "… in 2.742 CPU seconds" and "Captured 60,001 samples in 60.00 seconds".
func totalOf(text string) (s float64, ok bool) {
	if !strings.Contains(text, " function calls ") && !strings.Contains(text, "Captured ") {
		return 0, false
	}
	i := strings.LastIndex(text, " in ")
	if i < 0 || !strings.HasSuffix(text, "seconds") {
		return 0, false
	}
	word, _, _ := strings.Cut(text[i+len(" in "):], " ")
	s, err := strconv.ParseFloat(word, 64)
	return s, err == nil && s > 0 && s < 1e9
}

// waits are functions that wait, by parts of their names; the first match counts.
var waits = []struct{ part, what string }{
	{"time.sleep", evidence.WallSleep},
	{"'recv", evidence.WallNetwork}, {"'send", evidence.WallNetwork}, {"'connect' of '_socket", evidence.WallNetwork}, {"'read' of '_ssl.", evidence.WallNetwork},
	{"'do_handshake' of '_ssl.", evidence.WallNetwork}, {"'execute' of 'psycopg", evidence.WallNetwork}, {"'commit' of 'psycopg", evidence.WallNetwork},
	{"'query' of '_mysql", evidence.WallNetwork}, {"getaddrinfo", evidence.WallNetwork}, {"_wait_c", evidence.WallNetwork}, {"'execute' of 'oracledb", evidence.WallNetwork},
	{"'execute' of 'pyodbc", evidence.WallNetwork}, {"'poll' of 'select.", evidence.WallOther}, {"select.select", evidence.WallOther}, {"'control' of 'select.", evidence.WallOther},
	{"'acquire' of", evidence.WallOther}, {"posix.waitpid", evidence.WallOther}, {"'__enter__' of '_thread", evidence.WallOther}, {"builtins.input", evidence.WallOther},
	{"posix.read", evidence.WallOther}, {"posix.fsync", evidence.WallOther},
}

func doesOf(name string) string {
	for _, w := range waits {
		if strings.Contains(name, w.part) {
			return w.what
		}
	}
	return evidence.WallRun
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var rows []row
	total, inside, at, tables := 0., false, 1, 0
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		text := strings.TrimSpace(string(l.Text))
		if s, ok := totalOf(text); ok {
			total = s
			return true
		}
		if columnsOf(text) > 0 {
			if tables++; tables > 1 { // the last table is the one that was asked for
				rows = nil
			}
			if inside, at = true, 1; strings.HasPrefix(text, "nsamples") {
				at = 2
			}
			return true
		}
		if r, ok := rowOf(text, at); ok && inside && len(rows) < mostRows {
			r.line = l.Number
			rows = append(rows, r)
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(rows) > 0, "the profile", "python-profile: no function with its time in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one profile", Error: evidence.Unanchored}
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "python"})
	sorting.Short(rows, func(x, y row) int { return cmp.Compare(y.own, x.own) })
	t := evidence.Table{Title: "functions with most of the time of the profile", Columns: []string{"", "own s", "calls or samples", "what it does"}}
	for _, r := range rows[:min(len(rows), mostShown)] {
		t.Rows = append(t.Rows, []string{r.name, fmt.Sprintf("%.4g", r.own), r.calls, doesOf(r.name)})
	}
	b.Table(t)
	if total == 0 {
		b.Warnf(0, "the line above the table is missing that tells the time of the whole profile, so that no shares are known")
		return nil
	}
	top := rows[0]
	b.FactAt(subject, evidence.FactWallProfile, doesOf(top.name)+evidence.Link+top.name, min(1, top.own/total), top.line)
	b.FactAt(subject, evidence.FactWallProfileTime, "", total*1e9, top.line)
	return nil
}
