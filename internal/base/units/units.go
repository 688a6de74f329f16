// Package units writes numbers for people: three significant digits, thousands separators, times in the unit that fits them (ns to days),
// sizes in binary units. Figures that readers compare share a unit.
//
// Its opinion: an unknown figure is a question mark, never 0; a small figure is not 0 either.
package units

import (
	"math"
	"strconv"
	"strings"
)

// Unknown stands for a figure that is not known.
const Unknown = "?"

// Num writes v with three significant digits, whole digits always in full up
// to 10^15.
func Num(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case v == 0:
		return "0"
	case a >= 1e15 || a < 1e-6:
		return strings.Replace(replaceMinus(strconv.FormatFloat(v, 'g', 3, 64)), "e+", "e", 1)
	case a >= 99.95:
		return groupThousands(strconv.FormatFloat(v, 'f', 0, 64))
	default:
		s := strconv.FormatFloat(v, 'f', countDecimals(a), 64)
		return replaceMinus(strings.TrimRight(strings.TrimRight(s, "0"), "."))
	}
}

// Percent writes a part of one as a percentage with two digits, whole from 10 on, and with more digits where it would round to 100.
func Percent(part float64) string { return formatPercent(100*part) + " %" }

// formatPercent writes a percentage without its sign. Measurements of a service are seldom accurate to more than two digits.
func formatPercent(v float64) string {
	switch a := math.Abs(v); {
	case v > 0 && v < least["%"]:
		return "<" + Num(least["%"])
	case a >= 99.95 && a < 100:
		return Num(math.Copysign(99.9, v)) // not 100
	case a >= 99.5 && a < 100:
		return Num(v)
	case a >= 9.95:
		return Num(math.Round(v))
	case v == 0 || math.IsNaN(v):
		return Num(v)
	default:
		step := math.Pow10(1 - int(math.Floor(math.Log10(a))))
		return Num(math.Round(v*step) / step)
	}
}

// countDecimals returns the number of decimals for three significant digits of a.
func countDecimals(a float64) int {
	if a == 0 {
		return 0
	}
	d := 2 - int(math.Floor(math.Log10(a)))
	if math.Round(a*math.Pow10(d)) >= 1000 { // 9.996 is 10.0
		d--
	}
	return max(0, d)
}

// Fixed writes v with d decimals, for columns. A nonzero value that would round to zero is shown as below the last digit.
func Fixed(v float64, d int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	if least := math.Pow10(-d); v > 0 && v < least/2 {
		return "<" + strconv.FormatFloat(least, 'f', d, 64)
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', d, 64), ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	return groupThousands(whole) + fraction
}

// Count writes a whole number.
func Count[N ~int | ~int64](n N) string { return groupThousands(strconv.FormatInt(int64(n), 10)) }

func groupThousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func replaceMinus(s string) string { return strings.Replace(s, "-", "−", 1) }

// Unit is a unit, with the base units (ns, bytes) in it and the number of it from which it is used.
type Unit struct {
	Name string
	Size float64
	From float64
}

var (
	times = []Unit{{"ns", 1, 1}, {"µs", 1e3, 1}, {"ms", 1e6, 1}, {"s", 1e9, 1}, {"min", 60e9, 10}, {"h", 3600e9, 2}, {"days", 86400e9, 2}}
	sizes = []Unit{{"B", 1, 1}, {"KiB", 1 << 10, 1}, {"MiB", 1 << 20, 1}, {"GiB", 1 << 30, 1}, {"TiB", 1 << 40, 1}}
)

// TimeUnit returns the unit for a time in ns.
func TimeUnit(ns float64) Unit {
	if ns == 0 {
		return times[3]
	}
	return fitUnit(times, ns)
}

// SizeUnit returns the unit for a size in bytes.
func SizeUnit(bytes float64) Unit { return fitUnit(sizes, bytes) }

// fitUnit returns the largest unit of which there are enough after rounding.
func fitUnit(units []Unit, v float64) Unit {
	v = math.Abs(v)
	for i := len(units) - 1; i > 0; i-- {
		if v >= units[i].Size*units[i].From*0.9995 {
			return units[i]
		}
	}
	return units[0]
}

// Time writes a time in ns.
func Time(ns float64) string { return TimeUnit(ns).formatValue(ns) }

// Ms writes a time in ms.
func Ms(ms float64) string { return Time(ms * 1e6) }

// Size writes a number of bytes.
func Size(bytes float64) string { return SizeUnit(bytes).formatValue(bytes) }

// MiB writes sizes for comparison, in one unit.
func MiB(bytes float64) string { return sizes[2].formatValue(bytes) }

func (u Unit) formatValue(v float64) string { return Num(v/u.Size) + " " + u.Name }

// scales are the units of figures, by name: their size in base units, and the scale of the figure. Other units are printed as they are.
var scales = map[string]struct {
	base float64
	unit func(float64) Unit
	per  string
}{
	"ns": {1, TimeUnit, ""}, "us": {1e3, TimeUnit, ""}, "µs": {1e3, TimeUnit, ""}, "ms": {1e6, TimeUnit, ""}, "s": {1e9, TimeUnit, ""},
	"bytes": {1, SizeUnit, ""}, "B": {1, SizeUnit, ""}, "KiB": {1 << 10, SizeUnit, ""}, "MiB": {1 << 20, SizeUnit, ""}, "GiB": {1 << 30, SizeUnit, ""},
	"bytes/s": {1, SizeUnit, "/s"}, "B/s": {1, SizeUnit, "/s"}, "MiB/s": {1 << 20, SizeUnit, "/s"}, "bytes/h": {1, SizeUnit, "/h"},
}

// Scale returns the factor that converts figures of a unit to the unit that fits v, and that unit. Parts of one (unit "1") become
// percentages, rates (unit "1/s") "/s", cores CPUs.
func Scale(unit string, v float64) (factor float64, name string) {
	s, ok := scales[unit]
	switch {
	case ok:
	case unit == "1" && math.Abs(v) > 0 && math.Abs(v) < 1:
		return 100, "%"
	case unit == "1" || unit == "count":
		return 1, ""
	case unit == "cores":
		return 1, "CPUs"
	default:
		return 1, strings.TrimPrefix(unit, "1")
	}
	u := s.unit(v * s.base)
	return s.base / u.Size, u.Name + s.per
}

// Of writes a figure with its unit.
func Of(v float64, unit string) string {
	factor, name := Scale(unit, v)
	return joinUnit(atLeast(v*factor, name), name)
}

// OfOptional is [Of] a figure that may be unknown.
func OfOptional(v *float64, unit string) string {
	if v == nil {
		return Unknown
	}
	return Of(*v, unit)
}

// Range writes "1.31–1.63 ms" in a unit chosen for another figure, with that unit's factor ([Scale]); "" if either end is unknown, one
// figure if both are printed the same.
func Range(low, high *float64, factor float64, unit string) string {
	if low == nil || high == nil {
		return ""
	}
	a, b := atLeast(*low*factor, unit), atLeast(*high*factor, unit)
	if a != b {
		a += "–" + b
	}
	return joinUnit(a, unit)
}

// Change writes "6.4 → 2.7 ms (2.3–3.4)"; an unknown figure is a question mark.
func Change(now, then, low, high *float64, unit string) string {
	var largest float64
	for _, v := range []*float64{now, then} {
		if v != nil && !math.IsInf(*v, 0) && !math.IsNaN(*v) {
			largest = max(largest, math.Abs(*v))
		}
	}
	factor, name := Scale(unit, largest)
	number := func(v *float64) string {
		if v == nil {
			return Unknown
		}
		return atLeast(*v*factor, name)
	}
	text := joinUnit(number(then), name)
	if now != nil {
		text = number(now) + " → " + text
	}
	if low != nil && high != nil && *high*factor >= least[name] {
		if a, b := atLeast(*low*factor, name), atLeast(*high*factor, name); a != b { // equal ends mean an unknown error
			text += " (" + a + "–" + b + ")"
		}
	}
	return text
}

// least is the smallest figure of a unit that is printed: smaller ones are negligible.
var least = map[string]float64{"CPUs": .001, "%": .01}

// atLeast writes a number in the form of its unit, "<0.001" for a negligible one.
func atLeast(v float64, unit string) string {
	if unit == "%" {
		return formatPercent(v)
	}
	if m := least[unit]; v > 0 && v < m {
		return "<" + Num(m)
	}
	return Num(v)
}

// joinUnit writes a number with its unit: "1 CPU", "2 CPUs".
func joinUnit(number, unit string) string {
	switch {
	case unit == "":
		return number
	case number == "1" && len(unit) > len("ms") && !strings.Contains(unit, "/"):
		unit = strings.TrimSuffix(unit, "s")
	}
	return number + " " + unit
}
