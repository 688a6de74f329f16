// Package otlp receives the spans of services during a recording, as a collector does. It writes them in OpenTelemetry's own file form, which
// internal/format/spans reads:
//
//	HTTP     POST /v1/traces, protobuf or JSON, gzip or not
//	gRPC     TraceService/Export, on the same port
//	         https://opentelemetry.io/docs/specs/otlp/
//
// Its opinion: only the parts of a span that say where its time went are kept (IDs, times, kind, status, the attributes that the caller
// names). Events, links and other attributes hold data that people would not want in a file. Memory is bounded by reading few requests at a
// time; other senders are told to retry, as the protocol allows. Requests that are not understood are counted, and refused.
package otlp

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Bounds of accepted requests.
const (
	maxBody  = 16 << 20        // bytes of a request, packed and unpacked
	atOnce   = 2               // requests read at the same time
	patience = time.Second     // wait of another request
	maxSpans = 2 << 20         // spans that are kept, as many as the format reads
	late     = 6 * time.Second // after the recording: SDKs send every 5 s
)

// Receiver listens for spans. It keeps them during a recording.
type Receiver struct {
	keep func(attribute string) bool
	l    net.Listener
	slot chan struct{}

	mu    sync.Mutex
	out   io.Writer // nil: no recording runs
	err   error     // of writing
	kept  int64
	first string // the first error of understanding a request

	bad, refused, dropped atomic.Int64 // requests not understood, requests sent away, spans not kept
}

// Listen listens at an address; "" is the port of OTLP over HTTP on loopback. keep says which attributes are kept. The error is one line.
func Listen(address string, keep func(attribute string) bool) (*Receiver, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--otlp %s: give an address and a port, such as 127.0.0.1:4318", address)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--otlp %s: %w: give another one, as 127.0.0.1:0, and name it to the service", address, err)
	}
	return &Receiver{keep: keep, l: l, slot: make(chan struct{}, atOnce)}, nil
}

// Address returns the address it listens at: "127.0.0.1:4318".
func (r *Receiver) Address() string { return r.l.Addr().String() }

// Beyond says whether other hosts can reach it.
func (r *Receiver) Beyond() bool {
	a, err := netip.ParseAddrPort(r.Address())
	return err == nil && !a.Addr().Unmap().IsLoopback()
}

// Close stops listening if no recording runs.
func (r *Receiver) Close() { _ = r.l.Close() }

// Access returns the receiver as an access to record.
func (r *Receiver) Access() probe.Access {
	return probe.Access{Probe: "otlp", Where: "http://" + r.Address(), Record: r.recordSpans}
}

func (r *Receiver) recordSpans(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
	file, err := sink.Create(capture.Meta{Name: "spans.jsonl", Probe: "otlp", Origin: "http://" + r.Address(), Lines: true})
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 64<<10)
	r.mu.Lock()
	r.out = w
	r.mu.Unlock()

	server := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // which gRPC is on
	served := make(chan error, 1)
	go func() { served <- server.Serve(r.l) }()
	flush := time.NewTicker(time.Second)
	defer flush.Stop()
	end := time.NewTimer(plan.For + late)
	defer end.Stop()
	for going := true; going; {
		select {
		case <-ctx.Done():
			going = false
		case <-end.C:
			going = false
		case err = <-served:
			going = false
		case <-flush.C:
			r.mu.Lock()
			_ = w.Flush() // the error stays
			r.mu.Unlock()
		}
	}
	down, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if server.Shutdown(down) != nil {
		_ = server.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = nil
	r.warnUnkept(sink)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, r.err, w.Flush(), file.Close())
}

// warnUnkept warns of requests and spans that were not kept.
func (r *Receiver) warnUnkept(sink probe.Sink) {
	if n := r.bad.Load(); n > 0 {
		sink.Warnf("spans: %d requests were not understood; the first: %s", n, r.first)
	}
	if n := r.refused.Load(); n > 0 {
		sink.Warnf("spans: %d exports were asked to retry while others were read", n)
	}
	if n := r.dropped.Load(); n > 0 {
		sink.Warnf("spans: %d were not kept: without an id, a trace or a time, or beyond the first %d", n, maxSpans)
	}
	if r.kept == 0 {
		sink.Warnf("spans: none came to %s: have the service send there, by OTEL_EXPORTER_OTLP_ENDPOINT=http://%[1]s", r.Address())
	}
}

// Paths of the two forms.
const (
	tracesPath = "/v1/traces"
	exportPath = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// ServeHTTP accepts a request of either form.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if len(kind) >= len(grpcType) && kind[:len(grpcType)] == grpcType {
		r.serveGRPC(w, q)
		return
	}
	refuse := func(code int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text+"\n")
	}
	switch {
	case q.URL.Path != tracesPath:
		refuse(http.StatusNotFound, "unstall takes traces alone, at "+tracesPath)
		return
	case q.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(http.StatusMethodNotAllowed, "POST spans here")
		return
	case kind != "application/x-protobuf" && kind != "application/json":
		r.noteMisunderstood("content type " + quoteClipped(kind))
		refuse(http.StatusUnsupportedMediaType, "send application/x-protobuf or application/json")
		return
	}
	if !r.acquireSlot(q.Context()) {
		w.Header().Set("Retry-After", "1")
		refuse(http.StatusTooManyRequests, "others are being read: come again")
		return
	}
	defer r.releaseSlot()
	body, err := readBody(q.Body, q.Header.Get("Content-Encoding"))
	if errors.Is(err, errLarge) {
		r.noteMisunderstood(err.Error())
		refuse(http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	var all []batch
	if err == nil && kind == "application/json" {
		all, err = parseJSON(body)
	} else if err == nil {
		all, err = parseProto(body)
	}
	if err != nil {
		r.noteMisunderstood(err.Error())
		refuse(http.StatusBadRequest, "not understood: "+err.Error())
		return
	}
	rejected, err := r.storeBatches(all)
	if err != nil {
		refuse(http.StatusServiceUnavailable, "nothing can be stored any more")
		return
	}
	w.Header().Set("Content-Type", kind)
	if kind == "application/json" {
		_, _ = w.Write(answerJSON(rejected))
	} else {
		_, _ = w.Write(answerProto(rejected))
	}
}

// acquireSlot waits up to a second for one of the slots for reading; false if there was none.
func (r *Receiver) acquireSlot(ctx context.Context) bool {
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case r.slot <- struct{}{}:
		return true
	case <-wait.C:
	case <-ctx.Done():
	}
	r.refused.Add(1)
	return false
}

func (r *Receiver) releaseSlot() { <-r.slot }

func (r *Receiver) noteMisunderstood(what string) {
	if r.bad.Add(1) == 1 {
		r.mu.Lock()
		r.first = what
		r.mu.Unlock()
	}
}

var errLarge = fmt.Errorf("more than %d MiB at once", maxBody>>20)

// readBody reads a body and unpacks it; errLarge if it is larger than maxBody.
func readBody(body io.Reader, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(body, maxBody))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		defer z.Close()
		body = z
	default:
		return nil, fmt.Errorf("encoding %s", quoteClipped(encoding))
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(body, maxBody+1))
	if n > maxBody {
		return nil, errLarge
	}
	return b.Bytes(), err
}

// storeBatches writes batches to the output, and returns how many of their spans it did not keep.
func (r *Receiver) storeBatches(all []batch) (rejected int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out == nil || r.err != nil {
		return 0, errors.New("it does not record")
	}
	for _, b := range all {
		line, n := b.toRequest(r.keep, maxSpans-r.kept)
		rejected += int64(len(b.spans)) - n
		if n == 0 {
			continue
		}
		text, err := json.Marshal(line)
		if err != nil {
			return rejected, err
		}
		r.kept += n
		if _, r.err = r.out.Write(append(text, '\n')); r.err != nil {
			return rejected, r.err
		}
	}
	r.dropped.Add(rejected)
	return rejected, nil
}

func quoteClipped(s string) string {
	if len(s) > 80 {
		s = s[:80]
	}
	return fmt.Sprintf("%q", s)
}
