package gostack

import (
	"slices"
	"strings"
)

// Prefixes of the functions with which goroutines begin that serve requests, by the library: one goroutine for each connection, or for each
// request.
var (
	NetHTTP  = []string{"net/http.(*conn).serve"}
	HTTP2    = []string{"net/http.(*http2serverConn).runHandler", "golang.org/x/net/http2.(*serverConn).runHandler", "net/http/internal/http2.(*serverConn).runHandler"}
	GRPC     = []string{"google.golang.org/grpc.(*Server).serveStreams.func", "google.golang.org/grpc.(*Server).handleStream"}
	NetRPC   = []string{"net/rpc.(*service).call"}
	FastHTTP = []string{"github.com/valyala/fasthttp.(*workerPool).getCh.func1", "github.com/valyala/fasthttp.(*workerPool).workerFunc"}
	// CloudWeGo is Hertz and Kitex: a worker of their pool of goroutines reads what netpoll has ready.
	CloudWeGo = []string{"github.com/bytedance/gopkg/util/gopool.(*worker).run", "github.com/cloudwego/hertz/pkg/protocol/http1.Server.Serve"}

	serving = slices.Concat(NetHTTP, HTTP2, GRPC, NetRPC, FastHTTP, CloudWeGo)
)

// Serves reports whether a function, as the runtime prints it, is one with which goroutines begin that serve requests.
func Serves(function string) bool {
	return slices.ContainsFunc(serving, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}
