package sentence

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

// Margin says where a threshold of a cause lies among recordings whose causes are known: "12 recordings with the cause: 31 % or more;
// 88 without: 9 % or less; none within a fifth of it". "" if nothing was compared with it. With no cause it is of all causes that share it.
func Margin(cause string, t check.Threshold) string {
	m, ok := all.ReadMargins().Of(cause, t)
	if !ok {
		return ""
	}
	if m.With.Count+m.Without.Count == 0 {
		return units.Plural(m.Unknown, "recording") + ", unknown in all"
	}
	var parts []string
	what := "recording"
	if m.With.Count > 0 {
		parts = append(parts, units.Plural(m.With.Count, what)+" with the cause: "+describeSpread(m.With, t))
		what = ""
	}
	if n := m.Without.Count; n > 0 {
		who := units.Count(n)
		if what != "" {
			who = units.Plural(n, what)
		}
		parts = append(parts, who+" without: "+describeSpread(m.Without, t))
	}
	near := "none"
	if m.Near > 0 {
		near = units.Count(m.Near)
	}
	return strings.Join(append(parts, near+" within a fifth of it"), "; ")
}

// describeSpread says on which side of a threshold figures lie.
func describeSpread(s all.Spread, t check.Threshold) string {
	switch s.Reached {
	case s.Count:
		return t.Of(*s.Least) + " or more"
	case 0:
		return t.Of(*s.Most) + " or less"
	}
	return fmt.Sprintf("%s at or above, %s below", units.Count(s.Reached), units.Count(s.Count-s.Reached))
}
