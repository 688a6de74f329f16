package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/gostack"
)

// stage is where in a server's loop a stack stands.
type stage uint8

const (
	stageNone    stage = iota
	stageIdle          // waits for the first byte of the next request
	stageHead          // reads the request's head
	stageHandler       // runs the handler
	stageWrite         // writes the response
	stageAfter         // the response is out
	stageStream        // hijacked or upgraded: no longer requests and responses
)

// serverKind is a server library: how its goroutines frame requests.
type serverKind struct {
	name string
	// perRequest: one goroutine each; else one goroutine reads request after
	// request from a connection.
	perRequest bool
	roots      []string // prefixes of the goroutine's function
	stageOf    func(funcs []string) stage
}

// serverKinds are the serving stacks that are known. One more is an entry here.
var serverKinds = []serverKind{
	{name: "net/http", roots: gostack.NetHTTP, stageOf: netHTTPStage},
	{name: "HTTP/2", perRequest: true, roots: gostack.HTTP2},
	{name: "gRPC", perRequest: true, roots: gostack.GRPC},
	{name: "net/rpc", perRequest: true, roots: gostack.NetRPC},
	{name: "fasthttp", roots: gostack.FastHTTP, stageOf: fastHTTPStage},
}

// matchServer recognises a server's stack. Client is true if the stack stands in a read from, or a
// write to, the client.
func matchServer(funcs []string) (kind *serverKind, at stage, client bool) {
	root := funcs[len(funcs)-1]
	for i := range serverKinds {
		k := &serverKinds[i]
		for _, r := range k.roots {
			if !strings.HasPrefix(root, r) {
				continue
			}
			if k.perRequest {
				return k, stageHandler, false
			}
			at = k.stageOf(funcs)
			client = at == stageIdle || at == stageHead || at == stageWrite || at == stageHandler && readsBody(funcs)
			return k, at, client
		}
	}
	return nil, stageNone, false
}

func readsBody(funcs []string) bool {
	return hasFuncPrefix(funcs, "net/http.(*body).") || hasFuncPrefix(funcs, "net/http.(*expectContinueReader).") || hasFuncPrefix(funcs, "net/http.(*connReader).Read")
}

// flushesHTTP2 says whether a handler's stack stands in a flush of an HTTP/2 response. The
// goroutine of its connection writes that; the handler waits on channels until it has.
func flushesHTTP2(funcs []string) bool {
	return hasFuncPrefix(funcs, "net/http.(*http2responseWriter).Flush") || hasFuncPrefix(funcs, "golang.org/x/net/http2.(*responseWriter).Flush") ||
		hasFuncPrefix(funcs, "net/http/internal/http2.(*responseWriter).Flush")
}

func hasFuncPrefix(funcs []string, prefix string) bool {
	for _, f := range funcs {
		if strings.HasPrefix(f, prefix) {
			return true
		}
	}
	return false
}

// netHTTPStage reads the frame that (*conn).serve called; see serve and
// readRequest in net/http/server.go.
func netHTTPStage(funcs []string) stage {
	if len(funcs) < 2 {
		return stageNone
	}
	switch f := funcs[len(funcs)-2]; {
	case f == "bufio.(*Reader).Peek":
		return stageIdle
	case strings.HasPrefix(f, "net/http.(*conn).readRequest"), strings.HasPrefix(f, "crypto/tls."):
		return stageHead
	case strings.HasPrefix(f, "net/http.(*response).finishRequest"):
		if hasFuncPrefix(funcs, "net/http.(*connReader).abortPendingRead") {
			return stageAfter
		}
		return stageWrite
	case strings.HasPrefix(f, "net/http.serverHandler.ServeHTTP"), strings.HasPrefix(f, "net/http.initALPNRequest.ServeHTTP"):
		switch {
		case hasFuncPrefix(funcs, "net/http.(*conn).hijackLocked"):
			return stageStream
		case hasFuncPrefix(funcs, "net/http/httputil.(*ReverseProxy).handleUpgradeResponse"): // it waits until either side of what was upgraded ends
			return stageStream
		case hasFuncPrefix(funcs, "net/http.(*http2Server).ServeConn"), hasFuncPrefix(funcs, "golang.org/x/net/http2.(*Server).ServeConn"):
			return stageStream
		case hasFuncPrefix(funcs, "net/http.checkConnErrorWriter.Write"), hasFuncPrefix(funcs, "net/http.(*response)."), hasFuncPrefix(funcs, "net/http.(*chunkWriter)."):
			return stageWrite
		case hasFuncPrefix(funcs, "net/http.(*connReader).Read") && !hasFuncPrefix(funcs, "net/http.(*body)."), containsAny(funcs, "websocket"):
			return stageStream
		}
		return stageHandler
	case strings.HasPrefix(f, "net/http.(*connReader).startBackgroundRead"):
		return stageHandler
	case strings.HasPrefix(f, "net/http.(*http2"), strings.HasPrefix(f, "net/http.(*Server).setupHTTP2"), strings.HasPrefix(f, "net/http.(*Server).onceSetNextProtoDefaults"):
		return stageStream
	}
	return stageNone
}

func containsAny(funcs []string, part string) bool {
	for _, f := range funcs {
		if strings.Contains(f, part) {
			return true
		}
	}
	return false
}

// fastHTTPStage reads fasthttp's stacks; see serveConn in server.go and
// workerFunc in workerpool.go.
func fastHTTPStage(funcs []string) stage {
	const pkg = "github.com/valyala/fasthttp."
	switch {
	case hasFuncPrefix(funcs, pkg+"writeResponse"), hasFuncPrefix(funcs, pkg+"(*Response).Write"):
		return stageWrite
	case hasFuncPrefix(funcs, pkg+"(*RequestHeader).tryRead"), hasFuncPrefix(funcs, pkg+"acquireByteReader"), hasFuncPrefix(funcs, pkg+"(*RequestHeader).readLoop"):
		return stageIdle
	case hasFuncPrefix(funcs, pkg+"(*Server).serveConn"):
		for i, f := range funcs {
			if i+1 == len(funcs) || !strings.HasPrefix(funcs[i+1], pkg+"(*Server).serveConn") {
				continue
			}
			switch f {
			case "bufio.(*Writer).Flush":
				return stageWrite
			case "bufio.(*Reader).Peek": // the first bytes of the next request, on a connection that is kept
				return stageIdle
			}
		}
		return stageHandler
	case hasFuncPrefix(funcs, pkg+"(*workerPool).workerFunc"):
		return stageIdle
	}
	return stageNone
}
