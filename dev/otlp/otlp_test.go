// Package otlp tests the receiver of spans with OpenTelemetry's own SDK and exporters.
package otlp

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/otlp"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/spans"
)

// sink keeps the recorded artifacts.
type sink struct {
	mu     sync.Mutex
	file   strings.Builder
	warned []string
}

func (s *sink) Create(capture.Meta) (io.WriteCloser, error) { return s, nil }
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Write(b)
}
func (s *sink) Close() error                { return nil }
func (s *sink) Known([]byte) bool           { return true }
func (s *sink) Lack(probe.Lack)             {}
func (s *sink) Warnf(text string, _ ...any) { s.warned = append(s.warned, text) }

// TestExporters sends requests with calls from a service's SDK and checks that a reader of the recording sees the same requests.
func TestExporters(t *testing.T) {
	for name, exporter := range map[string]func(ctx context.Context, at string) (sdk.SpanExporter, error){
		"HTTP": func(ctx context.Context, at string) (sdk.SpanExporter, error) {
			return otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(at), otlptracehttp.WithInsecure())
		},
		"HTTP, packed": func(ctx context.Context, at string) (sdk.SpanExporter, error) {
			return otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(at), otlptracehttp.WithInsecure(), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
		},
		"gRPC": func(ctx context.Context, at string) (sdk.SpanExporter, error) {
			return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(at), otlptracegrpc.WithInsecure())
		},
		"gRPC, packed": func(ctx context.Context, at string) (sdk.SpanExporter, error) {
			return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(at), otlptracegrpc.WithInsecure(), otlptracegrpc.WithCompressor("gzip"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := otlp.Listen("127.0.0.1:0", spans.Reads)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			kept, ended := new(sink), make(chan error, 1)
			go func() { ended <- r.Access().Record(ctx, probe.Plan{For: time.Minute}, kept) }()

			to, err := exporter(t.Context(), r.Address())
			if err != nil {
				t.Fatal(err)
			}
			provider := sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"), attribute.String("telemetry.sdk.language", "go"))))
			const requests = 1000
			for range requests {
				in, request := provider.Tracer("shop").Start(t.Context(), "GET /play", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.route", "/play"), attribute.String("secret", "hunter2")))
				_, call := provider.Tracer("shop").Start(in, "GET", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("db.system", "redis")))
				call.End()
				request.End()
			}
			if err := provider.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			stop()
			if err := <-ended; err != nil || len(kept.warned) > 0 {
				t.Errorf("%v %v", err, kept.warned)
			}
			if strings.Contains(kept.file.String(), "hunter2") {
				t.Error("an attribute was kept that nobody reads")
			}
			path := filepath.Join(t.TempDir(), "spans.jsonl")
			if err := os.WriteFile(path, []byte(kept.file.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			b := evidence.NewBundle()
			if err := format.Read(t.Context(), []format.Format{spans.Format}, format.File(path), b); err != nil {
				t.Fatal(err)
			}
			if n := b.Requests.Len(); n != requests {
				t.Errorf("%d requests of %d", n, requests)
			}
		})
	}
}
