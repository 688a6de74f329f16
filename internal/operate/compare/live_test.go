package compare

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
)

// Compare finds the difference between two running services, one of which does more work for each request. The
// difference is far larger than the noise of a busy machine. Each run has more connections than the 20 requests
// that a median needs.
func TestTwoServices(t *testing.T) {
	service := func(takes time.Duration) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(takes)
			w.Write([]byte("ok\n"))
		}))
		t.Cleanup(s.Close)
		return s
	}
	slow, fast := service(20*time.Millisecond), service(time.Millisecond)
	run := func(ctx context.Context, url string, block int) (Run, error) {
		r, err := load.Run(ctx, load.Plan{URL: url, Mode: load.Closed, Connections: 24, Duration: 400 * time.Millisecond}, nil)
		if err != nil {
			return Run{}, err
		}
		return RunOf(r, url), nil
	}
	c, err := Interleaved(context.Background(), slow.URL, fast.URL, 6, 1, Options{}, run)
	if err != nil {
		t.Fatal(err)
	}
	if c.Refused() {
		t.Fatal(c.Why)
	}
	if m, ok := c.Of("p50_ms"); !ok || m.Result != Improved || *m.Change > -.5 || c.Pairs != 6 {
		t.Errorf("%+v", m)
	}
	if m, ok := c.Of("rate"); !ok || m.Result != Improved {
		t.Errorf("%+v", m)
	}
	if m, ok := c.Of("errors"); !ok || m.Result != Same {
		t.Errorf("%+v", m)
	}
}
