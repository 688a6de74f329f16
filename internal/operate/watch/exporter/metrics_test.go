package exporter

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/unstall/unstall/internal/operate/watch/series"
)

// everything is a state with each existing series, of two processes.
func everything() State {
	s := State{At: time.Unix(1_800_000_000, 5e8), Runs: map[string][]string{"go": {"gateway"}, "host": {"web1"}}}
	for i, x := range series.All {
		for _, pid := range []string{"7", "8"} {
			labels := []Label{{"host", "web1"}}
			if !x.Host {
				labels = append(labels, Label{"service", "gateway"}, Label{"pid", pid})
			} else if pid == "8" {
				continue
			}
			s.Samples = append(s.Samples, Of(x, float64(i)+.5, s.At, labels...))
		}
		s.Figures = append(s.Figures, Figure{"go", "gateway", x.ID, float64(i), s.At})
	}
	s.Bounds = []Bound{{"go", "gateway", "dotnet.loh-size", 1e9}}
	return s
}

// TestPrometheus checks that Prometheus gets all samples, named by its conventions.
func TestPrometheus(t *testing.T) {
	at, done, err := Serve("127.0.0.1:0", everything)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	answer, err := http.Get("http://" + at + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %v\n%.500s", answer.Status, err, text)
	}
	problems, err := promlint.New(strings.NewReader(string(text))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, s := range series.All {
		if !strings.Contains(string(text), "\n"+s.Metric.Full()+"{") {
			t.Errorf("%s is not there as %s", s.ID, s.Metric.Full())
		}
	}
	if want := `jvm_gc_duration_seconds_count{host="web1",jvm_gc_name="young",pid="7",service="gateway"}`; !strings.Contains(string(text), want) {
		t.Errorf("no %s", want)
	}
}

// asked returns the page of a state for a client that accepts a type, and the page's type.
func asked(t *testing.T, accept string, s State) (contentType, text string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	Handler(func() State { return s }).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Header().Get("Content-Type"), w.Body.String()
}

// TestPage checks the page's escapes, that each sample occurs once, and that the type is the requested one.
func TestPage(t *testing.T) {
	s := State{Samples: []Sample{
		{Name: "b_total", Help: "two\nlines \\", Kind: Counter, Value: 3, Labels: []Label{{"z", `a"b\c` + "\n\xff"}, {"a", ""}}},
		{Name: "a_seconds", Part: "sum", Value: .25, Labels: []Label{{"pid", "7"}}},
		{Name: "a_seconds", Part: "count", Value: 2e6, Labels: []Label{{"pid", "7"}}},
		{Name: "a_seconds", Part: "count", Value: 9, Labels: []Label{{"pid", "7"}}},
		{Name: "c", Help: "first", Value: math.Inf(1)},
		{Name: "c", Help: "other", Value: 4, Labels: []Label{{"pid", "7"}}},
		{Name: "c", Value: 5},
		{Name: "d_seconds", Part: "sum", Value: 2},
	}}
	want := `# HELP a_seconds 
# TYPE a_seconds summary
a_seconds_sum{pid="7"} 0.25
a_seconds_count{pid="7"} 2e+06
# HELP b_total two\nlines \\
# TYPE b_total counter
b_total{a="",z="a\"b\\c\n�"} 3
# HELP c first
# TYPE c gauge
c +Inf
c{pid="7"} 4
# HELP d_seconds_sum 
# TYPE d_seconds_sum untyped
d_seconds_sum 2
`
	of, text := asked(t, "", s)
	if text != want || !strings.HasPrefix(of, "text/plain; version=0.0.4;") {
		t.Errorf("%s\n%s", of, text)
	}
	of, text = asked(t, "application/openmetrics-text; version=1.0.0", s)
	if !strings.HasPrefix(of, "application/openmetrics-text; version=1.0.0;") || !strings.HasSuffix(text, "\n# EOF\n") || !strings.Contains(text, "\n# TYPE b counter\nb_total{") {
		t.Errorf("%s\n%s", of, text)
	}
}

// TestRemoteWrite checks that a store gets each sample, with sorted labels and its time.
func TestRemoteWrite(t *testing.T) {
	var got []byte
	var head http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		head = r.Header
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	store, err := RemoteWrite(strings.Replace(server.URL, "http://", "http://me:secret@", 1)+"/api/v1/write", "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(store.Where, "secret") {
		t.Errorf("%s tells the password", store.Where)
	}
	state := everything()
	body, n := store.Encode(state)
	if n != len(state.Samples) {
		t.Errorf("%d points of %d", n, len(state.Samples))
	}
	if err := store.Send(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	if user, password, ok := (&http.Request{Header: head}).BasicAuth(); !ok || user != "me" || password != "secret" || head.Get("Content-Encoding") != "snappy" {
		t.Errorf("head %v", head)
	}
	plain, err := s2.Decode(nil, got)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	fields(t, plain, func(field protowire.Number, one []byte, _ uint64) {
		want, name, last := state.Samples[i], "", ""
		fields(t, one, func(field protowire.Number, part []byte, _ uint64) {
			var key, value string
			fields(t, part, func(f protowire.Number, text []byte, number uint64) {
				switch {
				case field == seriesLabels && f == labelName:
					key = string(text)
				case field == seriesLabels:
					value = string(text)
				case f == sampleValue && math.Float64frombits(number) != want.Value, f == sampleTime && int64(number) != want.At.UnixMilli():
					t.Errorf("%s: %d", want.Name, number)
				}
			})
			if field != seriesLabels {
				return
			}
			if key < last {
				t.Errorf("label %s stands behind %s", key, last)
			}
			if last = key; key == "__name__" {
				name = value
			}
		})
		if name != want.Full() {
			t.Errorf("%s, want %s", name, want.Full())
		}
		i++
	})
	if i != len(state.Samples) {
		t.Errorf("%d series of %d", i, len(state.Samples))
	}
}

// fields calls a function for each field of a message.
func fields(t *testing.T, b []byte, each func(field protowire.Number, text []byte, number uint64)) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var text []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(b)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(b)
		default:
			number, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		each(field, text, number)
	}
}

// TestZabbix checks the sender against the documented form of requests and answers.
func TestZabbix(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	requests := make(chan []byte, 8)
	var answer atomic.Value
	answer.Store(`{"response":"success","info":"processed: 3; failed: 1; total: 4; seconds spent: 0.000055"}`)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			head := make([]byte, 13)
			if _, err := io.ReadFull(c, head); err == nil && string(head[:5]) == "ZBXD\x01" && binary.LittleEndian.Uint32(head[9:]) == 0 {
				text := make([]byte, binary.LittleEndian.Uint32(head[5:]))
				_, _ = io.ReadFull(c, text)
				requests <- text
			}
			_, _ = c.Write(frameMessage([]byte(answer.Load().(string))))
			_ = c.Close()
		}
	}()
	store, err := Zabbix(l.Addr().String(), "web1")
	if err != nil {
		t.Fatal(err)
	}
	body, n := store.Encode(everything())
	if n != len(series.All)+1+2 {
		t.Errorf("%d values, want each series, a bound, and two discoveries", n)
	}
	if err := store.Send(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Request string
		Data    []struct {
			Host, Key, Value string
			Clock            int64
			NS               int
		}
	}
	if err := json.Unmarshal(<-requests, &got); err != nil || got.Request != "sender data" {
		t.Fatalf("%+v %v", got, err)
	}
	keys := make(map[string]string)
	for _, v := range got.Data {
		keys[v.Key] = v.Value
		if v.Host != "web1" || v.Clock != 1_800_000_000 || v.NS != 5e8 {
			t.Errorf("%+v", v)
		}
	}
	for key, value := range map[string]string{"unstall.go[gateway,jvm/young-gc]": "", "unstall.go.bound[gateway,dotnet.loh-size]": "1000000000", "unstall.services[go]": `[{"{#SERVICE}":"gateway"}]`} {
		if v, ok := keys[key]; !ok || value != "" && v != value {
			t.Errorf("%s: %q %t", key, v, ok)
		}
	}
	if got := ZabbixItem("k", `a "b", c`, "{#SERVICE}"); got != `k["a \"b\", c",{#SERVICE}]` {
		t.Errorf("key %s", got)
	}
	answer.Store(`{"response":"success","info":"processed: 0; failed: 4; total: 4; seconds spent: 0.000055"}`)
	if err := store.Send(t.Context(), body); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--zabbix-host") {
		t.Errorf("a server that does not know the host: %v", err)
	}
	later, _ := store.Encode(everything()) // contains no discovery
	if err := store.Send(t.Context(), later); !errors.Is(err, ErrRefused) {
		t.Errorf("it still does not: %v", err)
	}
	answer.Store(`{"response":"success","info":"processed: 2; failed: 2; total: 4; seconds spent: 0.000055"}`)
	if err := store.Send(t.Context(), body); err != nil {
		t.Errorf("a server that discovers: %v", err)
	}
	answer.Store(`{"response":"success","info":"processed: 0; failed: 2; total: 2; seconds spent: 0.000055"}`)
	if err := store.Send(t.Context(), later); err != nil {
		t.Errorf("a server that has not yet made the items of what it discovered: %v", err)
	}
	answer.Store(`{"response":"failed","info":"host not found"}`)
	if err := store.Send(t.Context(), body); !errors.Is(err, ErrRefused) {
		t.Errorf("refused: %v", err)
	}
}

// TestPusher checks that payloads which a store does not take wait within a bound, and are then lost and counted. It
// checks that a wrong token is reported once and as such, and that sending continues once the store is up.
func TestPusher(t *testing.T) {
	var code atomic.Int32
	var taken atomic.Int64
	code.Store(http.StatusUnauthorized)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			w.WriteHeader(int(code.Load()))
			return
		}
		taken.Add(1)
	}))
	defer server.Close()
	said, ok := make(chan string, 1000), make(chan string, 1000)
	open := func(token string) *Pusher {
		store, err := OTLP(server.URL, token)
		if err != nil {
			t.Fatal(err)
		}
		return NewPusher(store, func(_, text string) { said <- text }, func(_, text string) { ok <- text })
	}
	p := open("wrong")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); p.Run(ctx) }()
	s := everything()
	for range mostStates + 10 {
		p.Put(s)
	}
	if text := <-said; !strings.Contains(text, "token or password is wrong") {
		t.Errorf("said %s", text)
	}
	lost, sent, waiting := p.Lost()
	n := int64(len(s.Samples))
	if sent != 0 || lost < 10*n || lost+waiting != (mostStates+10)*n || waiting > mostStates*n {
		t.Errorf("lost %d, sent %d, waiting %d of %d a state", lost, sent, waiting, n)
	}
	if p.bytes > mostBytes {
		t.Errorf("%d bytes wait", p.bytes)
	}
	cancel()
	<-ended

	p = open("right")
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	for range 3 {
		p.Put(s)
	}
	go p.Run(ctx)
	for range 3 {
		<-ok
	}
	if lost, sent, waiting := p.Lost(); lost != 0 || sent != 3*n || waiting != 0 || taken.Load() != 3 {
		t.Errorf("lost %d, sent %d, waiting %d, the store has %d states", lost, sent, waiting, taken.Load())
	}
	for _, wrong := range []string{"", "store:8428", "ftp://x/", "http://"} {
		if _, err := RemoteWrite(wrong, ""); err == nil {
			t.Errorf("%q is taken for a URL", wrong)
		}
	}
}

// TestOTLP checks OTLP payloads against its own definition.
func TestOTLP(t *testing.T) {
	state := everything()
	body, n := encodeOTLP(state, time.Unix(1_700_000_000, 0))
	var got otlp.MetricsData // an ExportMetricsServiceRequest has the same fields
	if err := proto.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	points := 0
	for _, m := range got.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		of := m.GetGauge().GetDataPoints()
		if sum := m.GetSum(); sum != nil {
			of = sum.DataPoints
			if !sum.IsMonotonic || sum.AggregationTemporality != otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE || of[0].StartTimeUnixNano == 0 {
				t.Errorf("%s: %+v", m.Name, sum)
			}
		}
		for _, p := range of {
			if want := state.Samples[points]; m.Name != want.Full() || p.GetAsDouble() != want.Value || p.TimeUnixNano != uint64(want.At.UnixNano()) || len(p.Attributes) != len(want.Labels) || p.Attributes[0].Key != want.Labels[0].Name || p.Attributes[0].Value.GetStringValue() != want.Labels[0].Value {
				t.Errorf("%s %+v, want %+v", m.Name, p, want)
			}
			points++
		}
		if m.Description == "" || len(m.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("%+v", m)
		}
	}
	if points != n || n != len(state.Samples) {
		t.Errorf("%d points, said to be %d, of %d", points, n, len(state.Samples))
	}
}
