package service

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
)

// listing are requests that make so many calls of a length one after the other, or a few at a time.
func listing(calls, atOnce int, took int64) []byte {
	const seconds = 25
	s := newKernelSaw()
	for _, at := range s.arrivals(15, seconds) {
		w := s.worker(at)
		now := at + 200_000
		for k := 0; k < calls; k += atOnce {
			end := now
			for i := range min(atOnce, calls-k) {
				end = max(end, s.call(w, now+int64(1+i)*20_000, s.vary(took), 96, database, "postgresql idle SELECT items"))
			}
			now = end
		}
		s.request(w, at, now+200_000, 200, "GET /list")
	}
	return s.bytes(seconds)
}

// operations are requests of one route that ask for different things: one in five needs so much of the database, and computes for as long, the
// others need next to nothing.
func operations(took int64) []byte {
	const seconds = 25
	s := newKernelSaw()
	for i, at := range s.arrivals(60, seconds) {
		w := s.worker(at)
		d, computes := 2*ms, 1*ms
		if i%5 == 0 {
			d, computes = took, took
		}
		end := s.call(w, at+300_000, s.vary(d), 110+s.random.IntN(4), database, "postgresql idle SELECT orders")
		s.request(w, at, end+computes, 200, "POST /graphql")
	}
	return s.bytes(seconds)
}

// Each cause of calls is found where there are enough of them, and not just below.
func TestExchangedEdges(t *testing.T) {
	for _, x := range []struct {
		about string
		text  []byte
		cause check.Check
		found bool
		says  string
	}{
		{"twelve calls of 3 ms each", listing(12, 1, 3*ms), ChattyCalls, true, "makes 12 calls"},
		{"nine calls of 3 ms each", listing(9, 1, 3*ms), ChattyCalls, false, ""},
		{"twelve calls of 12 ms each", listing(12, 1, 12*ms), ChattyCalls, false, ""},
		{"twelve calls of 1 ms each, quick for all their number", listing(12, 1, 1*ms), ChattyCalls, false, ""},
		{"twelve calls of 9 ms each", listing(12, 1, 9*ms), ChattyCalls, true, "makes 12 calls"},
		{"a third of the searches take 120 ms", searches(120 * ms), DependencySlow, true, "SELECT orders"},
		{"a third of the searches take 6 ms", searches(6 * ms), DependencySlow, false, ""},
		{"one operation in five needs 14 ms of the database and computes for as long", operations(14 * ms), DependencySlow, false, ""},
		{"one operation in five needs 80 ms of the database and computes for as long", operations(80 * ms), DependencySlow, true, "SELECT orders"},
		{"the supplier stands still for a quarter of a second", quotes(3, 250*ms), RetryStorm, false, ""},
		{"the supplier stands still for 1.4 s", quotes(3, 1400*ms), RetryStorm, true, "are repeated"},
		{"the supplier stands still for 1.4 s, and five workers ask it while others wait to be read", quotesBy(5, 5, 1400*ms), RetryStorm, true, "are repeated"},
		{"the supplier never answers", quotes(3, 7000*ms), RetryStorm, true, "without those that repeat a failed one"},
		{"the supplier never answers, and is asked once", quotes(1, 7000*ms), RetryStorm, false, ""},
		{"two at a time make the report", reports(true, 10), CacheStampede, false, ""},
		{"many at a time make the report", reports(true, 80), CacheStampede, true, "the same call"},
		{"the payment is within the transaction", sales(true, false), RowLock, true, "while it holds the lock"},
		{"the payment is before the transaction", sales(false, false), RowLock, false, ""},
	} {
		c := caseOf(t, x.text)
		v := x.cause.Judge(c)
		if v.Supported() != x.found || !strings.Contains(v.Title, x.says) {
			t.Errorf("%s, %s: %s: %s %s", x.cause.ID, x.about, v.State, v.Title, v.Summary)
		}
		checktest.Decides(t, "", c, &v)
	}
}

// Where failed calls hold the workers, what waits to be read waits for the same reason.
func TestStormHoldsWorkers(t *testing.T) {
	for outage, holds := range map[int64]bool{1400 * ms: true, 0: false} {
		c := caseOf(t, quotesBy(5, 5, outage))
		v := RetryStorm.Judge(c)
		if v.Supported() {
			c.Found = append(c.Found, check.Found{ID: RetryStorm.ID, Step: RetryStorm.Step, Verdict: v})
		}
		if by := stopsReading(c, 1); (by == RetryStorm.ID) != holds {
			t.Errorf("out for %d ms: %q keeps workers from reading: %s", outage/ms, by, v.Title)
		}
	}
}

// Every cause says of a service that is well, or sick for one reason, how it decided, and no two of them claim the same time without a word.
func TestDecisionsOfExchanges(t *testing.T) {
	for about, text := range map[string][]byte{
		"a row lock": sales(true, false), "none": sales(false, false), "a slow query": searches(120 * ms), "a storm": quotes(3, 1400*ms), "a stampede": reports(true, 80),
		"many calls": listing(20, 1, 3*ms), "a name server": tracked(350*ms, 1, 0), "connections": paid(true), "calls side by side": listing(24, 4, 3*ms),
	} {
		c := caseOf(t, text)
		for _, k := range []check.Check{AcceptQueue, RowLock, PoolExhausted, BlockedLoop, CacheStampede, RetryStorm, ChattyCalls, DependencySlow, OverCapacity, OwnWork, Waiting, TrafficSurge} {
			if !k.Applies(c) {
				continue
			}
			v := k.Judge(c)
			t.Run(about+" "+k.ID, func(t *testing.T) { checktest.Decides(t, "", c, &v) })
			if v.Supported() {
				c.Found = append(c.Found, check.Found{ID: k.ID, Step: k.Step, Verdict: v})
			}
		}
	}
}
