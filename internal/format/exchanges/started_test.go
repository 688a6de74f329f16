package exchanges

import (
	"fmt"
	"strings"
	"testing"
)

const startedStacks = "s 1 runtime.gopark\truntime.semacquire1\tsync.runtime_SemacquireWaitGroup\tsync.(*WaitGroup).Wait\tmain.quotes\n" +
	"s 2 runtime.gopark\truntime.semacquire1\tinternal/sync.runtime_SemacquireMutex\tinternal/sync.(*Mutex).lockSlow\tmain.(*rates).of\tmain.quotes.func1\n" +
	"s 3 runtime.gopark\truntime.netpollblock\tinternal/poll.runtime_pollWait\tinternal/poll.(*FD).Read\tgithub.com/jackc/pgx/v5/pgconn.(*PgConn).peekMessage\tmain.(*rates).of\tmain.quotes.func1\n" +
	"s 4 runtime.gopark\truntime.semacquire1\tinternal/sync.runtime_SemacquireMutex\tinternal/sync.(*Mutex).lockSlow\tmain.(*feed).follow\n" +
	"s 5 runtime.gopark\truntime.netpollblock\tinternal/poll.(*FD).Read\tnet.(*conn).Read\tnet/http.(*connReader).backgroundRead\tnet/http.(*connReader).startBackgroundRead.gowrap2\n"

// joined writes 40 requests, each of which starts two goroutines and waits for both: one ends after 20 ms, the other waits 60 ms for a lock and calls a database
// for 40 ms. A third goroutine was started by an earlier request on the same connection, and goes on; a fourth watches whether the client is still there.
func joined(w *text, told bool) {
	w.WriteString(startedStacks)
	for i := range 40 {
		at := float64(400 * i)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 7/31@3 7/31 4000 10.0.0.7:5432 postgresql idle SELECT rates\n", began+ns(at+60), ns(40))
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9/20 9/20 8080/2 - http 200 GET /quotes\n", began+ns(at), ns(100.1))
		for t := 2.; t < 100; t += 10 {
			fmt.Fprintf(w, "g %d 20 w 1\n", began+ns(at+t))
			if !told {
				continue
			}
			fmt.Fprintf(w, "g %d 33 w 4 20 7\ng %[1]d 34 w 5 20 %d\n", began+ns(at+t), 500+i)
			if t < 20 {
				fmt.Fprintf(w, "g %d 32 r 0 20 %d\n", began+ns(at+t), 1000+2*i)
			}
			if t < 60 {
				fmt.Fprintf(w, "g %d 31 w 2 20 %d\n", began+ns(at+t), 1001+2*i)
			} else {
				fmt.Fprintf(w, "g %d 31 w 3 20 %d\n", began+ns(at+t), 1001+2*i)
			}
		}
	}
}

// A request that waits for goroutines which it has started waits for what the last of them waits for, and their calls are its own.
func TestRequestsWaitForWhatTheyStarted(t *testing.T) {
	for _, told := range []bool{false, true} {
		w := newText()
		joined(w, told)
		b := w.read(t, 17000)
		lock, call, other := 0., 0., 0.
		for what, ms := range spent(b, "GET /quotes") {
			switch {
			case strings.HasPrefix(what, "lock wait | mutex in main.(*rates).of"):
				lock += ms
			case strings.Contains(what, "PostgreSQL at 10.0.0.7:5432"):
				call += ms
			default:
				other += ms
			}
		}
		if told && (lock < 40*55 || call < 40*39 || other > 40*6) || !told && lock > 0 { // the call is found by its time, too
			t.Errorf("told who started them: %v: %.0f ms at the lock, %.0f in calls, %.0f else of %v", told, lock, call, other, spent(b, "GET /quotes"))
		}
	}
}

// Calls of a goroutine that was there before the request, as one that keeps a connection, are not linked by who started it.
func TestCallsOfLastingGoroutines(t *testing.T) {
	w := newText()
	w.WriteString(startedStacks)
	for i := range 40 {
		at := float64(400 * i)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 7/31@3 7/31 4000 10.0.0.7:5432 postgresql idle SELECT rates\n", began+ns(at+60), ns(40))
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9/20 9/20 8080/2 - http 200 GET /quotes\n", began+ns(at), ns(250))
		for t := 2.; t < 250; t += 10 {
			fmt.Fprintf(w, "g %d 20 w 1\ng %[1]d 31 w 3 20 7\n", began+ns(at+t))
		}
	}
	for what := range spent(w.read(t, 17000), "GET /quotes") {
		if strings.Contains(what, "PostgreSQL") {
			t.Errorf("a call is linked: %s", what)
		}
	}
}
