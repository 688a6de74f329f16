package formattest

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Sound checks what every bundle of a format must satisfy: rows
// are about subjects that exist, nothing ends before it begins, the states of a request
// sum to its latency, points of a series are numbers and in order, and an error
// is one line and leaves no rows.
func Sound(t testing.TB, b *evidence.Bundle, err error) {
	t.Helper()
	if err != nil && !oneLine(err) {
		t.Errorf("an error that is not one line: %q", err)
	}
	if n := countRows(b); err != nil && n > 0 {
		t.Errorf("%d rows and an error: %v", n, err)
	}
	about := func(what string, i int, s evidence.SubjectID) {
		if int(s) >= len(b.Subjects) || s < -1 {
			t.Errorf("%s %d is about subject %d of %d", what, i, s, len(b.Subjects))
		}
	}
	checkRequests(t, b, about)
	v := &b.Intervals
	for i := range v.Len() {
		about("interval", i, v.Subject.At(i))
		if v.End[i] < v.Start[i] {
			t.Errorf("interval %d (%s) ends at %d before it begins at %d", i, v.Kind[i], v.End[i], v.Start[i])
		}
	}
	for i, s := range b.Samples.Subject {
		about("sample", i, s)
	}
	for i := range b.Series {
		about("series", i, b.Series[i].Subject)
		checkPoints(t, &b.Series[i])
	}
	for i, f := range b.Facts {
		about("fact", i, f.Subject)
		if f.Key == "" {
			t.Errorf("a fact without a name: %+v", f)
		}
	}
	for i, c := range b.Coverage {
		about("coverage", i, c.Subject)
		if c.Until < c.From || c.Kind == "" || c.Lost < 0 {
			t.Errorf("coverage of %q from %d until %d, %d lost", c.Kind, c.From, c.Until, c.Lost)
		}
	}
	for i := range b.Loads {
		checkLoad(t, &b.Loads[i])
	}
}

func checkRequests(t testing.TB, b *evidence.Bundle, about func(string, int, evidence.SubjectID)) {
	t.Helper()
	for i := range b.Requests.Len() {
		r := b.Requests.Row(i)
		about("request", i, r.Subject)
		if r.End < r.Start {
			t.Errorf("request %d ends before it begins: %+v", i, r)
		}
		var sum int64
		for s := range r.Path.All {
			sum += s.Dur
		}
		if lat := b.Requests.Latency(i); r.Path != nil && sum != lat {
			t.Errorf("request %d took %d ns, its states %d", i, lat, sum)
		}
	}
}

func checkPoints(t testing.TB, s *evidence.Series) {
	t.Helper()
	if len(s.T) != len(s.V) || len(s.T) == 0 || s.Name == "" {
		t.Errorf("series %q has %d times and %d values", s.Name, len(s.T), len(s.V))
		return
	}
	for i, v := range s.V {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v at its point %d", s.Name, v, i)
		}
		if i > 0 && s.T[i] <= s.T[i-1] {
			t.Errorf("%s runs backwards at its point %d", s.Name, i)
		}
	}
}

func checkLoad(t testing.TB, l *evidence.LoadResult) {
	t.Helper()
	if l.Duration < 0 || l.Sent < 0 || l.Completed < 0 || l.Errors < 0 || l.Mean < 0 || l.Max < 0 || !(l.Rate >= 0) || !(l.Offered >= 0) {
		t.Errorf("figures of a load below zero: %+v", l)
	}
	for i, q := range l.Quantiles {
		if !(q.Q > 0 && q.Q < 1) || q.Ns < 0 || i > 0 && q.Q <= l.Quantiles[i-1].Q {
			t.Errorf("quantiles of a load out of order: %v", l.Quantiles)
		}
	}
}

// countRows counts the rows of evidence, without facts and warnings.
func countRows(b *evidence.Bundle) int {
	return b.Requests.Len() + b.Intervals.Len() + b.Samples.Len() + len(b.Series) + len(b.Loads)
}
