package page

import (
	"strconv"
	"strings"
)

// Matches says whether a list of media queries (https://www.w3.org/TR/mediaqueries-5/) is true of a screen
// of this size with one device pixel for each CSS pixel, a mouse, and default preferences. A feature that
// is not known is false, as the standard has it.
func Matches(list string, v Viewport) bool {
	list = strings.ToLower(strings.TrimSpace(list))
	if list == "" {
		return true
	}
	for _, query := range splitTopLevel(list, ',') {
		if matchesQuery(strings.TrimSpace(query), v) {
			return true
		}
	}
	return false
}

func matchesQuery(q string, v Viewport) bool {
	not := false
	if rest, ok := strings.CutPrefix(q, "not "); ok {
		not, q = true, strings.TrimSpace(rest)
	}
	q = strings.TrimSpace(strings.TrimPrefix(q, "only "))
	return matchesCondition(q, v) != not
}

// matchesCondition evaluates types and features joined by and, or by or.
func matchesCondition(q string, v Viewport) bool {
	all := true
	for _, part := range splitAtWord(q, " and ") {
		if alternatives := splitAtWord(part, " or "); len(alternatives) > 1 {
			any := false
			for _, a := range alternatives {
				any = any || matchesCondition(a, v)
			}
			all = all && any
			continue
		}
		all = all && matchesFeature(strings.TrimSpace(part), v)
	}
	return all
}

// splitAtWord splits at a word outside of brackets.
func splitAtWord(q, word string) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(q); i++ {
		switch {
		case q[i] == '(':
			depth++
		case q[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(q[i:], word):
			out = append(out, q[from:i])
			from = i + len(word)
		}
	}
	return append(out, q[from:])
}

func matchesFeature(q string, v Viewport) bool {
	if rest, ok := strings.CutPrefix(q, "not "); ok {
		return !matchesFeature(strings.TrimSpace(rest), v)
	}
	if !strings.HasPrefix(q, "(") {
		return q == "all" || q == "screen"
	}
	q = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(q, "("), ")"))
	if strings.HasPrefix(q, "(") || strings.HasPrefix(q, "not ") {
		return matchesQuery(q, v)
	}
	if strings.ContainsAny(q, "<>") || strings.Contains(q, "=") {
		return matchesRange(q, v)
	}
	name, value, has := strings.Cut(q, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !has {
		switch name {
		case "width", "height", "color", "hover", "any-hover", "pointer", "any-pointer", "scripting":
			return true
		}
		return false
	}
	bare := strings.TrimPrefix(strings.TrimPrefix(name, "min-"), "max-")
	if size, ok := featureSize(bare, v); ok {
		want, ok := lengthOf(value, v)
		switch {
		case !ok:
			return false
		case strings.HasPrefix(name, "min-"):
			return size >= want
		case strings.HasPrefix(name, "max-"):
			return size <= want
		}
		return size == want
	}
	if kept, ok := features[name]; ok {
		return kept == value
	}
	return false
}

// features of a desktop with nothing set.
var features = map[string]string{
	"prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference",
	"prefers-reduced-data": "no-preference", "prefers-reduced-transparency": "no-preference", "forced-colors": "none",
	"hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine", "scripting": "enabled",
	"display-mode": "browser", "orientation": "landscape", "update": "fast", "dynamic-range": "standard", "color-gamut": "srgb",
}

func featureSize(name string, v Viewport) (float64, bool) {
	switch name {
	case "width", "device-width":
		return v.Width, true
	case "height", "device-height":
		return v.Height, true
	case "aspect-ratio", "device-aspect-ratio":
		return v.Width / v.Height, true
	case "resolution", "device-pixel-ratio", "-webkit-device-pixel-ratio", "-webkit-min-device-pixel-ratio":
		return 1, true
	case "color":
		return 8, true
	}
	return 0, false
}

// matchesRange evaluates ranges such as (width >= 600px) and (400px <= width <= 700px).
func matchesRange(q string, v Viewport) bool {
	var terms, operators []string
	from := 0
	for i := 0; i < len(q); i++ {
		if strings.IndexByte("<>=", q[i]) < 0 {
			continue
		}
		terms = append(terms, strings.TrimSpace(q[from:i]))
		op := q[i : i+1]
		if i+1 < len(q) && q[i+1] == '=' {
			op += "="
			i++
		}
		operators = append(operators, op)
		from = i + 1
	}
	terms = append(terms, strings.TrimSpace(q[from:]))
	value := func(t string) (float64, bool) {
		if size, ok := featureSize(t, v); ok {
			return size, true
		}
		return lengthOf(t, v)
	}
	for i, op := range operators {
		a, ok1 := value(terms[i])
		b, ok2 := value(terms[i+1])
		holds := false
		switch op {
		case "<":
			holds = a < b
		case "<=":
			holds = a <= b
		case ">":
			holds = a > b
		case ">=":
			holds = a >= b
		case "=":
			holds = a == b
		}
		if !ok1 || !ok2 || !holds {
			return false
		}
	}
	return true
}

// lengthOf reads a CSS length in pixels, a ratio or a resolution; calc() with sums and products of two.
func lengthOf(s string, v Viewport) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if inner, ok := strings.CutPrefix(s, "calc("); ok {
		return parseCalc(strings.TrimSuffix(inner, ")"), v)
	}
	if a, b, ok := strings.Cut(s, "/"); ok {
		x, ok1 := lengthOf(a, v)
		y, ok2 := lengthOf(b, v)
		return x / y, ok1 && ok2 && y != 0
	}
	for _, u := range []struct {
		name string
		px   float64
	}{{"dppx", 1}, {"dpi", 1.0 / 96}, {"dpcm", 2.54 / 96}, {"px", 1}, {"rem", 16}, {"em", 16}, {"vw", v.Width / 100}, {"vh", v.Height / 100},
		{"cm", 96 / 2.54}, {"mm", 96 / 25.4}, {"in", 96}, {"pt", 96.0 / 72}, {"pc", 16}, {"x", 1}, {"", 1}} {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			x, err := strconv.ParseFloat(number, 64)
			return x * u.px, err == nil
		}
	}
	return 0, false
}

// parseCalc evaluates what stands in calc(): a + b * 2 - c.
func parseCalc(s string, v Viewport) (float64, bool) {
	total, sign := 0.0, 1.0
	for {
		s = strings.TrimSpace(s)
		i, depth := 0, 0
		for ; i < len(s); i++ { // + and - have blanks around them
			if s[i] == '(' {
				depth++
			} else if s[i] == ')' {
				depth--
			}
			if depth == 0 && i > 0 && (s[i] == '+' || s[i] == '-') && s[i-1] == ' ' && i+1 < len(s) && s[i+1] == ' ' {
				break
			}
		}
		product := 1.0
		for factor := range strings.SplitSeq(s[:i], "*") {
			x, ok := lengthOf(factor, v)
			if !ok {
				return 0, false
			}
			product *= x
		}
		total += sign * product
		if i >= len(s) {
			return total, true
		}
		sign = 1
		if s[i] == '-' {
			sign = -1
		}
		s = s[i+1:]
	}
}
