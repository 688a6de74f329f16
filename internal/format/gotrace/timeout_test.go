package gotrace

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// takeSlot waits for a slot for a time.
func takeSlot(slots chan struct{}, most time.Duration) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-time.After(most):
		return false
	}
}

// rest waits for a time or until the client is gone.
func rest(r *http.Request, d time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.After(d):
	}
}

// TestTimeoutOfPool takes a wait for a slot that a time limit ends for the pool's, as others get slots at the same place, and a
// wait for nothing but a timer for a sleep.
func TestTimeoutOfPool(t *testing.T) {
	slots := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pause" {
			rest(r, 2*time.Millisecond)
			return
		}
		if takeSlot(slots, 12*time.Millisecond) {
			time.Sleep(5 * time.Millisecond)
			<-slots
		}
	}))
	defer s.Close()
	b := record(t, func() {
		ask(t, s, 8, 20, "/", 0)
		ask(t, s, 2, 10, "/pause", 0)
	})
	at := func(function string, kind evidence.Kind) time.Duration {
		return waitsOf(b, func(s *evidence.Segment) bool {
			if s.Kind != kind {
				return false
			}
			for _, f := range b.Stacks.Frames(s.Stack) {
				if strings.HasSuffix(b.Names.Text(f.Func), function) {
					return true
				}
			}
			return false
		})
	}
	if slept, pooled := at(".takeSlot", evidence.SleepWait), at(".takeSlot", evidence.PoolWait); pooled < 100*time.Millisecond || slept > pooled/4 {
		t.Errorf("of waits for a slot %v are the pool's and %v a timer's", pooled, slept)
	}
	if slept := at(".rest", evidence.SleepWait); slept < 20*time.Millisecond {
		t.Errorf("only %v of pauses are a timer's", slept)
	}
}
