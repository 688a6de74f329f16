package notify

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/goldentest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var events = []Event{
	{Kind: "alarm", Text: "GC takes more than 8 % of the CPU time: 31 % <!channel> @all", Time: noon, Since: noon.Add(-time.Minute), Host: "web1", Target: "gateway pid 4711", Service: "gateway", Rule: "go.gc-cpu", Severity: "page",
		Look: "GOGC and the live heap", Line: []byte(`{"schema":"unstall.event/v1","event":"alarm","rule":"go.gc-cpu"}`)},
	{Kind: "diagnosis", Text: "Cause found: go.gc-rate. GC runs 8.3 times per second.", Time: noon.Add(time.Minute), Host: "web1", Target: "gateway pid 4711", Service: "gateway", Rule: "go.gc-cpu", Cause: "go.gc-rate",
		Capture: "/var/lib/unstall/captures/gateway-20261120T120000-go.gc-cpu.unstall", Line: []byte(`{"schema":"unstall.event/v1","event":"diagnosis"}`)},
	{Kind: "resolved", Text: "ended after 5m0s: GC takes more than 8 % of the CPU time", Time: noon.Add(6 * time.Minute), Since: noon.Add(-time.Minute), Host: "web1", Target: "gateway pid 4711", Service: "gateway", Rule: "go.gc-cpu", Severity: "page",
		Line: []byte(`{"schema":"unstall.event/v1","event":"resolved","rule":"go.gc-cpu"}`)},
}

// Each form is what its receiver expects, and no name in it acts as markup or notifies a channel.
func TestForms(t *testing.T) {
	for _, f := range Forms {
		var b strings.Builder
		for _, e := range events {
			text := f.Encode(e)
			if text == nil {
				continue
			}
			if !json.Valid(text) {
				t.Errorf("%s: not JSON: %s", f.Name, text)
			}
			if f.Name != "json" && f.Name != "alertmanager" && f.Name != "otlp" && (strings.Contains(string(text), "<!channel>") || f.Name != "slack" && strings.Contains(string(text), "@all")) {
				t.Errorf("%s: %s calls a channel", f.Name, text)
			}
			b.Write(text)
			b.WriteByte('\n')
		}
		golden := filepath.Join("testdata", f.Name+".json")
		if *goldentest.Update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s differs; if the new one is right: %s\n%s\nwant\n%s", golden, goldentest.Command(), b.String(), want)
		}
	}
}

func TestOpen(t *testing.T) {
	for arg, want := range map[string]string{
		"https://hooks.slack.com/services/T0/B0/secret":         "slack",
		"https://chat.example.com/hooks/secret":                 "mattermost",
		"https://prod-1.westeurope.logic.azure.com/workflows/s": "teams",
		"http://127.0.0.1:9093/api/v2/alerts":                   "alertmanager",
		"http://127.0.0.1:4318/v1/logs":                         "otlp",
		"https://example.com/take?key=a=b":                      "json",
		"slack=https://chat.example.com/hooks/secret":           "slack",
		"telegram=https://example.com/":                         "",
		"example.com":                                           "",
		"json=ftp://example.com/":                               "",
		"https://[::1/secret":                                   "",
	} {
		h, err := Open(arg, "token")
		switch {
		case want == "" && (err == nil || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v", arg, err)
		case want != "" && (err != nil || h.Form.Name != want || strings.Contains(h.Where, "secret")):
			t.Errorf("%s: %+v, %v; want %s", arg, h, err, want)
		}
	}
}

// receiver answers with each status in turn, then with 200, and keeps the messages.
type receiver struct {
	mu       sync.Mutex
	statuses []int
	after    string
	got      []string
	tokens   []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	status := 200
	if len(r.statuses) > 0 {
		status, r.statuses = r.statuses[0], r.statuses[1:]
	}
	if status == 200 {
		r.got, r.tokens = append(r.got, string(body)), append(r.tokens, req.Header.Get("Authorization"))
	}
	w.Header().Set("Retry-After", r.after)
	if status/100 == 3 {
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
	}
	w.WriteHeader(status)
}

// run sends events to a receiver until it has taken or refused all. It returns the hook, the reports and the waits.
func run(t *testing.T, r *receiver, form string, all ...Event) (h *Hook, said []string, waited []time.Duration) {
	t.Helper()
	s := httptest.NewServer(r)
	defer s.Close()
	h, err := Open(form+"="+s.URL+"/secret", "s3cret")
	if err != nil {
		t.Fatal(err)
	}
	h.pause = func(_ context.Context, d time.Duration) { waited = append(waited, d) }
	ctx, cancel := context.WithCancel(context.Background())
	for _, e := range all {
		h.Tell(e)
	}
	done := make(chan struct{})
	settled := func() bool {
		_, waits := h.oldestWaiting()
		return !waits
	}
	note := func(text string) { said = append(said, text) }
	go func() { h.Run(ctx, note, note); close(done) }()
	for deadline := time.Now().Add(30 * time.Second); !settled() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	return h, said, waited
}

// A message that a receiver may take later is sent again, with growing pauses, in order, once.
func TestRetries(t *testing.T) {
	r := &receiver{statuses: []int{503, 500, 429}}
	h, said, waited := run(t, r, "json", events...)
	if len(r.got) != 3 || h.Lost() != 0 || !strings.Contains(r.got[0], "alarm") || !strings.Contains(r.got[2], "resolved") || r.tokens[0] != "Bearer s3cret" {
		t.Errorf("%q, lost %d", r.got, h.Lost())
	}
	if len(waited) != 3 || waited[0] != time.Second || waited[1] != 2*time.Second || waited[2] != 4*time.Second {
		t.Errorf("waited %v", waited)
	}
	if text := strings.Join(said, "\n"); strings.Contains(text, "secret") || strings.Contains(text, "s3cret") {
		t.Errorf("a secret is said: %s", text)
	}
}

// A refused message is not sent again. A redirect is not followed, because the address is a password.
func TestRefused(t *testing.T) {
	for _, status := range []int{400, 403, 404, 410, 302} {
		r := &receiver{statuses: []int{status}}
		h, said, waited := run(t, r, "slack", events[0], events[1])
		if len(r.got) != 1 || h.Lost() != 1 || len(waited) != 0 || r.tokens[0] != "" {
			t.Errorf("%d: %q, lost %d, waited %v", status, r.got, h.Lost(), waited)
		}
		if !strings.Contains(strings.Join(said, "\n"), "did not receive an alarm: HTTP status") {
			t.Errorf("%d: %q", status, said)
		}
	}
}

// A receiver that only fails is given up on, and its queue is bounded.
func TestBounds(t *testing.T) {
	r := &receiver{after: "100000"}
	for range 100 {
		r.statuses = append(r.statuses, 503)
	}
	h, _, waited := run(t, r, "json", events[0])
	if h.Lost() != 1 || len(waited) != mostTries-1 || waited[len(waited)-1] > longest {
		t.Errorf("lost %d after %v", h.Lost(), waited)
	}
	for range mostWaiting + 5 {
		h.Tell(events[0])
	}
	if h.Lost() != 6 || len(h.waiting) != mostWaiting {
		t.Errorf("lost %d, %d wait", h.Lost(), len(h.waiting))
	}
}

// A test message is sent at once, and what the receiver answers is the result.
func TestTest(t *testing.T) {
	code := http.StatusOK
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = string(b)
		w.WriteHeader(code)
	}))
	defer server.Close()
	h, err := Open("slack="+server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	e := Event{Kind: "alarm", Text: "this is a test", Rule: "test", Severity: "warn"}
	if err := h.Test(t.Context(), e); err != nil || !strings.Contains(got, "this is a test") {
		t.Errorf("%v: %s", err, got)
	}
	code = http.StatusForbidden
	if err := h.Test(t.Context(), e); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a refusal is %v", err)
	}
}
