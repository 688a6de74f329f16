package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// swaps are requests that lock two rows; of every few of them (0: none) the database ends the transaction, and they try again after a pause.
func swaps(every int, operation string) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	for i, at := range s.arrivals(12, seconds) {
		w := s.worker(at)
		now := s.call(w, at+300_000, s.vary(500_000), 90, database, "postgresql open "+operation)
		if every > 0 && i%every == 0 {
			now = s.call(w, now+100_000, s.vary(900_000), 90, database, "postgresql failed "+operation)
			now = s.call(w, now+350*ms, s.vary(500_000), 90, database, "postgresql open "+operation)
		}
		now = s.call(w, now+100_000, s.vary(300_000), 12, database, "postgresql idle COMMIT")
		s.request(w, at, now+200_000, 200, "POST /swaps/{id}")
	}
	return s.bytes(seconds)
}

// Statements that lock rows and fail are told of if they do so in slow requests; others are not.
func TestFailedLocks(t *testing.T) {
	for name, x := range map[string]struct {
		text []byte
		want bool
	}{
		"one in five fails":           {swaps(5, "SELECT rooms FOR UPDATE"), true},
		"updates fail":                {swaps(5, "UPDATE rooms"), true},
		"reads fail":                  {swaps(5, "SELECT rooms"), false},
		"none fails":                  {swaps(0, "UPDATE rooms"), false},
		"few fail":                    {swaps(100, "UPDATE rooms"), false},
		"no statement locks anything": {searches(120 * ms), false},
	} {
		c := caseOf(t, x.text)
		f := findFailedLocks(c)
		if (f != nil) != x.want {
			t.Errorf("%s: %+v", name, f)
		}
		if f == nil {
			continue
		}
		v := check.Verdict{Title: "Slow requests wait for a timer.", Fix: []check.Fix{{Text: "shorten the delay"}}}
		f.addTo(c, &v)
		if !strings.Contains(v.Title, " to PostgreSQL at 10.0.0.7:5432 failed, most in slow requests") || !strings.Contains(v.Fix[0].Text, "in the same order") || !strings.Contains(v.Fix[1].Text, "could not serialize") || len(v.Fix) != 3 {
			t.Errorf("%s: %q, %+v", name, v.Title, v.Fix)
		}
	}
}

// What is said of calls that fail is their number.
func TestFewFailed(t *testing.T) {
	if v := judgeRetries(caseOf(t, searches(120*ms))); v.Summary != "no call failed" {
		t.Errorf("%q", v.Summary)
	}
	if v := judgeRetries(caseOf(t, swaps(5, "UPDATE rooms"))); !strings.HasPrefix(v.Summary, "only ") || !strings.HasSuffix(v.Summary, " calls failed") {
		t.Errorf("%q", v.Summary)
	}
}

// The number of calls that requests make is that to one dependency.
func TestCallsToOne(t *testing.T) {
	if v := judgeChatty(caseOf(t, swaps(0, "UPDATE rooms"))); v.Summary != "the median request of GET /orders/{id} makes 1 call to PostgreSQL at 10.0.0.7:5432" {
		t.Errorf("%q", v.Summary)
	}
}
