package gopprof

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// A trace that grows beyond its bound is ended, and the data that the server still writes is stored.
func TestStreamIsEndedWhole(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("go 1.26 trace\x00\x00\x00"))
		for r.Context().Err() == nil {
			_, _ = w.Write(bytes.Repeat([]byte{1}, 64<<10))
		}
		_, _ = w.Write([]byte("the last generation"))
	})
	for name, server := range map[string]*httptest.Server{"http": httptest.NewServer(page), "https": httptest.NewTLSServer(page)} {
		defer server.Close()
		u, _ := url.Parse(server.URL)
		sink := probetest.NewSink()
		r := &recording{endpoint: newEndpoint(u, ""), sink: sink, end: time.Now().Add(time.Minute), stop: func() {}, said: make(map[string]bool), cut: make(map[string]bool)}
		m := &meter{most: 1 << 20}
		outcome, n := r.fetchPiece(t.Context(), piece{path: "trace", query: "seconds=60", name: "trace-0001.out", within: time.Minute, most: 1 << 40, switches: true, meter: m})
		if outcome != fetched || n < m.most || m.why == "" || !strings.HasSuffix(sink.Text("trace-0001.out"), "the last generation") || len(r.cut) > 0 || len(sink.Warnings) > 0 {
			t.Errorf("%s: outcome %d after %d bytes, ended as %q, warnings %q", name, outcome, n, m.why, sink.Warnings)
		}
	}
}

func TestMeter(t *testing.T) {
	const s = time.Second
	at := time.Unix(1.7e9, 0)
	for _, x := range []struct {
		about string
		rate  int64         // bytes/s
		cpu   time.Duration // of the process, per second
		over  bool
	}{
		{"within the share", 500e3, s, false},
		{"above it", 600e3, s, true},
		{"a process that hardly runs", 190e3, s / 100, false},
		{"one that runs little", 210e3, s / 10, true},
		{"unknown, few", 150e3, -1, false},
		{"unknown, many", 250e3, -1, true},
	} {
		ended := false
		m := &meter{ends: &ending{cancel: func() { ended = true }}}
		for i := range int64(traceJudged/traceMark) + 1 {
			cpu := time.Duration(i) * x.cpu
			if x.cpu < 0 {
				cpu = -1
			}
			if ended {
				t.Errorf("%s: ended before %v", x.about, traceJudged)
			}
			m.addMark(mark{at.Add(time.Duration(i) * s), i * x.rate, cpu})
		}
		if ended != x.over || (m.why != "") != x.over {
			t.Errorf("%s: ended %v, %q", x.about, ended, m.why)
		}
	}
}

func TestOldTrace(t *testing.T) {
	for head, old := range map[string]bool{"go 1.21 trace\x00\x00\x00": true, "go 1.11 trace\x00\x00\x00": true, "go 1.22 trace\x00\x00\x00": false, "go 1.26 trace\x00\x00\x00": false, "<html>": true} {
		if oldTrace([]byte(head)) != old {
			t.Errorf("%q", head)
		}
	}
	m := &meter{most: 1 << 20, ends: &ending{cancel: func() {}}}
	m.countBytes([]byte("go 1.2"))
	m.countBytes([]byte("1 trace\x00\x00\x00and more"))
	if m.why == "" || string(m.head) != "go 1.21 trace\x00\x00\x00" {
		t.Errorf("%q: %q", m.head, m.why)
	}
}

// Ending does not wait for an answer that has not been requested yet.
func TestEndingBeforeTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	request, e := newEnding(ctx)
	defer e.release()
	cancel()
	<-request.Done()
}

func TestCPUTime(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	if d := cpuTime(os.Getpid()); d < 0 || d > time.Hour {
		t.Errorf("%v", d)
	}
	if cpuTime(0) != -1 {
		t.Error("of no process")
	}
}
