package service

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/model/queue"
	"github.com/unstall/unstall/internal/base/goldentest"
)

const fixtures = "../testdata"

// made is a minute and more of a service that was not recorded but computed: the arrivals
// drawn, the waiting by a queue. What each file holds is known to the millisecond, which of
// no recording it is.
type made struct {
	random *rand.Rand
	at     []int64 // ns since the epoch
	took   []int64 // ns
	same   bool    // callers ask again and again for the same
}

var began = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC).UnixNano()

// arrive draws arrivals at a rate for some seconds (Poisson).
func (m *made) arrive(rate float64, seconds int64) {
	from := began
	if n := len(m.at); n > 0 {
		from = m.at[n-1]
	}
	for at := from; ; {
		at += int64(m.random.ExpFloat64() / rate * 1e9)
		if at >= from+seconds*1e9 {
			return
		}
		m.at = append(m.at, at)
	}
}

// log is an access log as nginx writes it, with $request_time, by the time of completion.
func (m *made) log() []byte {
	order := make([]int, len(m.at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(m.at[i] + m.took[i] - m.at[j] - m.took[j]) })
	var w bytes.Buffer
	for _, i := range order {
		id := m.random.IntN(100_000)
		if m.same {
			id = m.random.IntN(40)
		}
		end := time.Unix(0, m.at[i]+m.took[i]).UTC()
		fmt.Fprintf(&w, "10.0.0.%d - - [%s] \"GET /tree?node=%d HTTP/1.1\" 200 51200 \"-\" \"console/2\" rt=%.3f\n", 1+id%4, end.Format("02/Jan/2006:15:04:05 -0700"), id, float64(m.took[i])/1e9)
	}
	return w.Bytes()
}

// slowly says whether a moment is in the third minute, when it is slow.
func slowly(at int64) bool { return at >= began+120e9 && at < began+180e9 }

// spans is the collector's file of requests with so many calls each: how long a call takes
// and how long the service works before each, in ns.
func (m *made) spans(calls int, call, local func(at int64) int64, pool func(at int64) int64) []byte {
	var w bytes.Buffer
	const resource = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"console"}},{"key":"telemetry.sdk.language","value":{"stringValue":"java"}}]},"scopeSpans":[{"spans":[`
	for i, from := range m.at {
		at := from
		w.WriteString(resource)
		span := func(id int, name string, kind int, from, to int64, attributes string) {
			parent := fmt.Sprintf("%016x", i*1000+1)
			if id == 1 {
				parent = ""
			}
			fmt.Fprintf(&w, `{"traceId":"%032x","spanId":"%016x","parentSpanId":"%s","name":"%s","kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}`,
				i+1, i*1000+id, parent, name, kind, from, to, attributes)
		}
		if pool != nil {
			wait := pool(from)
			span(999, "HikariDataSource.getConnection", 1, at+1e6, at+1e6+wait, "")
			w.WriteByte(',')
			at += 1e6 + wait
		}
		for k := range calls {
			at += m.vary(local(from)) / int64(calls)
			d := m.vary(call(from))
			span(k+2, "SELECT node", 3, at, at+d, `{"key":"db.system","value":{"stringValue":"mysql"}},{"key":"db.name","value":{"stringValue":"org"}},{"key":"db.operation","value":{"stringValue":"SELECT"}},{"key":"db.sql.table","value":{"stringValue":"node"}}`)
			w.WriteByte(',')
			at += d
		}
		span(1, "GET /tree", 2, from, at+1e6, `{"key":"http.route","value":{"stringValue":"/tree"}},{"key":"http.request.method","value":{"stringValue":"GET"}}`)
		w.WriteString("]}]}]}\n")
	}
	return w.Bytes()
}

// vary spreads a time by a quarter.
func (m *made) vary(ns int64) int64 { return int64(float64(ns) * (.75 + .5*m.random.Float64())) }

// latencies sets what each request takes.
func (m *made) latencies(of func(at int64) int64) {
	for _, at := range m.at {
		m.took = append(m.took, m.vary(of(at)))
	}
}

// when is one figure in the third minute and another before and after.
func when(slow, usual int64) func(at int64) int64 {
	return func(at int64) int64 {
		if slowly(at) {
			return slow
		}
		return usual
	}
}

func readings(header string, every int64, row func(at int64) string) []byte {
	var w bytes.Buffer
	w.WriteString(header + "\n")
	for at := began; at < began+300e9; at += every * 1e9 {
		fmt.Fprintf(&w, "%s,%s\n", time.Unix(0, at).UTC().Format(time.RFC3339), row(at))
	}
	return w.Bytes()
}

func minutes(rate float64) *made {
	m := &made{random: rand.New(rand.NewPCG(1, 2))}
	m.arrive(rate, 300)
	return m
}

// queue runs arrivals through as many processors, each with some 18 ms of work.
func (m *made) queue(servers int) {
	demand := make([]int64, len(m.at))
	for i := range demand {
		demand[i] = m.vary(18e6)
	}
	t, err := queue.Queue{Servers: servers}.Open(m.at, demand)
	if err != nil {
		panic(err)
	}
	m.took = t.Latency
}

func surge(rate float64) *made {
	m := &made{random: rand.New(rand.NewPCG(1, 2)), same: true}
	m.arrive(20, 60)
	m.arrive(rate, 60)
	m.queue(2)
	return m
}

// TestMade holds the fixtures that are made against what makes them.
func TestMade(t *testing.T) {
	const ms = int64(1e6)
	quick, work := when(300e3, 300e3), when(45*ms, 45*ms)
	logged := func(slow int64) []byte {
		m := minutes(10)
		m.latencies(when(slow, 60*ms))
		return m.log()
	}
	database := func(slow float64) []byte {
		return readings("time,dependency,count,mean_ms,p99_ms", 5, func(at int64) string {
			v := .3
			if slowly(at) {
				v = slow
			}
			return fmt.Sprintf("org,%d,%.2f,%.2f", 2000, v, 4*v)
		})
	}
	pool := func(active, waiting int) []byte {
		return readings("time,pool,active,idle,waiting,max", 1, func(at int64) string {
			a, w := 2+int(at/1e9)%4, 0
			if slowly(at) {
				a, w = active, waiting
			}
			return fmt.Sprintf("org,%d,%d,%d,10", a, 10-a, w)
		})
	}
	type files map[string][]byte
	for dir, f := range map[string]struct {
		about string
		files files
	}{
		"service.traffic-surge/sick":    {"20 requests/s for a minute, then 130/s; two processors serve at most 111/s", files{"access.log": surge(130).log()}},
		"service.traffic-surge/healthy": {"20 requests/s for a minute, then 60/s, which two processors serve", files{"access.log": surge(60).log()}},
		"service.dependency-slow/sick-spans": {"20 calls a request, for a minute of 30 ms each instead of 0.3",
			files{"spans.json": minutes(2).spans(20, when(30*ms, 300e3), work, nil)}},
		"service.dependency-slow/healthy-spans": {"20 calls a request of 0.3 ms each; for a minute the process itself takes 2 s",
			files{"spans.json": minutes(2).spans(20, quick, when(2000*ms, 45*ms), nil)}},
		"service.dependency-slow/sick-monitor":    {"40 calls a request, which for a minute take 50 ms each by the database's own monitor", files{"access.log": logged(2060 * ms), "db.csv": database(50)}},
		"service.dependency-slow/healthy-monitor": {"40 calls a request of 0.3 ms; for a minute requests take 2.3 s for another reason", files{"access.log": logged(2300 * ms), "db.csv": database(.3)}},
		"service.pool-exhausted/sick-gauges":      {"for a minute all 10 connections are in use and 20 requests wait", files{"access.log": logged(2300 * ms), "pool.csv": pool(10, 20)}},
		"service.pool-exhausted/healthy-gauges":   {"never more than 7 of 10 connections in use; for a minute requests take 2.3 s for another reason", files{"access.log": logged(2300 * ms), "pool.csv": pool(7, 0)}},
		"service.pool-exhausted/sick-spans": {"for a minute a connection is waited for 1.5 s",
			files{"spans.json": minutes(2).spans(20, quick, work, when(1500*ms, 1*ms))}},
		"service.pool-exhausted/healthy-spans": {"a connection is waited for 1 ms; for a minute the process itself takes 2 s",
			files{"spans.json": minutes(2).spans(20, quick, when(2000*ms, 45*ms), when(1*ms, 1*ms))}},
	} {
		about, err := json.MarshalIndent(map[string]string{"about": f.about, "made_by": "go test ./cause/service -update"}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		f.files["truth.json"] = append(about, '\n')
		for name, want := range f.files {
			path := filepath.Join(fixtures, dir, name)
			if name != "truth.json" {
				path += ".gz"
			}
			if *goldentest.Update {
				write(t, path, want)
				continue
			}
			if got := content(t, path); !bytes.Equal(got, want) {
				t.Errorf("%s is not what is made: %s", path, goldentest.Command())
			}
		}
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if filepath.Ext(path) == ".gz" {
		var w bytes.Buffer
		z, _ := gzip.NewWriterLevel(&w, gzip.BestCompression) // of the levels there are
		_, _ = z.Write(data)
		_ = z.Close()
		data = w.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := io.Reader(f)
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
