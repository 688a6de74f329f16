package threads

import (
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// A server of the program's own has a thread for each connection: one that waits for the next line
// of its client is idle, and none of them is of the runtime's pool. A thread that reads an answer
// deeper in is at a request, and one that only reads, while nobody accepts, is a client.
func TestDotnetServer(t *testing.T) {
	begun := []string{"System.Private.CoreLib!System.Threading.ThreadHelper.ThreadStart()"}
	read := []string{"[Native Frames]", "System.Net.Sockets!System.Net.Sockets.Socket.Receive()", "System.Net.Sockets!System.Net.Sockets.NetworkStream.Read()", "System.Private.CoreLib!System.IO.StreamReader.ReadLine()"}
	serve := append([]string{"Shop!Shop.Desk.Serve()"}, begun...)
	accept := append([]string{"[Native Frames]", "System.Net.Sockets!System.Net.Sockets.Socket.Accept()", "System.Net.Sockets!System.Net.Sockets.TcpListener.AcceptTcpClient()", "Shop!Shop.Desk.Run()"}, begun...)
	idle := slices.Concat(read, serve)
	for name, x := range map[string]struct {
		frames  []string
		accepts bool
		state   evidence.Kind
		request bool
	}{
		"waits for its client":       {idle, true, evidence.Idle, false},
		"computes":                   {slices.Concat([]string{"Shop!Shop.Routes.Find()"}, serve), true, evidence.Running, true},
		"asks another":               {slices.Concat(read, []string{"Shop!Shop.Store.Ask()"}, serve), true, evidence.NetWait, true},
		"computes, and none accepts": {slices.Concat([]string{"Shop!Shop.Routes.Find()"}, serve), false, evidence.Running, false},
		"reads, and none accepts":    {idle, false, evidence.NetWait, false},
	} {
		r := record()
		for i := range int64(4) {
			r.look(1, 1e9+i*1e6, x.frames)
			r.look(2, 1e9+i*1e6+1, idle)
			if x.accepts {
				r.look(3, 1e9+i*1e6+2, accept)
				r.look(4, 1e9+i*1e6+3, slices.Concat([]string{"Shop!Shop.Routes.Find()"}, serve))
			}
		}
		all := Of(r.Bundle, stacks)
		for _, l := range all.Samples(r.subject) {
			if v := l.View; l.Lane == 1 && (v.State != x.state || v.Request != x.request) || v.Role == threadstack.Worker {
				t.Errorf("%s: thread %d: %s %q, at a request: %v", name, l.Lane, v.State, v.Role, v.Request)
			}
		}
	}
}
