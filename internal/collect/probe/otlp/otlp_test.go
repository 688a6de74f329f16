package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/spans"
)

// receiver records until done is called, which returns what was written and warned of.
func receiver(t *testing.T) (r *Receiver, done func() (file, warned string)) {
	t.Helper()
	r, err := Listen("127.0.0.1:0", spans.Reads)
	if err != nil {
		t.Fatal(err)
	}
	sink := probetest.NewSink()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Access().Record(ctx, probe.Plan{For: time.Minute}, sink) }()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		on := r.out != nil
		r.mu.Unlock()
		if on {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not record")
		}
	}
	t.Cleanup(cancel)
	return r, func() (string, string) {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var file strings.Builder
		for _, a := range sink.Kept {
			file.Write(a.Bytes())
		}
		all := slices.DeleteFunc(slices.Clone(sink.Warnings), func(w string) bool { return strings.HasPrefix(w, "spans: none came") })
		return file.String(), strings.Join(all, "\n")
	}
}

func text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// sent is n requests of a service, each with a call: what is sent has the form of what is stored.
func sent(n int, at time.Time) *trace.TracesData {
	var all []*trace.Span
	for i := range n {
		id := func(k byte, size int) []byte { return append(bytes.Repeat([]byte{k}, size-2), byte(i>>8), byte(i)) }
		from := uint64(at.Add(time.Duration(i) * 10 * time.Millisecond).UnixNano())
		all = append(all, &trace.Span{TraceId: id(1, 16), SpanId: id(2, 8), Name: "GET /play", Kind: trace.Span_SPAN_KIND_SERVER, StartTimeUnixNano: from, EndTimeUnixNano: from + 5e6,
			Attributes: []*common.KeyValue{text("http.route", "/play"), text("user.password", "hunter2"), {Key: "http.response.status_code", Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: 200}}}},
			Status:     &trace.Status{Code: trace.Status_STATUS_CODE_OK}, Events: []*trace.Span_Event{{Name: "secret event"}}},
			&trace.Span{TraceId: id(1, 16), SpanId: id(3, 8), ParentSpanId: id(2, 8), Name: "GET", Kind: trace.Span_SPAN_KIND_CLIENT, StartTimeUnixNano: from + 1e6, EndTimeUnixNano: from + 3e6,
				Attributes: []*common.KeyValue{text("db.system", "redis")}})
	}
	return &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: []*common.KeyValue{text("service.name", "gateway"), text("telemetry.sdk.language", "go"), text("process.command_line", "gateway --password hunter2")}},
		ScopeSpans: []*trace.ScopeSpans{{Spans: all}}}}}
}

func post(t *testing.T, url, kind, encoding string, body []byte) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", kind)
	if encoding != "" {
		q.Header.Set("Content-Encoding", encoding)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// call makes a call of gRPC.
func call(t *testing.T, r *Receiver, path string, body []byte, encoding string) (status, message string, answer []byte) {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	head := make([]byte, 5)
	if encoding != "" {
		head[0] = 1
	}
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path, bytes.NewReader(append(head, body...)))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	q.Header.Set("Grpc-Encoding", encoding)
	a, err := transport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if answer, err = io.ReadAll(a.Body); err != nil {
		t.Fatal(err)
	}
	return a.Trailer.Get("Grpc-Status"), a.Trailer.Get("Grpc-Message"), answer
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.Bytes()
}

// In every form the same spans come, they are requests to who reads them, and nothing else is kept of them.
func TestForms(t *testing.T) {
	q := sent(100, time.Unix(1_700_000_000, 0))
	binary := encoded(t, q)
	text, err := protojson.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	// Ids are hexadecimal in OTLP's JSON, unlike protobuf's.
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	hexadecimal(q, tree)
	if text, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, c := range []struct {
		name string
		send func(r *Receiver) string // what is wrong
	}{
		{"protobuf", func(r *Receiver) string {
			return ok(post(t, "http://"+r.Address()+tracesPath, "application/x-protobuf", "", binary))
		}},
		{"packed", func(r *Receiver) string {
			return ok(post(t, "http://"+r.Address()+tracesPath, "application/x-protobuf", "gzip", packed(t, binary)))
		}},
		{"JSON", func(r *Receiver) string {
			return ok(post(t, "http://"+r.Address()+tracesPath, "application/json; charset=utf-8", "", text))
		}},
		{"gRPC", func(r *Receiver) string {
			if status, message, _ := call(t, r, exportPath, binary, ""); status != "0" {
				return status + message
			}
			return ""
		}},
		{"packed gRPC", func(r *Receiver) string {
			if status, message, _ := call(t, r, exportPath, packed(t, binary), "gzip"); status != "0" {
				return status + message
			}
			return ""
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, done := receiver(t)
			if wrong := c.send(r); wrong != "" {
				t.Fatal(wrong)
			}
			file, warned := done()
			if warned != "" {
				t.Error(warned)
			}
			for _, not := range []string{"hunter2", "secret", "command_line"} {
				if strings.Contains(file, not) {
					t.Errorf("%q was kept", not)
				}
			}
			if first == "" {
				first = file
			} else if file != first {
				t.Errorf("other than by protobuf:\n%.400s\n%.400s", file, first)
			}
			path := filepath.Join(t.TempDir(), "spans.jsonl")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			b := evidence.NewBundle()
			if err := format.Read(t.Context(), []format.Format{spans.Format}, format.File(path), b); err != nil {
				t.Fatal(err)
			}
			if n := b.Requests.Len(); n != 100 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func ok(code int, body string) string {
	if code != http.StatusOK {
		return fmt.Sprint(code, body)
	}
	return ""
}

func hexadecimal(q *trace.TracesData, tree map[string]any) {
	for i, r := range q.ResourceSpans {
		for k, scope := range r.ScopeSpans {
			for n, s := range scope.Spans {
				x := tree["resourceSpans"].([]any)[i].(map[string]any)["scopeSpans"].([]any)[k].(map[string]any)["spans"].([]any)[n].(map[string]any)
				x["traceId"], x["spanId"] = fmt.Sprintf("%x", s.TraceId), fmt.Sprintf("%x", s.SpanId)
				if s.ParentSpanId != nil {
					x["parentSpanId"] = fmt.Sprintf("%x", s.ParentSpanId)
				}
			}
		}
	}
}

// What is not understood is refused to its sender and counted; the receiver goes on.
func TestBad(t *testing.T) {
	r, done := receiver(t)
	at := "http://" + r.Address()
	whole := encoded(t, sent(1, time.Unix(1_700_000_000, 0)))
	huge := packed(t, make([]byte, maxBody+1))
	for _, c := range []struct {
		name, path, kind, encoding string
		body                       []byte
		code                       int
	}{
		{"rubbish", tracesPath, "application/x-protobuf", "", []byte("\xff\xff rubbish"), 400},
		{"cut", tracesPath, "application/x-protobuf", "", whole[:len(whole)-7], 400},
		{"no JSON", tracesPath, "application/json", "", []byte("{"), 400},
		{"other JSON", tracesPath, "application/json", "", []byte(`{"hello":1}`), 400},
		{"not packed", tracesPath, "application/json", "gzip", []byte(`{}`), 400},
		{"zstd", tracesPath, "application/json", "zstd", []byte(`{}`), 400},
		{"a bomb", tracesPath, "application/json", "gzip", huge, 413},
		{"large", tracesPath, "application/json", "", make([]byte, maxBody+1), 413},
		{"a form", tracesPath, "application/x-www-form-urlencoded", "", []byte("a=b"), 415},
		{"metrics", "/v1/metrics", "application/x-protobuf", "", whole, 404},
	} {
		if code, body := post(t, at+c.path, c.kind, c.encoding, c.body); code != c.code {
			t.Errorf("%s: %d %s, want %d", c.name, code, body, c.code)
		}
	}
	if status, message, _ := call(t, r, exportPath, []byte("\xff"), ""); status != "3" || message == "" {
		t.Errorf("gRPC: %s %s", status, message)
	}
	if status, _, _ := call(t, r, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", whole, ""); status != "12" {
		t.Errorf("gRPC, metrics: %s", status)
	}
	none := sent(2, time.Unix(1_700_000_000, 0))
	none.ResourceSpans[0].ScopeSpans[0].Spans[0].TraceId = nil
	code, body := post(t, at+tracesPath, "application/x-protobuf", "", encoded(t, none))
	if code != 200 || !strings.HasPrefix(body, "\x0a\x29\x08\x01\x12\x25no id") { // partial_success { rejected_spans: 1, error_message }
		t.Errorf("without a trace: %d %q", code, body)
	}
	file, warned := done()
	if n := strings.Count(file, "\n"); n != 1 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(warned, "10 requests were not understood; the first: it is no ExportTraceServiceRequest") || !strings.Contains(warned, "1 were not kept") {
		t.Errorf("warned: %s", warned)
	}
}

// Who sends while others are being read is told to come again.
func TestBackpressure(t *testing.T) {
	r, done := receiver(t)
	held, release := make(chan struct{}, atOnce), make(chan struct{})
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			in, out := io.Pipe()
			go func() {
				_, _ = out.Write([]byte(" "))
				held <- struct{}{}
				<-release
				_, _ = out.Write([]byte(`{"resourceSpans":[]}`))
				_ = out.Close()
			}()
			q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+tracesPath, in)
			q.Header.Set("Content-Type", "application/json")
			if a, err := http.DefaultClient.Do(q); err == nil {
				_ = a.Body.Close()
			}
		})
	}
	for range atOnce {
		<-held
	}
	for end := time.Now().Add(10 * time.Second); len(r.slot) < atOnce && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if code, _ := post(t, "http://"+r.Address()+tracesPath, "application/json", "", []byte(`{"resourceSpans":[]}`)); code != http.StatusTooManyRequests {
		t.Errorf("%d", code)
	}
	if status, _, _ := call(t, r, exportPath, nil, ""); status != "14" {
		t.Errorf("gRPC: %s", status)
	}
	close(release)
	all.Wait()
	if _, warned := done(); !strings.Contains(warned, "2 exports were asked to retry") {
		t.Errorf("warned: %s", warned)
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"4318", "127.0.0.1", "127.0.0.1:99999"} {
		if r, err := Listen(address, nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v %v", address, r, err)
		}
	}
	r, err := Listen(":0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Beyond() {
		t.Errorf("%s is not on loopback", r.Address())
	}
}

func FuzzProto(f *testing.F) {
	b, _ := proto.Marshal(sent(2, time.Unix(1_700_000_000, 0)))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := parseProto(b)
		for _, x := range all {
			x.toRequest(spans.Reads, maxSpans)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},"scopeSpans":[{"spans":[{"traceId":"0102","kind":"SPAN_KIND_SERVER","startTimeUnixNano":"1"}]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := parseJSON(b)
		for _, x := range all {
			x.toRequest(spans.Reads, maxSpans)
		}
	})
}
