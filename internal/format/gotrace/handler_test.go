package gotrace

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestCallers reads stacks as the runtime writes them: those that a router called are marked.
func TestCallers(t *testing.T) {
	for _, c := range []struct{ want, stack string }{
		{"*main.work", "syscall.write net.(*conn).Write main.work net/http.HandlerFunc.ServeHTTP net/http.serverHandler.ServeHTTP net/http.(*conn).serve"},
		{"*main.logged.func1 *shop.example/cart.(*Cart).Add shop.example/cart.load", "database/sql.(*DB).conn shop.example/cart.load shop.example/cart.(*Cart).Add net/http.HandlerFunc.ServeHTTP github.com/go-chi/chi/v5.(*Mux).routeHTTP main.logged.func1 net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"},
		{"*shop.example/web.adapt.func1 *main.(*api).search", "sync.(*Mutex).Lock main.(*api).search shop.example/web.adapt.func1 net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"},
		{"*main.search", "sort.Slice main.search.func1 slices.Sort main.search net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"},
		{"*main.proxy", "main.(*traced).RoundTrip net/http.send net/http.(*Client).Do main.proxy net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"},
		{"*shop.example/proto._Cart_Add_Handler", "main.(*cart).Add main.logged shop.example/proto._Cart_Add_Handler google.golang.org/grpc.(*Server).processUnaryRPC google.golang.org/grpc.(*Server).handleStream"},
		{"*go.example.io/store._KV_Put_Handler", "go.example.io/store.(*kv).Put go.example.io/store._KV_Put_Handler.func1 google.golang.org/grpc.chainUnaryInterceptors.func1 go.example.io/store._KV_Put_Handler google.golang.org/grpc.(*Server).processUnaryRPC google.golang.org/grpc.(*Server).serveStreams.func2.1"},
		{"*main.logged *main.main.func2 github.com/gin-contrib/sse.Event.Render", "net/http.(*response).Write github.com/gin-contrib/sse.Event.Render github.com/gin-gonic/gin.(*Context).Render main.main.func2 github.com/gin-gonic/gin.(*Context).Next main.logged github.com/gin-gonic/gin.(*Engine).handleHTTPRequest net/http.(*conn).serve"},
		{"*main.serve main.(*session).get", "internal/poll.(*FD).Read net.(*conn).Read main.(*session).get main.serve"},
		{"", "syscall.write net/http.(*response).finishRequest net/http.(*conn).serve"},
	} {
		b := evidence.NewBundle()
		var frames []evidence.Frame
		funcs := strings.Fields(c.stack)
		for _, f := range funcs {
			frames = append(frames, evidence.Frame{Func: b.Names.ID(f)})
		}
		var got []string
		for _, k := range listCallers(funcs, frames) {
			f := b.Names.Text(k.Func)
			if k.Called {
				f = "*" + f
			}
			got = append(got, f)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.stack, strings.Join(got, " "), c.want)
		}
	}
}
