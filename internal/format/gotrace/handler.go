package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
)

// routers are the packages between a server and the handlers it was given: what they call
// may be a handler, or a wrapper of one.
var routers = []string{"net/http.", "net/http/internal/http2.", "golang.org/x/net/http2.", "google.golang.org/grpc", "github.com/valyala/fasthttp.",
	"github.com/go-chi/", "github.com/gorilla/", "github.com/gin-gonic/", "github.com/labstack/echo", "github.com/julienschmidt/httprouter.",
	"github.com/gofiber/", "github.com/urfave/negroni", "github.com/beego/", "github.com/kataras/iris", "goji.io", "github.com/zeromicro/go-zero/rest",
	"github.com/cloudwego/hertz/", "github.com/go-kit/kit/", "connectrpc.com/connect.", "github.com/twitchtv/twirp", "net/rpc.", "reflect."}

// asks are parts of the names of clients' functions in the same packages: functions that they call back are no handlers.
var asks = []string{"net/http.(*Client).", "net/http.(*Transport).", "net/http.(*persistConn).", "net/http.send", "http2.(*Transport).", "http2.(*ClientConn).",
	"google.golang.org/grpc.(*ClientConn).", "google.golang.org/grpc.invoke", "google.golang.org/grpc.newClientStream",
	"fasthttp.(*Client).", "fasthttp.(*HostClient).", "fasthttp.(*LBClient).", "fasthttp.(*PipelineClient)."}

// mostCallers bounds a stack of callers; beyond the last that may be the handler, as many are
// kept as are looked at for one that only hands on.
const (
	mostCallers   = 48
	beyondHandler = 3
)

// listCallers returns the functions on a serving goroutine's stack that are not of the server, a
// router or the standard library, outermost first: wrappers, the handler and what it calls. Funcs
// and frames are innermost first.
func listCallers(funcs []string, frames []evidence.Frame) (all []evidence.Caller) {
	before, inMain, last := true, false, 0
walk:
	for i := len(funcs) - 1; i >= 0 && len(all) < mostCallers; i-- {
		f := funcs[i]
		if strings.HasSuffix(f, ".RoundTrip") {
			break
		}
		if hasPrefix(f, routers) {
			for _, a := range asks {
				if strings.Contains(f, a) {
					break walk
				}
			}
			before = !isAnswerFunc(f)
			continue
		}
		if gostack.IsStandard(f) {
			break // a function that it calls back belongs to the function that called it
		}
		isMain := strings.HasPrefix(f, "main.")
		called := before || strings.HasSuffix(f, ".ServeHTTP") || isMain && !inMain && len(all) > 0 && all[len(all)-1].Called // packages cannot import main: the function was handed to them
		if called {
			last = len(all)
		}
		all = append(all, evidence.Caller{Func: frames[i].Func, Line: frames[i].Line, Called: called})
		before, inMain = false, inMain || isMain
		if called && i+1 < len(funcs) && strings.HasPrefix(funcs[i+1], "google.golang.org/grpc") && strings.HasSuffix(f, "_Handler") {
			break // what protoc wrote for a method of a service
		}
	}
	if len(all) > last+1+beyondHandler {
		all = all[:last+1+beyondHandler]
	}
	if len(all) > 0 {
		all[len(all)-1].Line = 0
	}
	return all
}

// isAnswerFunc says whether a router's function is one that handlers answer by, of a type named
// after the context of a request. Only Next calls handlers.
func isAnswerFunc(f string) bool {
	f = strings.ToLower(f)
	return (strings.Contains(f, "context).") || strings.Contains(f, "ctx).")) && !strings.HasSuffix(f, ".next")
}

func hasPrefix(f string, of []string) bool {
	for _, p := range of {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}

// noteHandling notes a stack on which a request is seen while it is handled.
func (w *world) noteHandling(r *request, s *stack) {
	if len(s.callers) == 0 || s == r.seen {
		return
	}
	r.seen = s
	if s.handling == 0 {
		s.handling = 1 + w.b.HandlingStack(s.callers)
	}
	id := s.handling - 1
	for _, k := range r.handling[:r.stacks] {
		if k == id {
			return
		}
	}
	if r.stacks < len(r.handling) {
		r.handling[r.stacks] = id
		r.stacks++
	}
}
