package threadstack

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// dotnetAccepting is on the stack of threads that wait for a connection, or for any of many; dotnetReading on that of threads that wait for
// bytes from one. The runtime's own frames surround them.
var (
	dotnetAccepting = []string{"System.Net.Sockets.TcpListener.Accept", "System.Net.Sockets.Socket.Accept", "System.Net.Sockets.Socket.Select", "System.Net.HttpListener.GetContext"}
	dotnetReading   = []string{"System.Net.Sockets.NetworkStream.Read", "System.Net.Sockets.Socket.Receive", "System.Net.Security.SslStream.Read"}
	dotnetSockets   = append([]string{"System.Net.Security.", "System.Net.HttpListener"}, waitPlumbing...)
)

// findSockets finds the user's own code that accepts connections, or reads from them.
func (s *dotnetStack) findSockets() {
	v := &s.view
	if v.State != evidence.NetWait || v.Wait < 0 || v.User < 0 || v.Library {
		return
	}
	on := s.frames[s.start:v.User]
	if slices.ContainsFunc(on, func(f dotnetFrame) bool { return !f.none && !hasPrefix(f.name, dotnetSockets) }) {
		return // it is the reading of a client library
	}
	has := func(prefixes []string) bool {
		return slices.ContainsFunc(on, func(f dotnetFrame) bool { return hasPrefix(f.name, prefixes) })
	}
	v.Accepts = has(dotnetAccepting)
	v.Reads = !v.Accepts && has(dotnetReading)
}
