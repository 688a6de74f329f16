package dotnet

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// A change from blocking to awaiting goes through all that lies between the call and
// the handler: advice says which that is, where the stack does.
func TestCallers(t *testing.T) {
	frames := []string{"System.Private.CoreLib!System.Threading.Tasks.Task.Wait()", "Shop.Data!Shop.Data.Orders.Fetch(int32)",
		"Shop!Shop.OrderService.Get(int32)", "Shop!Shop.OrdersController+<Get>d__3.MoveNext()"}
	for _, x := range []struct {
		name        string
		user, outer int
		frames      []string
		want        string
	}{
		{"from a controller", 1, 3, frames, " (it comes from OrdersController.Get)"},
		{"the handler itself", 1, 1, frames, ""},
		{"no code of the user's own", -1, -1, frames, ""},
		{"an async method's own beginning", 0, 1, []string{"Shop!Shop.Cart+<Get>d__1.MoveNext()", "Shop!Shop.Cart.Get()"}, ""},
	} {
		v := threadstack.View{State: evidence.TaskWait, User: x.user, Outer: x.outer}
		if x.user >= 0 {
			v.Owner = threadstack.Short(x.frames[x.user])
		}
		if got := formatCaller(&threads.Group{View: v, Frames: x.frames}); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}
