// Package tracetop reads which functions of a .NET program were on its stacks most, as dotnet-trace report topN prints them:
//
//	Top 5 Functions (Exclusive)                                                  Inclusive           Exclusive
//	1. ManualResetEventSlim.Wait(int32,value class System.Threading.Cancellat    58.33%              8.33%
//	   ionToken)
//	2.                                                                           20.83%              20.83%
//
// https://github.com/dotnet/diagnostics src/Tools/dotnet-trace/CommandLine/PrintReportHelper.cs, 6.0 to 9.0. The name of a function is broken at a width, and is missing
// where there are no symbols.
//
// Samples are of all threads, those that wait too, so that a share says nothing about CPUs: no cause follows from it.
package tracetop

import (
	"bytes"
	"context"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such a report.
var Format = format.Format{
	Name:  "dotnet-trace-top",
	About: "functions that were on the stacks of a .NET program most, as dotnet-trace report topN prints them",
	Match: func(head []byte) format.Confidence {
		if !bytes.Contains(head, heading) {
			return format.No
		}
		inside := false
		for l := range bytes.Lines(head) {
			if bytes.Contains(l, heading) {
				inside = true
			} else if _, ok := rowOf(l); ok && inside {
				return format.Sure
			}
		}
		return format.No
	},
	Parse: parseArtifact,
}

// Bounds of what is kept.
const (
	mostLine = 4096
	mostRows = 1000
	mostName = 300
)

var heading = []byte("Functions (")

// row is a function and its shares.
type row struct{ name, inclusive, exclusive string }

// rowOf reads "3. WaitHandle.WaitOneNoCheck(int32)   8.33%   8.33%".
func rowOf(l []byte) (r row, ok bool) {
	if len(l) > mostLine {
		return r, false
	}
	number, rest, ok := strings.Cut(strings.TrimSpace(string(l)), ".")
	f := strings.Fields(rest)
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" || len(f) < 2 || !isShare(f[len(f)-1]) || !isShare(f[len(f)-2]) {
		return r, false
	}
	name := strings.Join(f[:len(f)-2], " ")
	return row{strings.ToValidUTF8(name[:min(len(name), mostName)], "?"), f[len(f)-2], f[len(f)-1]}, true
}

func isShare(s string) bool {
	digits, ok := strings.CutSuffix(s, "%")
	return ok && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var all []row
	inside, left := false, 0
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if bytes.Contains(l.Text, heading) {
			inside = true
			return true
		}
		r, ok := rowOf(l.Text)
		switch {
		case !inside:
		case ok && len(all) == mostRows:
			left++
		case ok:
			all = append(all, r)
		case len(all) > 0 && len(l.Text) > 3 && l.Text[0] == ' ' && len(l.Text) <= mostLine: // the rest of a name
			x := &all[len(all)-1]
			if more := strings.TrimSpace(string(l.Text)); len(x.name)+len(more) <= mostName {
				x.name += strings.ToValidUTF8(more, "?")
			}
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0, "the report", "tracetop: no function in it"); err != nil {
		return err
	}
	*b.Clock() = evidence.Clock{Name: "one report", Error: evidence.Unanchored}
	b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	t := evidence.Table{Title: "functions on the stacks of all threads, waiting ones too", Columns: []string{"", "of samples, with what it calls", "itself"}}
	for _, r := range all {
		if r.name == "" {
			r.name = "a function without symbols"
		}
		t.Rows = append(t.Rows, []string{r.name, r.inclusive, r.exclusive})
	}
	b.Table(t)
	if left > 0 {
		b.Warnf(0, "functions beyond the first %d: %d", mostRows, left)
	}
	return nil
}
