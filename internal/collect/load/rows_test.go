package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/loadresult"
)

// What is written is read as it was, and the generator's delay is charged to it.
func TestRowsAreReadAgain(t *testing.T) {
	const at = int64(1795238832_000000000)
	var rows []Row
	for i := range int64(100) {
		r := Row{Intended: at + i*1e6, Sent: at + i*1e6 + 2000, End: at + i*1e6 + 500_000, Lag: 2000, Status: 200, Bytes: 10, Route: "GET /play/7"}
		if i == 50 {
			r.Sent, r.End, r.Lag = r.Intended+80e6, r.Intended+90e6, 80e6
		}
		rows = append(rows, r)
	}
	rows[99].Sent, rows[99].Status, rows[99].Outcome = 0, 0, evidence.Unfinished
	var text bytes.Buffer
	w := NewRowWriter(&text, &Plan{URL: "http://user:secret@127.0.0.1:8080/play"})
	if err := errors.Join(w.Write(rows[:40]), w.Write(rows[40:]), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "secret") {
		t.Error("the password is in the rows")
	}
	b := evidence.NewBundle()
	a := &format.Artifact{Name: "rows", Size: int64(text.Len()), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }}
	if err := format.Read(t.Context(), []format.Format{loadresult.Format}, a, b); err != nil || b.Requests.Len() != 100 || len(b.Warnings) != 0 {
		t.Fatalf("%d requests, %v, %v", b.Requests.Len(), err, b.Warnings)
	}
	late, unfinished := 0, 0
	for i := range 100 {
		q := b.Requests.Row(i)
		if q.Intended < at || b.Names.Text(q.Route) != "GET /play/{id}" {
			t.Fatalf("%+v", q)
		}
		if q.Latency() == 90e6 {
			late++
		}
		if q.Outcome == evidence.Unfinished {
			unfinished++
		}
	}
	if late != 1 || unfinished != 1 {
		t.Errorf("%d late, %d unfinished", late, unfinished)
	}
	l := ledger.Build(b, ledger.Options{SLO: 50 * time.Millisecond})[0]
	if l.Traced || len(l.Slow) != 1 {
		t.Fatalf("traced %v, %d slow", l.Traced, len(l.Slow))
	}
	if c := l.Of(l.Slow[0]); c[ledger.GeneratorLag] != 80e6 || c.Sum() != 90e6 {
		t.Errorf("charged %v", c)
	}
}

func TestResultIsTheSchema(t *testing.T) {
	b, err := json.Marshal(&Result{URL: "http://a/", Mode: "open"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("schema url mode latency_from duration_s offered_rate sent completed unfinished timeouts errors requests rate latency_ms send_lag_ms codes bytes_s generator_limited") {
		if _, ok := got[key]; !ok {
			t.Errorf("no %s in %s", key, b)
		}
	}
	for _, key := range []string{"mean", "stdev", "max", "p50", "p90", "p99", "p999", "p9999"} {
		if v, ok := got["latency_ms"].(map[string]any)[key]; !ok || v != nil {
			t.Errorf("latency %s is %v, want null", key, v)
		}
	}
	if got["schema"] != "unstall.load/v1" || got["offered_rate"] != nil {
		t.Errorf("%s", b)
	}
}

// service is one that answers up to a rate, and a generator that offers as much.
func service(most, generator float64) func(context.Context, Plan) (*Result, error) {
	return func(_ context.Context, p Plan) (*Result, error) {
		p99, achieved := 10.0, 1.0
		if p.Rate > most {
			p99, achieved = 500, most/p.Rate
		}
		if p.Rate > 1.1*generator {
			p99 = 400 // its lag is in the latencies
		}
		return &Result{Completed: 100, Codes: Codes{Success: 100}, Latency: Latency{P99: &p99}, Achieved: &achieved, GeneratorLimited: p.Rate > generator}, nil
	}
}

func TestKnee(t *testing.T) {
	for _, c := range []struct {
		name                   string
		start, most, generator float64
		low, high              float64
		limited                bool
	}{
		{"above", 100, 1730, 1e9, 1600, 1730, false},
		{"below the start", 5000, 1730, 1e9, 1600, 1730, false},
		{"the generator's", 100, 1e9, 3000, 3100, 3300, true},
		{"beyond all", 100, 1e9, 1e9, 5e6, 1e7, true},
	} {
		r, err := Knee(t.Context(), Plan{URL: "http://a/"}, SLO{P99: 50 * time.Millisecond}, KneeOptions{Start: c.start, Run: service(c.most, c.generator)})
		if err != nil || r.Rate == nil || *r.Rate < c.low || *r.Rate > c.high || r.GeneratorLimited != c.limited {
			t.Errorf("%s: %+v %v", c.name, r, err)
			continue
		}
		for _, s := range r.Steps[len(r.Steps)-3:] {
			if s.Phase != "confirm" || !s.Kept {
				t.Errorf("%s: the last three steps confirm it: %+v", c.name, s)
			}
		}
	}
	r, err := Knee(t.Context(), Plan{URL: "http://a/"}, SLO{P99: 5 * time.Millisecond}, KneeOptions{Run: service(1000, 1e9)})
	if err != nil || r.Rate != nil || r.Why == "" {
		t.Errorf("never kept: %+v %v", r, err)
	}
	if _, err := Knee(t.Context(), Plan{URL: "http://a/"}, SLO{}, KneeOptions{}); !errors.Is(err, ErrPlan) {
		t.Errorf("an SLO of 0: %v", err)
	}
}

func TestTable(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	r := &Result{URL: "http://127.0.0.1:8080/play", Mode: "open", LatencyFrom: "intended", Duration: 10, OfferedRate: f(2000), Arrivals: "poisson",
		Offered: 20000, Sent: 19990, Completed: 19900, Unfinished: 90, Timeouts: 80, Errors: 10, BytesPerS: 240000,
		Rate: Rate{1990, f(31.2), f(2104)}, Latency: Latency{Mean: f(2.1), Stdev: f(14.2), Max: f(912), P50: f(.21), P75: f(.32), P90: f(.5), P95: f(1.1), P99: f(12.3), P999: f(800)},
		SendLag: SendLag{f(.07), f(1.9)}, Codes: Codes{Success: 19890, ServerError: 10}, Achieved: f(.995),
		ErrorKinds: []ErrorKind{{"connection reset by peer", 10}}, Warnings: []string{"90 requests were not answered in time: their latencies are lower bounds"}}
	var b strings.Builder
	if err := r.Table(&b); err != nil {
		t.Fatal(err)
	}
	want := `http://127.0.0.1:8080/play  open loop · 2,000/s poisson · 10 s

Statistics            Avg        Stdev          Max
  Reqs/sec          1,990         31.2        2,104
  Latency          2.1 ms      14.2 ms       912 ms
Latency distribution, measured from the scheduled send time
     50%       210 µs
     75%       320 µs
     90%       500 µs
     95%       1.1 ms
     99%      12.3 ms
   99.9%       800 ms
HTTP codes
  1xx 0 · 2xx 19,890 · 3xx 0 · 4xx 0 · 5xx 10 · others 0
Errors
  10 × connection reset by peer
Requests
  20,000 offered · 19,990 sent · 19,900 answered · 90 unfinished, of them 80 timed out
Throughput   234 KiB/s received
Achieved     99.5 % of the offered rate · send lag p99 70 µs, max 1.9 ms
warning: 90 requests were not answered in time: their latencies are lower bounds
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
