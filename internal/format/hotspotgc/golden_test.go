package hotspotgc

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// render writes everything that a log gave, a line each; times are ms since its first row.
func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
		return w.String()
	}
	v := &b.Intervals
	var base int64
	if v.Len() > 0 {
		base = v.Start[0]
	}
	ms := func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns-base)/1e6) }
	c := b.Clocks[0]
	fmt.Fprintf(&w, "clock %q anchored %v resolution %d\n", c.Name, c.Anchored(), c.Resolution)
	for i, s := range b.Subjects {
		fmt.Fprintf(&w, "subject %d %s %s cpus %d\n", i, s.Runtime, s.Version, s.CPUs)
	}
	for _, f := range b.Facts {
		if f.Value != "" {
			fmt.Fprintf(&w, "fact %s = %s (%v)\n", f.Key, f.Value, f.Number)
		} else {
			fmt.Fprintf(&w, "fact %s = %v\n", f.Key, f.Number)
		}
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&w, "covered %s of subject %d %s..%s\n", c.Kind, c.Subject, ms(c.From), ms(c.Until))
	}
	for i := range v.Len() {
		fmt.Fprintf(&w, "%d: %s of subject %d lane %d %s +%.6f ms %q", v.Origin.At(i).Position(), v.Kind[i], v.Subject.At(i), v.Lane.At(i), ms(v.Start[i]), float64(v.End[i]-v.Start[i])/1e6, b.Names.Text(v.Cause.At(i)))
		for k := evidence.Key(0); k < evidence.NumKeys; k++ {
			x, ok := v.Get(i, k)
			switch {
			case !ok:
			case k == evidence.Trigger || k == evidence.Failure:
				fmt.Fprintf(&w, " %s %q", k, b.Names.Text(evidence.NameID(x)))
			case k == evidence.PauseOf:
				fmt.Fprintf(&w, " %s", evidence.Pause(x))
			default:
				fmt.Fprintf(&w, " %s %v", k, x)
			}
		}
		fmt.Fprintln(&w)
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s\n", t.Title)
		for _, r := range t.Rows {
			fmt.Fprintf(&w, "  %s\n", strings.TrimRight(strings.Join(r, ": "), ": "))
		}
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning %s\n", x.Text)
	}
	return w.String()
}
