package dotnet

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

func TestLock(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    incident
		state string
		says  string
	}{
		{"events and stacks", incident{version: "10.0.0", cores: 2, cpu: 40, waits: 12, locks: 30, stacks: []stack{{1, 1, held}, {12, 12, lock}}},
			check.Supported, "12 of 13 pool threads wait for a lock in Ledger.Append…total time waited for it (12 waits)…its holder was in Shop!Ledger.Append(int), sleeping…held by code that waits"},
		{"events alone", incident{cores: 2, cpu: 40, waits: 12}, check.Supported, "Threads wait for a lock in Ledger.Append"},
		{"stacks alone", incident{cores: 2, stacks: []stack{{1, 1, held}, {2, 12, lock}}, dump: true}, check.Supported, "12 of 13 pool threads wait for a lock in Ledger.Append"},
		{"a holder that works", incident{cores: 2, cpu: 40, waits: 3, stacks: []stack{{1, 1, append([]string{"Shop!Shop.Ledger.Append(int32)"}, dispatch)}, {3, 3, lock}}},
			check.Supported, "its holder was in Shop!Ledger.Append(int), running…do less under this lock"},
		{"a counter of many", incident{cores: 2, locks: 500}, check.Inconclusive, "500 lock contentions per second, but…: unstall record PID"},
		{"a counter of few", incident{cores: 2, locks: .2}, check.RuledOut, "0.2 lock contentions per second"},
		{"short waits", incident{cores: 2, locks: 500, stacks: []stack{{4, 4, works}, {1, 1, idle}}}, check.RuledOut, "no thread waited for a lock"},
		{"tasks", incident{cores: 2, stacks: []stack{{2, 37, result}}}, check.RuledOut, "no thread waited for a lock"},
		{"one thread of many", incident{cores: 2, stacks: []stack{{1, 1, works}}, dump: true}, check.Inconclusive, "the stack of one thread does not show…dotnet-stack"},
		{"nothing", incident{cores: 2}, check.Inconclusive, "lock waits were not recorded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.in.subject(t)
			v := judgeLock(c)
			checktest.Decides(t, "", c, &v)
			text := said(v)
			if v.State != tt.state {
				t.Fatalf("%s, want %s:\n%s", v.State, tt.state, text)
			}
			rest := text
			for _, part := range strings.Split(tt.says, "…") {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Errorf("it does not say %q:\n%s", part, text)
				}
				rest = after
			}
		})
	}
}

func TestWhatALockCosts(t *testing.T) {
	in := incident{cores: 2, cpu: 40, waits: 12, stacks: []stack{{1, 1, held}, {12, 12, lock}}, observed: true,
		requests: []request{{n: 30, dur: 1, kind: evidence.LockWait}, {n: 30, dur: .01, kind: evidence.Running}}}
	v := judgeLock(in.subject(t))
	if v.Saves == nil || v.Saves.Value < 29_900 || v.Saves.Value > 30_000 {
		t.Errorf("30 requests waited a second each: %+v", v.Saves)
	}
}

// TestPoolBehindALock: of two threads one holds the lock and one waits for it, so that whoever
// waits for a thread waits for the lock.
func TestPoolBehindALock(t *testing.T) {
	in := incident{cores: 2, cpu: 50, waits: 1, threads: flat(2), stacks: []stack{{1, 1, append([]string{"Shop!Shop.Ledger.Append(int32)"}, dispatch)}, {1, 1, lock}}, observed: true,
		requests: []request{{n: 30, dur: 1, kind: evidence.ThreadWait}, {n: 30, dur: .01, kind: evidence.Running}}}
	v := judgeLock(in.subject(t))
	if v.State != check.Supported || v.Saves == nil || v.Saves.Value < 29_900 {
		t.Errorf("%s, saves %+v: %s", v.State, v.Saves, v.Summary)
	}
}
