package ledger

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestHeldByTheRecorder has a request that is slow only for what the recorder held it, one that is
// slow anyway, and one that the recorder did not meet.
func TestHeldByTheRecorder(t *testing.T) {
	for _, tt := range []struct {
		name     string
		slo      time.Duration
		from, to int64 // ms, of the hold
		took     int64 // ms, of a request that begins at 1,000
		slow     int
		held     int
		charged  int64 // ms
	}{
		{"only by the recorder", 0, 1003, 1043, 44, 0, 1, 0},
		{"by the objective, too", 20 * time.Millisecond, 1003, 1043, 44, 0, 1, 0},
		{"slow anyway", 0, 1005, 1045, 90, 1, 0, 40},
		{"at another time", 0, 2005, 2045, 44, 1, 0, 0},
		{"held, but for too little", 0, 1005, 1010, 44, 1, 0, 5},
	} {
		b := newBundle(evidence.Subject{})
		s := newSource(b, "events", evidence.Clock{Name: "unix"}, 0)
		s.traffic("a", repeat(9, 5*ms)...)
		s.Request(evidence.Request{Subject: s.subject, Route: s.Name("a"), Start: epoch + 1000*ms, End: epoch + (1000+tt.took)*ms})
		for i := range int64(30) {
			at := epoch + (3000+100*i)*ms
			s.Request(evidence.Request{Subject: s.subject, Route: s.Name("a"), Start: at, End: at + 5*ms})
		}
		s.Interval(evidence.Interval{Subject: s.subject, Lane: evidence.AllLanes, Kind: evidence.RecorderHold, Start: epoch + tt.from*ms, End: epoch + tt.to*ms})
		l := one(t, b, Options{SLO: tt.slo})
		if len(l.Slow) != tt.slow || len(l.Held) != tt.held || l.Charges[Recorder] != tt.charged*ms || l.Charges.Sum() != l.Total {
			t.Errorf("%s: %d slow, %d held, charged %d of %d ns", tt.name, len(l.Slow), len(l.Held), l.Charges[Recorder], l.Total)
		}
		if tt.held == 1 && l.HeldTime != (tt.to-tt.from)*ms {
			t.Errorf("%s: held for %d ns", tt.name, l.HeldTime)
		}
	}
}
