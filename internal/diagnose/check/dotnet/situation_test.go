package dotnet

import (
	"errors"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/diagnose/check"
)

func situation(c *check.Case) (threadpool.Situation, error) {
	return threadpool.ProcessOf(c.Bundle, c.Subject, c.Ledger, c.Threads()).Situation()
}

func TestSituation(t *testing.T) {
	blocked := incident{version: "8.0.1", cores: 2, threads: ramp(30, 4), cpu: 4, inFlight: 125, stacks: []stack{{30, 70, result}, {2, 2, idle}}}
	for _, tt := range []struct {
		name    string
		in      func() incident
		pattern threadpool.Pattern
		waits   string
	}{
		{"task", func() incident { return blocked }, threadpool.TaskWait, "CartController.Get on .Result"},
		{"sleep", func() incident { in := blocked; in.stacks = []stack{{20, 40, sleep}}; return in }, threadpool.SleepWait, "CartController.Poll on Thread.Sleep"},
		{"idle", func() incident { in := blocked; in.threads = flat(4); in.stacks = []stack{{3, 3, idle}}; return in }, threadpool.Await, ""},
		{"no stacks, waits for tasks", func() incident {
			in := blocked
			in.stacks, in.reasons = nil, []string{metrics.CooperativeBlocking, metrics.CooperativeBlocking, metrics.CooperativeBlocking}
			return in
		}, threadpool.TaskWait, "pool threads wait for tasks"},
		{"no stacks, other waits", func() incident {
			in := blocked
			in.stacks, in.reasons = nil, []string{metrics.Starvation, metrics.Starvation, metrics.Starvation}
			return in
		}, threadpool.SleepWait, "not in waits for tasks"},
	} {
		s, err := situation(tt.in().subject(t))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if s.Case.Pattern != tt.pattern || !strings.Contains(s.Waits, tt.waits) || s.Case.Cores != 2 || s.Case.Version != "8.0.1" || s.Case.Connections < 100 {
			t.Errorf("%s: %+v %q, want %s and %q", tt.name, s.Case, s.Waits, tt.pattern, tt.waits)
		}
	}
}

// What a request needs is never invented.
func TestSituationUnknown(t *testing.T) {
	in := incident{version: "3.1.2", cores: 2, threads: ramp(3, 1), cpu: 4, inFlight: 125, stacks: []stack{{5, 12, result}}}
	s, err := situation(in.subject(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ask("shop", nil); !errors.Is(err, threadpool.ErrServiceTime) {
		t.Errorf("without a service time: %v", err)
	}
	in.stacks = []stack{{5, 12, lock}}
	if _, err := situation(in.subject(t)); err == nil || !strings.Contains(err.Error(), "Ledger.Append") {
		t.Errorf("a lock: %v", err)
	}
	if _, err := situation(incident{version: "3.1.2", cores: 2}.subject(t)); !errors.Is(err, threadpool.ErrNoPool) {
		t.Errorf("nothing recorded: %v", err)
	}
}
