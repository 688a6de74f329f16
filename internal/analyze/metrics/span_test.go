package metrics

import "testing"

func TestSpans(t *testing.T) {
	var s Spans
	for _, x := range []Span{{10, 20}, {15, 25}, {25, 30}, {40, 50}, {60, 61}} {
		s = s.Add(x.From, x.To)
	}
	if len(s) != 3 {
		t.Fatalf("%v, want three spans", s)
	}
	for _, c := range []struct{ from, to, want int64 }{
		{0, 5, 0}, {0, 10, 0}, {0, 11, 1}, {12, 14, 2}, {30, 40, 0}, {29, 41, 2}, {0, 100, 31}, {61, 70, 0}, {60, 60, 0},
	} {
		if got := s.Within(c.from, c.to); got != c.want {
			t.Errorf("[%d, %d): %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
