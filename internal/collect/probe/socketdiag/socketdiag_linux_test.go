package socketdiag

import "testing"

// A message that ends too early is no socket.
func TestShortMessages(t *testing.T) {
	if _, ok := parseInetSocket(make([]byte, diagMessage-1)); ok {
		t.Error("a TCP socket was read")
	}
	if _, ok := parseUnixSocket(make([]byte, unixMessage-1)); ok {
		t.Error("a UNIX socket was read")
	}
}
