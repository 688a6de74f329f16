package loadgen

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEveryRequestIsCounted(t *testing.T) {
	for name, plan := range map[string]Plan{
		"constant": {Rate: 5000, Requests: 101, Paths: []string{"/a", "/b"}, Tokens: 3},
		"poisson":  {Rate: 5000, Requests: 101, Poisson: true, Paths: []string{"/a", "/b"}, Tokens: 3},
		"closed":   {Requests: 101, Paths: []string{"/a", "/b"}, Tokens: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var got, tokens atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got.Add(1)
				if r.Header.Get("Authorization") == "Bearer t0000002" {
					tokens.Add(1)
				}
				if r.URL.Path == "/b" {
					http.Error(w, "no", http.StatusTeapot)
				}
			}))
			defer server.Close()
			c, err := Dial(server.Listener.Addr().String(), 7)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			r := c.Run(t.Context(), plan)
			if r.Sent != 101 || r.Finished != 101 || got.Load() != 101 || r.Failed != 50 || r.ByPath["/a"] != 51 || r.ByPath["/b"] != 50 || tokens.Load() != 33 {
				t.Errorf("101 requests, half of them refused: server saw %d, with token 2 %d; %+v", got.Load(), tokens.Load(), r)
			}
			if r.P50 <= 0 || r.P99 < r.P50 || r.Max < r.P99 {
				t.Errorf("latencies out of order: p50 %v p99 %v max %v", r.P50, r.P99, r.Max)
			}
		})
	}
}

func TestUnansweredIsNotFinished(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	c, err := Dial(server.Listener.Addr().String(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := c.Run(t.Context(), Plan{Requests: 10, Paths: []string{"/", "/broken"}})
	if r.Sent != 10 || r.Finished != 5 || r.Unanswered != 5 || !strings.Contains(r.Error, "EOF") {
		t.Errorf("10 sent, every second one broken off: %+v", r)
	}
}
