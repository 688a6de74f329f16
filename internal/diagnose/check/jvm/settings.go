package jvm

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// withoutImpossibleAdvice wraps a judge so that it advises no flag that is set already, and
// nothing that another operating system lacks.
func withoutImpossibleAdvice(judge func(*check.Case) check.Verdict) func(*check.Case) check.Verdict {
	return func(c *check.Case) check.Verdict {
		v := judge(c)
		keepFixes(&v, func(f *check.Fix) bool {
			if isNotLinux(c) && (containsAny(f.Setting, linuxOnly) || containsAny(f.Code, linuxOnly)) {
				return false
			}
			return !dropSetFlags(c, &v, f)
		})
		return v
	}
}

// linuxOnly are settings that no other system has.
var linuxOnly = []string{"UseTransparentHugePages", "/sys/", "sysctl ", "/proc/"}

// isNotLinux says whether the JVM is known to run on another system than Linux.
func isNotLinux(c *check.Case) bool {
	f, ok := c.Fact(evidence.FactJVMSystem)
	return ok && f.Value != "linux"
}

// dropSetFlags removes the flags from an advice that the JVM has set already, and says whether
// none is left.
func dropSetFlags(c *check.Case, v *check.Verdict, f *check.Fix) bool {
	flags := strings.Fields(f.Setting)
	if len(flags) == 0 || slices.ContainsFunc(flags, func(s string) bool { return !strings.HasPrefix(s, "-X") }) {
		return false
	}
	has := slices.DeleteFunc(slices.Clone(flags), func(s string) bool { return !isSet(c, s) })
	switch len(has) {
	case 0:
		return false
	case len(flags):
		at, _ := c.Fact(flagName(has[0]))
		v.Evidence = append(v.Evidence, c.Seen("set already: "+f.Setting, at.Origin))
		return true
	}
	f.Setting = strings.Join(slices.DeleteFunc(flags, func(s string) bool { return isSet(c, s) }), " ")
	return false
}

// flagName returns the name of a flag: "UseG1GC" of "-XX:+UseG1GC".
func flagName(s string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(s, "-XX:"), "+-"), "=")
	return name
}

// isSet says whether the JVM is known to have an -XX flag set to that value.
func isSet(c *check.Case, s string) bool {
	rest, ok := strings.CutPrefix(s, "-XX:")
	if !ok {
		return false
	}
	f, known := c.Fact(flagName(s))
	switch {
	case !known:
		return false
	case rest[0] == '+':
		return f.Value == "true"
	case rest[0] == '-':
		return f.Value == "false"
	}
	_, value, _ := strings.Cut(rest, "=")
	return f.Value == value
}

// keepFixes removes the fixes for which is returns false, and their predictions.
func keepFixes(v *check.Verdict, match func(*check.Fix) bool) {
	at := make(map[int]int) // of the fixes that stay, where they stood
	var fixes []check.Fix
	for i := range v.Fix {
		if f := v.Fix[i]; match(&f) {
			at[i] = len(fixes)
			fixes = append(fixes, f)
		}
	}
	if len(fixes) == len(v.Fix) {
		v.Fix = fixes
		return
	}
	v.Prediction = slices.DeleteFunc(v.Prediction, func(p check.Prediction) bool {
		if p.Anyway {
			return false
		}
		of := 0
		if p.Fix != nil {
			of = *p.Fix
		}
		_, stays := at[of]
		return !stays
	})
	for i := range v.Prediction {
		if p := &v.Prediction[i]; p.Fix != nil {
			to := at[*p.Fix]
			p.Fix = &to
		}
	}
	v.Fix = fixes
}
