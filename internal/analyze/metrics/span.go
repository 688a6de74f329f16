package metrics

import (
	"cmp"
	"slices"
)

// Span is a stretch of time, [From, To), in ns.
type Span struct{ From, To int64 }

// Spans are stretches of time, sorted and disjoint.
type Spans []Span

// Add appends a span that begins no earlier than the last, and merges spans that meet.
func (s Spans) Add(from, to int64) Spans {
	if n := len(s); n > 0 && from <= s[n-1].To {
		s[n-1].To = max(s[n-1].To, to)
		return s
	}
	return append(s, Span{from, to})
}

// Within returns how much of [from, to) lies inside the spans.
func (s Spans) Within(from, to int64) (sum int64) {
	i, _ := slices.BinarySearchFunc(s, from, func(x Span, t int64) int { return cmp.Compare(x.To, t) })
	for ; i < len(s) && s[i].From < to; i++ {
		sum += max(0, min(to, s[i].To)-max(from, s[i].From))
	}
	return sum
}

// withSpan adds a span to others that may lie before and after it.
func (s Spans) withSpan(from, to int64) (out Spans) {
	all := append(slices.Clone(s), Span{From: from, To: to})
	slices.SortStableFunc(all, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, x := range all {
		out = out.Add(x.From, x.To)
	}
	return out
}

// Time returns the total length of the spans.
func (s Spans) Time() (sum int64) {
	for _, x := range s {
		sum += x.To - x.From
	}
	return sum
}
