package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Long statements that are answered together wait for a lock of the table; those that end one by one take long by their plans.
func TestAnsweredTogether(t *testing.T) {
	for name, x := range map[string]struct {
		ended    func(wave, n int64) int64 // ns after the wave began
		ports    int64
		together bool
	}{
		"let go at once":              {func(_, n int64) int64 { return 300*ms + n*ms/10 }, 8, true},
		"one after the other":         {func(_, n int64) int64 { return 100*ms + n*30*ms }, 8, false},
		"together, on one connection": {func(_, n int64) int64 { return 300*ms + n*ms/10 }, 1, false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
		to, operation := p.Name("PostgreSQL at 10.0.0.9:5432"), p.Name("SELECT fares")
		p.Close()
		calls := &exchanged{from: epoch, until: epoch + 20_000*ms}
		for i := range int64(1000) {
			at := epoch + i*20*ms
			calls.calls = append(calls.calls, exchangedCall{to: to, operation: operation, port: 40000 + i%4, begun: at, arrived: at + ms, end: at + ms})
		}
		for wave := range int64(5) {
			for n := range int64(8) {
				began := epoch + wave*4000*ms
				end := began + x.ended(wave, n)
				calls.calls = append(calls.calls, exchangedCall{to: to, operation: operation, port: 50000 + n%x.ports, begun: began + n*2*ms, arrived: end, end: end})
			}
		}
		if share, together := answeredTogether(calls, b.Names, "PostgreSQL at 10.0.0.9:5432 (SELECT fares)"); together != x.together {
			t.Errorf("%s: %v, %v", name, share, together)
		}
		if _, together := answeredTogether(calls, b.Names, "MySQL/MariaDB at 10.0.0.9:3306"); together {
			t.Errorf("%s: of another database", name)
		}
	}
}

// Advice about locks says where the database tells who holds them.
func TestWhoHoldsLocks(t *testing.T) {
	for whom, want := range map[string]string{"PostgreSQL at a:1 (SELECT x)": "pg_blocking_pids", "MySQL/MariaDB at a:1": "PROCESSLIST", "Oracle at a:1": "its view"} {
		if !isDatabase(whom) || !strings.Contains(whoHoldsLocks(whom), want) {
			t.Errorf("%s: %s", whom, whoHoldsLocks(whom))
		}
	}
	if isDatabase("Redis at a:1") || boundFor(&check.Case{}, nil, "Redis at a:1").Text != boundOf("Redis at a:1").Text {
		t.Error("Redis has no locks of tables")
	}
}
