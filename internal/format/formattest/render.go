package formattest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Render writes everything that was read, one item a line, with its origin.
// Times are those of the artifact's clock: dates if it has any, else the time since its start.
func Render(b *evidence.Bundle, err error) string {
	w := &text{Bundle: b}
	if err != nil {
		w.writeLine("error %v", err)
	}
	for _, a := range b.Artifacts {
		w.writeLine("artifact %v envelopes %v cut %v", a.Formats, a.Envelopes, a.Tail)
	}
	for _, c := range b.Clocks {
		w.writeLine("clock %q offset %s ± %v resolution %v", c.Name, w.formatTime(c.Offset), time.Duration(c.Error), time.Duration(c.Resolution))
	}
	for i, s := range b.Subjects {
		w.writeLine("subject %d %s %q %q pid %d %s %s cpus %d", i, s.Kind, s.Name, s.Service, s.PID, s.Runtime, s.Version, s.CPUs)
	}
	w.writeRequests()
	w.writeIntervals()
	w.writeSamples()
	for _, s := range b.Series {
		fmt.Fprintf(w, "series s%d %s %s", s.Subject, s.Name, s.Unit)
		for i := range s.T {
			fmt.Fprintf(w, " %.6g@%s", s.V[i], w.formatTime(s.T[i]))
		}
		w.writeOrigin(s.Origin)
	}
	for _, l := range b.Loads {
		fmt.Fprintf(w, "load %+v", l)
		w.writeOrigin(l.Origin)
	}
	for _, f := range b.Facts {
		fmt.Fprintf(w, "fact s%d %s %q", f.Subject, f.Key, f.Value)
		if !math.IsNaN(f.Number) {
			fmt.Fprintf(w, " %g", f.Number)
		}
		w.writeOrigin(f.Origin)
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(w, "covered s%d %s %s..%s every %v lost %d", c.Subject, c.Kind, w.formatTime(c.From), w.formatTime(c.Until), time.Duration(c.Sampled), c.Lost)
		w.writeOrigin(c.Origin)
	}
	for _, t := range b.Tables {
		w.writeLine("table %s: %s", t.Title, strings.Join(t.Columns, " | "))
		for _, r := range t.Rows {
			w.writeLine("  %s", strings.Join(r, " | "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(w, "warning ×%d %s", x.Count, x.Text)
		w.writeOrigin(x.Origin)
	}
	return w.String()
}

type text struct {
	strings.Builder
	*evidence.Bundle
}

func (w *text) writeLine(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// writeOrigin ends a line with its origin.
func (w *text) writeOrigin(o evidence.Origin) { fmt.Fprintf(w, " @%d\n", o.Position()) }

// formatTime formats ns as a date from 1973 on, earlier ones as a duration.
func (w *text) formatTime(ns int64) string {
	if ns < 1e17 {
		return time.Duration(ns).String()
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
}

func (w *text) writeRequests() {
	for i := range w.Requests.Len() {
		r := w.Requests.Row(i)
		fmt.Fprintf(w, "request %d s%d lane %d %q %s + %v %s", i+1, r.Subject, r.Lane, w.Names.Text(r.Route), w.formatTime(r.Start), time.Duration(r.Latency()), r.Outcome)
		for s := range r.Path.All {
			fmt.Fprintf(w, " · %s %v %q", s.Kind, time.Duration(s.Dur), w.Names.Text(s.Cause))
		}
		w.writeOrigin(r.Origin)
	}
}

func (w *text) writeIntervals() {
	v := &w.Intervals
	for i := range v.Len() {
		fmt.Fprintf(w, "%s s%d lane %d %s + %v", v.Kind[i], v.Subject.At(i), v.Lane.At(i), w.formatTime(v.Start[i]), time.Duration(v.End[i]-v.Start[i]))
		if v.Cause.At(i) != 0 {
			fmt.Fprintf(w, " %q", w.Names.Text(v.Cause.At(i)))
		}
		if v.Holder.At(i) != 0 || v.Request.At(i) != 0 {
			fmt.Fprintf(w, " holder %d request %d", v.Holder.At(i), v.Request.At(i))
		}
		for k := range evidence.NumKeys {
			x, ok := v.Get(i, k)
			switch {
			case !ok:
			case k == evidence.Trigger || k == evidence.Failure || k == evidence.Operation || k == evidence.ClientAddress:
				fmt.Fprintf(w, ", %s %q", k, w.Names.Text(v.NameOf(i, k)))
			case k == evidence.PauseOf:
				fmt.Fprintf(w, ", %s", evidence.Pause(x))
			default:
				fmt.Fprintf(w, ", %s %v", k, x)
			}
		}
		w.writeStack(v.Stack.At(i))
		w.writeOrigin(v.Origin.At(i))
	}
}

func (w *text) writeSamples() {
	s := &w.Samples
	for i := range s.Len() {
		fmt.Fprintf(w, "sample s%d lane %d %s: %d %s %s %q", s.Subject[i], s.Lane[i], w.formatTime(s.Time[i]), s.Value[i], w.Names.Text(s.Unit[i]), w.Names.Text(s.Type[i]), w.Names.Text(s.Class[i]))
		w.writeStack(s.Stack[i])
		w.writeOrigin(s.Origin[i])
	}
}

func (w *text) writeStack(id evidence.StackID) {
	for _, f := range w.Stacks.Frames(id) {
		fmt.Fprintf(w, " < %s", w.Names.Text(f.Func))
	}
	if info := w.Stacks.Info(id).String(); info != "" {
		fmt.Fprintf(w, " {%s}", info)
	}
}
