package gostack

import (
	"strings"
	"testing"
)

// A gRPC client waits for an answer, or for a stream of its connection.
func TestWaitOfGRPC(t *testing.T) {
	for _, c := range []struct {
		what  Awaited
		name  string
		stack string
	}{
		{Answer, "google.golang.org/grpc", "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader google.golang.org/grpc.(*csAttempt).recvMsg main.(*sales).seats"},
		{Answer, "google.golang.org/grpc", "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient main.(*sales).seats"},
		{Pool, "streams of a gRPC connection in main.(*sales).seats", "runtime.gopark runtime.selectgo google.golang.org/grpc/internal/transport.(*http2Client).NewStream google.golang.org/grpc.newClientStreamWithParams main.(*sales).seats"},
		{Nothing, "", "runtime.gopark runtime.selectgo golang.org/x/time/rate.(*Limiter).wait main.(*limits).intercept"},
	} {
		if w := WaitOf(strings.Fields(c.stack)); w.For != c.what || w.Name != c.name {
			t.Errorf("%s: %v %q, want %v %q", c.stack, w.For, w.Name, c.what, c.name)
		}
	}
}
