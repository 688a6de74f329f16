package nettrace

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// Archives hold streams in the text form (see stream). What is left of one that is cut
// says so; eventpipe's own tests cut at every byte.
var suite = formattest.Suite{Format: Format, Name: "trace.nettrace", Render: render, Cuts: 512,
	Input: func(t testing.TB, f txtar.File) []byte { return stream(t, string(f.Data)) },
	Part: func(t testing.TB, _ []byte, n int, part *evidence.Bundle, err error, whole *evidence.Bundle) {
		if err == nil && (!part.Artifacts[0].Tail || len(part.Warnings) == 0) {
			t.Error("that it was cut is not said")
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// render writes all that a parse gave, a line each; times are ms since the stream
// began.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	ms := func(ns int64) string {
		if ns == 0 {
			return "?"
		}
		return fmt.Sprintf("%.3f", float64(ns-eventpipetest.Began.UnixNano())/1e6)
	}
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			fmt.Fprintf(&w, "cut\n")
		}
	}
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %q pid %d %s %s cpus %d\n", i, s.Kind, s.Name, s.PID, s.Runtime, s.Version, s.CPUs)
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "fact %s = %s\n", f.Key, f.Value)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s %s..%s lost %d sampled %v\n", c.Kind, ms(c.From), ms(c.Until), c.Lost, time.Duration(c.Sampled))
	}
	for i := range b.Requests.Len() {
		r := b.Requests.Row(i)
		fmt.Fprintf(&w, "request %d %q lane %d %s..%s %s\n", i+1, b.Names.Text(r.Route), r.Lane, ms(r.Start), ms(r.End), r.Outcome)
	}
	v := &b.Intervals
	for i := range v.Len() {
		fmt.Fprintf(&w, "%s lane %d %s..%s", v.Kind[i], v.Lane.At(i), ms(v.Start[i]), ms(v.End[i]))
		if c := b.Names.Text(v.Cause.At(i)); c != "" {
			fmt.Fprintf(&w, " %q", c)
		}
		if v.Holder.At(i) != 0 {
			fmt.Fprintf(&w, " holder %d", v.Holder.At(i))
		}
		if v.Request.At(i) != 0 {
			fmt.Fprintf(&w, " request %d", v.Request.At(i))
		}
		for k := evidence.Key(0); k < evidence.NumKeys; k++ {
			if x, ok := v.Get(i, k); ok {
				fmt.Fprintf(&w, " %s %v", k, x)
			}
		}
		fmt.Fprintln(&w)
		frames(&w, b, v.Stack.At(i))
	}
	s := &b.Samples
	for i := range s.Len() {
		fmt.Fprintf(&w, "sample %s lane %d at %s value %d %s", b.Names.Text(s.Type[i]), s.Lane[i], ms(s.Time[i]), s.Value[i], b.Names.Text(s.Unit[i]))
		if c := b.Names.Text(s.Class[i]); c != "" {
			fmt.Fprintf(&w, " %q", c)
		}
		fmt.Fprintln(&w)
		frames(&w, b, s.Stack[i])
	}
	for _, s := range b.Series {
		fmt.Fprintf(&w, "series %s (%s)", s.Name, s.Unit)
		for i := range s.T {
			fmt.Fprintf(&w, " %s:%.6g", ms(s.T[i]), s.V[i])
		}
		fmt.Fprintln(&w)
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning %s\n", x.Text)
	}
	for _, y := range b.Tables {
		fmt.Fprintf(&w, "table %s: %s\n", y.Title, strings.Join(y.Columns, " | "))
		for _, r := range y.Rows {
			fmt.Fprintf(&w, "    %s\n", strings.Join(r, " | "))
		}
	}
	return w.String()
}

func frames(w *strings.Builder, b *evidence.Bundle, id evidence.StackID) {
	for _, f := range b.Stacks.Frames(id) {
		fmt.Fprintf(w, "    %s\n", b.Names.Text(f.Func))
	}
}
