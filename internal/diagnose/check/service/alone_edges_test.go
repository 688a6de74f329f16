package service

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

type (
	figures = checktest.Figures
	row     = checktest.Row
)

// What a server's own log tells of it is a finding from its thresholds on: just below one of them it is none.
func TestToldByLogEdges(t *testing.T) {
	none := check.Rule{} // it is not told
	for _, x := range []struct {
		cause check.Check
		facts figures
		text  string
		row
	}{
		{PoolExhausted, figures{evidence.FactPlacesUsedUp: 1}, "connection slots" + evidence.Link + "max_connections", row{About: "all places were taken", Rule: check.StandsAlone, ID: "pool.used_up_lines", Figure: 1, Says: "All connection slots of orders are in use at times"}},
		{PoolExhausted, figures{evidence.FactPlacesUsedUp: 1}, "connection slots" + evidence.Link + "max_connections", row{About: "what sets them", Rule: check.StandsAlone, Says: ": max_connections"}},
		{PoolExhausted, figures{evidence.FactPlacesUsedUp: 4, evidence.FactPlaces: 100}, "connection slots", row{About: "how many there are", Rule: check.StandsAlone, ID: "pool.places", Figure: 100, Says: "All 100 connection slots"}},
		{PoolExhausted, figures{evidence.FactPlacesUsedUp: 0, evidence.FactPlaces: 100}, "connection slots", row{About: "never all of them", Rule: none}},
		{PoolExhausted, figures{evidence.FactWorkersBlockedTogether: 3, evidence.FactWorkersBlocked: 7}, "", row{About: "three workers at once", Rule: check.StandsAlone, ID: "workers.blocked_times", Figure: 7, Says: "3 workers of orders were blocked at the same time"}},
		{PoolExhausted, figures{evidence.FactWorkersBlockedTogether: 2, evidence.FactWorkersBlocked: 70}, "", row{About: "two workers at once", Rule: none}},
		{PoolExhausted, figures{evidence.FactPlacesUsedUp: 1}, "places in the accept queue" + evidence.Link + "backlog", row{About: "places in an accept queue", Rule: none}},
		{AcceptQueue, figures{evidence.FactPlacesUsedUp: 1}, "places in the accept queue" + evidence.Link + "backlog", row{About: "places in an accept queue", Rule: check.StandsAlone, ID: "listen.refused_lines", Figure: 1, Says: "The accept queue of orders is full at times"}},
		{AcceptQueue, figures{evidence.FactPlacesUsedUp: 1}, "connections" + evidence.Link + "backlog", row{About: "other places", Rule: none}},

		{RowLock, figures{evidence.FactLockWaitMost: 10.1e9}, "", row{About: "a wait of ten seconds", Rule: check.StandsAlone, ID: "database.lock_wait_ms", Figure: 10_100, Says: "wait for what other transactions have locked, up to 10.1 s"}},
		{RowLock, figures{evidence.FactLockWaitMost: 9.9e9}, "", row{About: "one of not quite ten seconds", Rule: none}},
		{RowLock, figures{evidence.FactLockWaitMost: 1.01e9, evidence.FactLockWaits: 1}, "", row{About: "a wait of a second that it told of", Rule: check.StandsAlone, ID: "database.lock_waits", Figure: 1}},
		{RowLock, figures{evidence.FactLockWaitMost: .99e9, evidence.FactLockWaits: 9}, "", row{About: "waits of less than a second", Rule: none}},
		{RowLock, figures{evidence.FactLockWaitMost: 1.01e9, evidence.FactLockWaits: 1, evidence.FactDeadlocks: 2, evidence.FactLockTimeouts: 3}, "", row{About: "waits, deadlocks and time-outs", Rule: check.StandsAlone, ID: evidence.FactDeadlocks, Figure: 2, Says: "up to 1.01 s"}},
		{RowLock, figures{evidence.FactLockTimeouts: 3}, "", row{About: "time-outs", Rule: check.StandsAlone, ID: "database.lock_timeouts", Figure: 3, Says: "until they give up: 3 time-outs"}},
		{RowLock, figures{evidence.FactTableLockWaits: 3, evidence.FactLockWaits: 3}, "", row{About: "three wait for a table", Rule: check.StandsAlone, ID: "database.table_lock_waits", Figure: 3, Says: "wait for the lock of a whole table"}},
		{RowLock, figures{evidence.FactTableLockWaits: 2, evidence.FactLockWaits: 9}, "", row{About: "two wait for a table", Rule: none}},
		{RowLock, figures{evidence.FactDeadlocks: 1}, "", row{About: "a deadlock", Rule: check.StandsAlone, ID: evidence.FactDeadlocks, Figure: 1, Says: "1 deadlock, each ended"}},
		{RowLock, figures{evidence.FactDeadlocks: 0}, "", row{About: "no deadlock", Rule: none}},

		{DependencySlow, figures{evidence.FactCallsUnansweredDense: 3, evidence.FactCallsUnanswered: 9}, "", row{About: "three calls in a minute", Rule: check.StandsAlone, ID: "calls.unanswered", Figure: 9, Says: "orders gives no answer in time: 3 calls within a minute"}},
		{DependencySlow, figures{evidence.FactCallsUnansweredDense: 2, evidence.FactCallsUnanswered: 90}, "", row{About: "two calls in each minute", Rule: none}},
		{DependencySlow, figures{evidence.FactPhaseMost: 1.01e9, evidence.FactPhaseOf: 2e9}, evidence.PhaseConnect, row{About: "a second of two to connect", Rule: check.StandsAlone, ID: "request.phase_ms", Figure: 1010, Says: "1.01 s of 2 s in connecting: it depends on the network"}},
		{DependencySlow, figures{evidence.FactPhaseMost: .99e9, evidence.FactPhaseOf: 1e9}, evidence.PhaseConnect, row{About: "not quite a second to connect", Rule: none}},
		{DependencySlow, figures{evidence.FactPhaseMost: 1.01e9, evidence.FactPhaseOf: 2.1e9}, evidence.PhaseConnect, row{About: "not half of the time to connect", Rule: none}},
		{DependencySlow, figures{evidence.FactPhaseMost: 1.01e9, evidence.FactPhaseOf: 2e9}, evidence.PhaseLookup, row{About: "to look up the name", Rule: check.StandsAlone, Says: "single-request-reopen"}},
		{DependencySlow, figures{evidence.FactPhaseMost: 1.01e9, evidence.FactPhaseOf: 2e9}, evidence.PhaseHandshake, row{About: "to agree on keys", Rule: check.StandsAlone, Says: "OCSP"}},
		{DependencySlow, figures{evidence.FactPhaseMost: 1.9e9, evidence.FactPhaseOf: 2e9}, "waiting for the first byte", row{About: "in the server itself", Rule: none}},
		{DependencySlow, figures{evidence.FactOpsStuckMost: 10.1e9, evidence.FactOpsStuck: 4}, "", row{About: "operations of ten seconds", Rule: check.StandsAlone, ID: "storage.stuck_ms", Figure: 10_100, Says: "orders does not answer: operations have waited for up to 10.1 s"}},
		{DependencySlow, figures{evidence.FactOpsStuckMost: 9.9e9, evidence.FactOpsStuck: 400}, "", row{About: "operations of less", Rule: none}},
		{DependencySlow, figures{evidence.FactTasksAwaitFiles: 1}, "read", row{About: "a task and its file server", Rule: check.StandsAlone, ID: evidence.FactTasksAwaitFiles, Figure: 1, Says: "1 task waits in the kernel for it, in read"}},
		{DependencySlow, figures{evidence.FactTasksAwaitFiles: 3}, "", row{About: "tasks and their file server", Rule: check.StandsAlone, Says: "3 tasks wait in the kernel for it."}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 2, evidence.FactStatementMost: 1.01e9}, "SELECT a", row{About: "two statements of a second", Rule: check.StandsAlone, ID: "database.slow_statements", Figure: 2, Says: "2 statements took up to 1.01 s"}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 1, evidence.FactStatementMost: 1.01e9}, "SELECT a", row{About: "one statement of a second", Rule: none}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 9, evidence.FactStatementMost: .99e9}, "SELECT a", row{About: "statements of less than a second", Rule: none}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 1, evidence.FactStatementMost: 10.1e9}, "SELECT a", row{About: "one statement of ten seconds", Rule: check.StandsAlone, ID: "database.slowest_ms", Figure: 10_100, Says: "1 statement took up to 10.1 s"}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 1, evidence.FactStatementMost: 9.9e9}, "SELECT a", row{About: "one of not quite ten seconds", Rule: none}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 2, evidence.FactStatementMost: 10e9, evidence.FactLockWaitMost: 5.1e9, evidence.FactLockWaits: 1}, "UPDATE a", row{About: "half of it behind a lock", Rule: check.StandsAlone, ID: "database.lock_wait_ms", Figure: 5100, Says: "wait for locks of others, up to 5.1 s"}},
		{DependencySlow, figures{evidence.FactStatementsSlow: 2, evidence.FactStatementMost: 10e9, evidence.FactLockWaitMost: 4.9e9, evidence.FactLockWaits: 1}, "UPDATE a", row{About: "less of it behind a lock", Rule: check.StandsAlone, Says: "orders answers slowly"}},
		{DependencySlow, figures{evidence.FactCheckpointSync: 10.1e9, evidence.FactCheckpointMost: 30e9}, "", row{About: "a sync of ten seconds", Rule: check.StandsAlone, ID: "database.checkpoint_sync_ms", Figure: 10_100, Says: "the sync of one file took 10.1 s"}},
		{DependencySlow, figures{evidence.FactCheckpointSync: 9.9e9, evidence.FactCheckpointMost: 30e9}, "", row{About: "a sync of less", Rule: none}},
		{DependencySlow, figures{evidence.FactCheckpointSync: 3e9, evidence.FactCheckpointSyncs: 2}, "", row{About: "two syncs of 2 s", Rule: check.StandsAlone, Says: "checkpoint_completion_target"}},
		{DependencySlow, figures{evidence.FactCheckpointSync: 3e9, evidence.FactCheckpointSyncs: 1}, "", row{About: "one sync of 2 s", Rule: none}},
		{DependencySlow, figures{evidence.FactCheckpointSync: 11e9, evidence.FactStatementsSlow: 2, evidence.FactStatementMost: 12e9}, "SELECT a", row{About: "a statement that is longer than a sync", Rule: check.StandsAlone, Says: "orders answers slowly"}},

		{AcceptQueue, figures{evidence.FactKernelSaid: 10}, "listen-queue", row{About: "ten connections were dropped", Rule: check.StandsAlone, ID: "listen.dropped_told", Figure: 10, Says: "dropped connections: 10 times"}},
		{AcceptQueue, figures{evidence.FactKernelSaid: 9}, "listen-queue", row{About: "nine were", Rule: none}},
		{AcceptQueue, figures{evidence.FactKernelSaid: 90}, "conntrack", row{About: "the kernel said something else", Rule: none}},
	} {
		c := checktest.Told{Of: evidence.Subject{Kind: evidence.Dependency, Name: "orders"}, Facts: x.facts, Text: x.text}.Case()
		v, ok := x.cause.JudgeHost(c)
		switch {
		case x.Rule == none && ok:
			t.Errorf("%s: %s: %s: %s", x.cause.ID, x.About, v.Answer, v.Title)
		case x.Rule != none && !ok:
			t.Errorf("%s: %s: it is not told", x.cause.ID, x.About)
		case ok:
			x.Judged(t, &x.cause, c, &v)
		}
	}
	for _, cause := range []check.Check{RowLock, DependencySlow} { // of a process it is not its own
		c := checktest.Told{Of: evidence.Subject{Name: "shop"}, Facts: figures{evidence.FactLockWaitMost: 20e9, evidence.FactLockWaits: 5, evidence.FactDeadlocks: 2}}.Case()
		if v, ok := cause.JudgeHost(c); ok {
			t.Errorf("%s of a process: %s", cause.ID, v.Title)
		}
	}
}

// One look at a process, or its own words, where no requests were recorded.
func TestToldByLookEdges(t *testing.T) {
	full := figures{"pool/active:db": 10, "pool/max:db": 10, "pool/pending:db": 5.1}
	queue := figures{evidence.FactGoSchedLooks: 3, evidence.FactGoReady: 12.1, evidence.FactGoBusy: .96}
	unknown := math.NaN()
	for _, x := range []struct {
		cause    check.Check
		series   figures
		facts    figures
		text     string
		readings int
		row
	}{
		{PoolExhausted, full, nil, "", 0, row{About: "half as many wait as it has", Rule: check.Matters, ID: "pool.waiting", Figure: 5.1, Says: "an exhausted pool: db, 5.1 on average"}},
		{PoolExhausted, full.With(figures{"pool/pending:db": 4.9}), nil, "", 0, row{About: "fewer wait", Rule: check.CostUnknown, ID: "pool.full_share", Figure: 1, Says: "at most 10 of 10 connections in use, 4.9 waiting on average (11 readings)"}},
		{PoolExhausted, full, nil, "", 5, row{About: "five readings", Rule: check.Matters}},
		{PoolExhausted, full, nil, "", 4, row{About: "four readings", Rule: check.CostUnknown}},
		{PoolExhausted, full.With(figures{"pool/max:db": 1, "pool/active:db": 1, "pool/pending:db": .9}), nil, "", 0, row{About: "not one waits", Rule: check.CostUnknown}},
		{PoolExhausted, full.With(figures{"pool/active:db": 9}), nil, "", 0, row{About: "one is free", Rule: check.CostUnknown, ID: "pool.full_share", Figure: 0}},
		{PoolExhausted, full.With(figures{"pool/pending:db": unknown}), nil, "", 0, row{About: "whether any waits is not known", Rule: check.CostUnknown, Says: "whether requests waited was not recorded"}},
		{PoolExhausted, full.With(figures{"pool/active:db": 9, "pool/pending:db": unknown}), nil, "", 1, row{About: "nearly full at one look, and whether any waits is not known", Rule: check.OneLook, Says: "at most 9 of 10 connections in use"}},
		{PoolExhausted, full.With(figures{"pool/active:db": 4, "pool/pending:db": unknown}), nil, "", 1, row{About: "half empty at one look", Rule: check.Absent}},
		{PoolExhausted, full.With(figures{"pool/active:db": 7, "pool/pending:db": 0}), nil, "", 0, row{About: "some are free, and none waits", Rule: check.Absent, ID: "pool.most_in_use", Figure: 7, Says: "at most 7 of 10 connections in use, none waited"}},
		{PoolExhausted, figures{"pool/active:db": 7}, nil, "", 0, row{About: "how many there are is not known", Rule: check.NotRecorded, ID: "pool.most_in_use", Figure: 7, Says: "the size of the pool"}},
		{PoolExhausted, figures{"pool/pending:db": 10.1}, nil, "", 1, row{About: "ten wait for a pool of any size", Rule: check.Matters, ID: "pool.waiting", Figure: 10.1, Says: "more readings of the pool"}},
		{PoolExhausted, figures{"pool/pending:db": 9.9}, nil, "", 1, row{About: "fewer wait for a pool of any size", Rule: check.CostUnknown, Says: "(1 reading)"}},
		{PoolExhausted, nil, figures{evidence.FactPoolTimedOut: 3, evidence.FactPoolTimeout: 30e9}, "db", 0, row{About: "some gave up", Rule: check.StandsAlone, ID: "pool.timeout_ms", Figure: 30_000, Says: "db, and give up after 30 s"}},
		{PoolExhausted, full.With(figures{"pool/pending:db": 0}), figures{evidence.FactPoolTimedOut: 3}, "db", 0, row{About: "some gave up, and none waits at a reading", Rule: check.StandsAlone, ID: "pool.gave_up", Figure: 3, Says: "db, and give up."}},
		{PoolExhausted, full.With(figures{"pool/active:db": 5, "pool/pending:db": 0}), figures{evidence.FactPoolTimedOut: 3}, "db", 0, row{About: "some gave up, and half are in use", Rule: check.StandsAlone}},
		{PoolExhausted, full.With(figures{"pool/active:db": 4, "pool/pending:db": 0}), figures{evidence.FactPoolTimedOut: 3}, "db", 0, row{About: "some gave up, and most are free", Rule: check.CostUnknown}},
		{PoolExhausted, full.With(figures{"pool/active:db": 0, "pool/pending:db": 0}), figures{evidence.FactPoolTimedOut: 3}, "db", 0, row{About: "some gave up, and none is in use", Rule: check.Untold, ID: "pool.gave_up", Figure: 3, Says: "opening them may fail"}},
		{PoolExhausted, nil, nil, "", 0, row{About: "nothing is known", Rule: check.NotRecorded}},
		{PoolExhausted, nil, figures{evidence.FactQueuedLong: 3, evidence.FactQueuedLongMost: 20e9}, "backend", 0, row{About: "three requests in a proxy's queue", Rule: check.StandsAlone, ID: "pool.queued_long", Figure: 3, Says: "3 requests waited in the proxy's own queue for a place at backend, up to 20 s"}},
		{PoolExhausted, nil, figures{evidence.FactQueuedLong: 2, evidence.FactQueuedLongMost: 20e9}, "backend", 0, row{About: "two requests in a proxy's queue", Rule: check.NotRecorded}},

		{DependencySlow, nil, figures{evidence.FactSlowAwait: 3, evidence.FactSlowSeen: 6}, "pay()", 0, row{About: "half of the slow log waits at one place", Rule: check.StandsAlone, ID: "requests.await_network", Figure: 3, Says: "3 of 6 requests that took too long were waiting for it in pay()"}},
		{DependencySlow, nil, figures{evidence.FactSlowAwait: 3, evidence.FactSlowSeen: 7}, "pay()", 0, row{About: "less than half of it", Rule: check.NotRecorded}},
		{Waiting, nil, figures{evidence.FactSlowLocked: 3, evidence.FactSlowSeen: 6}, "flock (Store.php:7)", 0, row{About: "half of the slow log waits for a lock", Rule: check.StandsAlone, ID: "requests.await_lock", Figure: 3, Says: "3 of 6 requests that took too long were waiting in flock (Store.php:7)"}},
		{Waiting, nil, figures{evidence.FactSlowLocked: 3, evidence.FactSlowSeen: 7}, "flock (Store.php:7)", 0, row{About: "less than half of it waits for a lock", Rule: check.NotRecorded}},
		{Waiting, nil, figures{evidence.FactSlowLocked: 2, evidence.FactSlowSeen: 2}, "flock (Store.php:7)", 0, row{About: "two requests that wait for a lock", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactSlowAwait: 2, evidence.FactSlowSeen: 2}, "pay()", 0, row{About: "two requests", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactSlowAwait: 1, evidence.FactSlowSeen: 1, evidence.FactSlowMost: 10e9}, "pay()", 0, row{About: "one request of ten seconds", Rule: check.StandsAlone, ID: "requests.await_network_ms", Figure: 10_000, Says: "a request that took too long was waiting for it in pay()"}},
		{DependencySlow, nil, figures{evidence.FactSlowAwait: 1, evidence.FactSlowSeen: 1, evidence.FactSlowMost: 9.9e9}, "pay()", 0, row{About: "one that is shorter", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactSlowAwait: 1, evidence.FactSlowSeen: 3, evidence.FactSlowMost: 600e9}, "pay()", 0, row{About: "one of three", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactThreadsAwait: 3, evidence.FactThreadsBusy: 6}, "shop.pay", 0, row{About: "half of the busy threads wait at one place", Rule: check.StandsAlone, ID: "threads.await_network", Figure: 3, Says: "3 of 6 threads at work wait for the network in shop.pay"}},
		{DependencySlow, nil, figures{evidence.FactThreadsAwait: 3, evidence.FactThreadsBusy: 7}, "shop.pay", 0, row{About: "less than half of them", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactThreadsAwait: 2, evidence.FactThreadsBusy: 2}, "shop.pay", 0, row{About: "two threads", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactLookupsUnanswered: 2, evidence.FactLookupUnansweredMost: 1.01e9}, "", 0, row{About: "a second for a name server", Rule: check.StandsAlone, ID: "lookups.unanswered_ms", Figure: 1010, Says: "in vain for up to 1.01 s"}},
		{DependencySlow, nil, figures{evidence.FactLookupsUnanswered: 2, evidence.FactLookupUnansweredMost: .99e9}, "", 0, row{About: "not quite a second for a name server", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactConnectingMost: 5.1e9}, "Druid", 0, row{About: "five seconds to connect", Rule: check.StandsAlone, ID: "connecting.longest_ms", Figure: 5100, Says: "The database of the Druid pool accepts no connection"}},
		{DependencySlow, nil, figures{evidence.FactConnectingMost: 4.9e9}, "Druid", 0, row{About: "not quite five seconds", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactWallProfile: .51, evidence.FactWallProfileTime: 1.01e9}, evidence.WallNetwork + evidence.Link + "requests.get", 0, row{About: "half of a profile", Rule: check.StandsAlone, ID: "profile.function_share", Figure: .51, Says: "51 % of 1.01 s in requests.get"}},
		{DependencySlow, nil, figures{evidence.FactWallProfile: .49, evidence.FactWallProfileTime: 1.01e9}, evidence.WallNetwork + evidence.Link + "requests.get", 0, row{About: "not quite half of a profile", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactWallProfile: .51, evidence.FactWallProfileTime: .99e9}, evidence.WallNetwork + evidence.Link + "requests.get", 0, row{About: "of less than a second", Rule: check.NotRecorded}},
		{DependencySlow, nil, figures{evidence.FactWallProfile: .51, evidence.FactWallProfileTime: 1.01e9}, evidence.WallSleep + evidence.Link + "time.sleep", 0, row{About: "a profile of code that sleeps", Rule: check.NotRecorded}},

		{Waiting, nil, figures{evidence.FactWallProfile: .51, evidence.FactWallProfileTime: 1.01e9}, evidence.WallSleep + evidence.Link + "time.sleep", 0, row{About: "half of a profile", Rule: check.StandsAlone, ID: "profile.time_ms", Figure: 1010, Says: "The code sleeps: 51 % of 1.01 s in time.sleep"}},
		{Waiting, nil, figures{evidence.FactGoDeadlock: 4}, "chan send" + evidence.Link + "shop.Push", 0, row{About: "all goroutines wait", Rule: check.StandsAlone, ID: "goroutines.deadlocked", Figure: 4, Says: "chan send in shop.Push"}},
		{Waiting, nil, figures{evidence.FactThreadsLocked: 3, evidence.FactThreadsSeen: 6}, "Index::get", 0, row{About: "half of the threads wait for a mutex", Rule: check.StandsAlone, ID: "threads.wait_mutex", Figure: 3, Says: "3 of 6 threads wait for a mutex, some in Index::get"}},
		{Waiting, nil, figures{evidence.FactThreadsLocked: 3, evidence.FactThreadsSeen: 7}, "Index::get", 0, row{About: "less than half of them", Rule: check.NotRecorded}},
		{Waiting, nil, figures{evidence.FactThreadsLocked: 2, evidence.FactThreadsSeen: 2}, "Index::get", 0, row{About: "two threads", Rule: check.NotRecorded}},

		{OwnWork, nil, figures{evidence.FactWallProfile: .51, evidence.FactWallProfileTime: 1.01e9}, evidence.WallRun + evidence.Link + "price.sum", 0, row{About: "half of a profile", Rule: check.StandsAlone, Says: "computes: 51 % of 1.01 s in price.sum itself"}},
		{OwnWork, nil, figures{evidence.FactThreadsHot: 2}, "Scorer.score", 0, row{About: "two threads in one function", Rule: check.StandsAlone, ID: evidence.FactThreadsHot, Figure: 2, Says: "2 threads of a node use a whole CPU each, all in Scorer.score"}},
		{OwnWork, nil, figures{evidence.FactThreadsHot: 1}, "Scorer.score", 0, row{About: "one thread", Rule: check.NotRecorded}},
		{OwnWork, nil, figures{evidence.FactOwnLong: 2, evidence.FactOwnLongMost: 1.01e9, evidence.FactOwnLongPart: .51}, "orders#index", 0, row{About: "two requests of a second", Rule: check.StandsAlone, ID: "requests.own_longest_ms", Figure: 1010, Says: "works for 51 % of its slow requests, which take up to 1.01 s: orders#index"}},
		{OwnWork, nil, figures{evidence.FactOwnLong: 1, evidence.FactOwnLongMost: 9.9e9, evidence.FactOwnLongPart: .51}, "orders#index", 0, row{About: "one of not quite ten", Rule: check.NotRecorded}},
		{OwnWork, nil, figures{evidence.FactOwnLong: 1, evidence.FactOwnLongMost: 10.1e9, evidence.FactOwnLongPart: .51}, "orders#index", 0, row{About: "one of ten", Rule: check.StandsAlone}},
		{OwnWork, nil, figures{evidence.FactOwnLong: 9, evidence.FactOwnLongMost: .99e9, evidence.FactOwnLongPart: .51}, "orders#index", 0, row{About: "of less than a second", Rule: check.NotRecorded}},
		{OwnWork, nil, figures{evidence.FactOwnLong: 2, evidence.FactOwnLongMost: 1.01e9, evidence.FactOwnLongPart: .49}, "orders#index", 0, row{About: "most of it calls", Rule: check.NotRecorded}},

		{OverCapacity, nil, queue, "", 0, row{About: "three goroutines for a P", Rule: check.Matters, ID: "process.ready_goroutines", Figure: 12.1, Says: "more to run than 4 CPUs can"}},
		{OverCapacity, nil, queue.With(figures{evidence.FactGoReady: 11.9}), "", 0, row{About: "fewer goroutines", Rule: check.NotRecorded}},
		{OverCapacity, nil, queue.With(figures{evidence.FactGoBusy: .94}), "", 0, row{About: "Ps are idle", Rule: check.NotRecorded}},
		{OverCapacity, nil, queue.With(figures{evidence.FactGoSchedLooks: 2}), "", 0, row{About: "two looks", Rule: check.NotRecorded}},

		{BlockedLoop, nil, figures{evidence.FactLoopBlocked: 1}, "read a socket" + evidence.Link + "app.index", 0, row{About: "it stands in a call", Rule: check.StandsAlone, ID: "loop.standing_threads", Figure: 1, Says: "is blocked in app.index, in a call that blocks: it is to read a socket there"}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 5, evidence.FactLoopHeldMost: .3e9, evidence.FactLoopHeldShare: .11}, "app.index", 0, row{About: "held for a tenth of the time", Rule: check.StandsAlone, ID: "loop.held_share", Figure: .11, Says: "Work holds the event loop, up to 300 ms in app.index"}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 5, evidence.FactLoopHeldMost: .3e9, evidence.FactLoopHeldShare: .09}, "app.index", 0, row{About: "held for less of the time", Rule: check.Happens, ID: "loop.held_longest_ms", Figure: 300}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 4, evidence.FactLoopHeldMost: .3e9, evidence.FactLoopHeldShare: .5}, "app.index", 0, row{About: "held four times", Rule: check.TooFew, ID: "loop.held_times", Figure: 4}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 2, evidence.FactLoopHeldMost: 1.01e9}, "", 0, row{About: "held twice for a second", Rule: check.StandsAlone, Says: "up to 1.01 s:"}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 1, evidence.FactLoopHeldMost: 9.9e9}, "", 0, row{About: "held once for not quite ten", Rule: check.TooFew}},
		{BlockedLoop, nil, figures{evidence.FactLoopHeld: 1, evidence.FactLoopHeldMost: 10.1e9}, "", 0, row{About: "held once for ten", Rule: check.StandsAlone}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: .26, evidence.FactLoopCollections: 5, evidence.FactLoopCollectionMost: 2e8}, "", 0, row{About: "GC for a quarter of the time", Rule: check.StandsAlone, ID: "loop.collected_share", Figure: .26, Says: "5 collections of up to 200 ms"}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: .24, evidence.FactLoopCollections: 50, evidence.FactLoopCollectionMost: 2e8}, "", 0, row{About: "GC for less", Rule: check.TooLittle, ID: "loop.collected_share", Figure: .24}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: .26, evidence.FactLoopCollections: 4, evidence.FactLoopCollectionMost: 2e8}, "", 0, row{About: "four collections", Rule: check.TooFew, Says: "node --trace-gc"}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: .98, evidence.FactLoopCollections: 2, evidence.FactLoopCollectionMost: 1.01e9}, "", 0, row{About: "two collections of a second", Rule: check.StandsAlone, ID: "loop.collection_longest_ms", Figure: 1010}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: 1, evidence.FactLoopCollections: 1, evidence.FactLoopCollectionMost: 3e9}, "", 0, row{About: "one collection of three seconds", Rule: check.TooFew}},
		{BlockedLoop, nil, figures{evidence.FactLoopCollected: .98, evidence.FactLoopCollections: 2, evidence.FactLoopCollectionMost: .99e9}, "", 0, row{About: "two of not quite a second", Rule: check.TooFew}},
	} {
		c := checktest.Told{Of: evidence.Subject{Name: "shop", CPUs: 4}, Series: x.series, Facts: x.facts, Text: x.text, Readings: x.readings}.Case()
		if !x.cause.Applies(c) {
			t.Errorf("%s: %s: it is not asked", x.cause.ID, x.About)
			continue
		}
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}

// What decides is one of the figures that are kept, for whatever slow requests wait, and however few, rare or brief they are.
func TestEveryDecisionHolds(t *testing.T) {
	held := map[string]func(n *names, i int, d int64) evidence.Segment{
		"asleep": sleeping("main.backOff"), "at work": computing, "in calls": callsFor,
		"at a pool whose holders run": pooled(evidence.Running), "at a pool whose holders call": pooled(evidence.NetWait),
		"behind background work": behindOthers(evidence.HeldByBackground), "behind requests": behindOthers(evidence.HeldByRequests), "behind GC": behindOthers(evidence.HeldByCollector),
		"at a lock": func(n *names, i int, d int64) evidence.Segment {
			return evidence.Segment{Kind: evidence.LockWait, Dur: d, Cause: n.id("main.cart"), Stack: n.stack("sync.(*Mutex).Lock", "main.put", "main.handle"), Holder: evidence.LaneID(1000 + (i+999)%1000), HolderKind: evidence.Running}
		},
		"in the kernel": func(n *names, _ int, d int64) evidence.Segment {
			return evidence.Segment{Kind: evidence.Syscall, Dur: d, Cause: n.id("fsync"), Stack: n.stack("os.(*File).Sync", "main.put", "main.handle")}
		},
		"unseen": func(_ *names, _ int, d int64) evidence.Segment {
			return evidence.Segment{Kind: evidence.Unobserved, Dur: d}
		},
	}
	for where, wait := range held {
		for when, x := range map[string]struct {
			each  int // one request in so many waits
			waits int64
		}{"four of a thousand": {250, 300 * ms}, "five of a thousand": {200, 300 * ms}, "twenty of a thousand": {50, 300 * ms}, "one in five, 13 ms": {5, 13 * ms}, "one in five, 25 ms": {5, 25 * ms}, "one in five, 90 ms": {5, 90 * ms}, "three in four": {-4, 90 * ms}, "all": {1, 90 * ms}} {
			c := traced{func(n *names, i int) []evidence.Segment {
				if x.each > 0 && i%x.each == 0 || x.each < 0 && i%-x.each != 0 {
					return []evidence.Segment{running(ms), wait(n, i, x.waits)}
				}
				return work(ms)(n, i)
			}, nil, 0}.subject(t)
			for _, k := range []check.Check{DependencySlow, ChattyCalls, CacheStampede, RetryStorm, RowLock, PoolExhausted, OverCapacity, OwnWork, Waiting, AcceptQueue, BlockedLoop, TrafficSurge} {
				if k.Applies(c) {
					v := k.Judge(c)
					checktest.Holds(t, where+", "+when, &k, c, &v)
				}
			}
		}
	}
}
