package diagnose_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/sentence"
)

// proxied is a request as a proxy and the service behind it log it.
type proxied struct {
	at                              time.Time
	queue, connect, inside, sending time.Duration
}

// overTime makes requests of which every fourth waits.
func overTime(n int, wait func(q *proxied, d time.Duration)) (all []proxied) {
	r := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for k := range n {
		at = at.Add(time.Duration(float64(20*time.Millisecond) * r.ExpFloat64()))
		q := proxied{at: at, inside: time.Duration(3+r.IntN(5)) * time.Millisecond, sending: time.Duration(r.IntN(2)) * time.Millisecond}
		if k%4 == 0 {
			wait(&q, time.Duration(900+r.IntN(300))*time.Millisecond)
		}
		all = append(all, q)
	}
	return all
}

func diagnosed(t *testing.T, files map[string]string) *diagnose.Diagnosis {
	t.Helper()
	b := incident.NewBundle()
	dir := t.TempDir()
	for _, name := range slices.Sorted(keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := incident.Read(t.Context(), format.File(path), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range d.Contradictions() {
		t.Error(wrong)
	}
	return d
}

func keys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func haproxyLog(all []proxied) string {
	var out strings.Builder
	for _, q := range all {
		total := q.queue + q.connect + q.inside + q.sending
		fmt.Fprintf(&out, "10.0.1.2:33317 [%s] in shop/one 0/%d/%d/%d/%d 200 2750 - - ---- 1/1/1/1/0 0/0 \"GET /cart HTTP/1.1\"\n",
			q.at.Format("02/Jan/2006:15:04:05.000"), q.queue.Milliseconds(), q.connect.Milliseconds(), q.inside.Milliseconds(), total.Milliseconds())
	}
	return out.String()
}

// TestProxysOwnFigures has logs of HAProxy alone: its queue is a pool, a long time to connect is the accept queue of the service.
func TestProxysOwnFigures(t *testing.T) {
	for name, x := range map[string]struct {
		wait      func(q *proxied, d time.Duration)
		mechanism string
		cause     string
	}{
		"connecting": {func(q *proxied, d time.Duration) { q.connect = d }, "queue", "service.accept-queue"},
		"queue":      {func(q *proxied, d time.Duration) { q.queue = d }, "pool", ""},
		"service":    {func(q *proxied, d time.Duration) { q.inside = d }, "dependency", "service.dependency-slow"},
		"sending":    {func(q *proxied, d time.Duration) { q.sending = d }, "delivery", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnosed(t, map[string]string{"haproxy.log": haproxyLog(overTime(2000, x.wait))})
			if len(d.Ledger) == 0 || d.Ledger[0].Mechanism != x.mechanism {
				t.Errorf("most of the slow time is in %+v, want %s", d.Ledger, x.mechanism)
			}
			if ids := supported(d); x.cause != "" && (len(ids) == 0 || ids[0] != x.cause) {
				t.Errorf("supported are %v, want %s", ids, x.cause)
			}
		})
	}
}

// TestProxyAndService has nginx's log, whose clock is 3 s behind, and the service's own of the same requests: the population is what the
// proxy saw, and what passes between both is the queue before the service.
func TestProxyAndService(t *testing.T) {
	var nginx, own strings.Builder
	all := overTime(3000, func(q *proxied, d time.Duration) { q.queue = d }) // between the proxy and the handler
	for _, q := range all {
		end := q.at.Add(q.queue + q.inside)
		fmt.Fprintf(&nginx, "10.0.1.2 - - [%s] \"GET /cart HTTP/1.1\" 200 612 %.3f rt=%.3f uct=\"0.000\" urt=\"%.3f\" ua=\"10.0.0.5:8080\"\n", end.Add(-3*time.Second).Format("02/Jan/2006:15:04:05 -0700"),
			float64(end.Add(q.sending-3*time.Second).UnixMilli())/1e3, (q.queue + q.inside + q.sending).Seconds(), (q.queue + q.inside).Seconds())
		fmt.Fprintf(&own, `{"time":%q,"method":"GET","path":"/cart","status":200,"duration_ms":%d}`+"\n", end.Format("2006-01-02T15:04:05.000Z07:00"), q.inside.Milliseconds())
	}
	d := diagnosed(t, map[string]string{"nginx.log": nginx.String(), "app.log": own.String()})
	if len(d.Requests.Joined) != 1 {
		t.Fatalf("joined %+v; warnings %+v", d.Requests, d.Warnings)
	}
	j := d.Requests.Joined[0]
	if j.Found < 2900 || j.Behind == nil || *j.Behind < 2990 || *j.Behind > 3010 || !strings.HasSuffix(d.Requests.Source, "nginx.log") {
		t.Errorf("joined %+v with the clock %v ms behind, of %s", j, j.Behind, d.Requests.Source)
	}
	if len(d.Ledger) == 0 || d.Ledger[0].Mechanism != "queue" {
		t.Errorf("most of the slow time is in %+v", d.Ledger)
	}
	if said := sentence.Joined(d.Requests); len(said) != 1 || !strings.Contains(said[0], "requests in app.log found among 3,000 of the proxy; the clock of nginx.log is 3") {
		t.Errorf("said %q", said)
	}
}
