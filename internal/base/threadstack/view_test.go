package threadstack

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// What is not known is not claimed: neither who is at the other end of a socket, nor who brings what a thread waits for at many descriptors.
func TestDoing(t *testing.T) {
	wait := func(state evidence.Kind, pattern, of string) View {
		v := View{State: state, Pattern: pattern}
		v.Waits.Of = of
		return v
	}
	for _, c := range []struct {
		view View
		want string
	}{
		{wait(evidence.ClientWait, "poll for a socket", UnknownEnd), "waiting for the network (poll for a socket)"},
		{wait(evidence.ClientWait, "recvfrom from the client", "the client"), "waiting for the client (recvfrom from the client)"},
		{wait(evidence.SyncWait, "epoll_wait", ""), "waiting for events (epoll_wait)"},
		{wait(evidence.SyncWait, "futex at 0x90", ""), "waiting for another thread (futex at 0x90)"},
		{wait(evidence.NetWait, "sync I/O: recvfrom from 10.0.0.7:5432", "10.0.0.7:5432"), "waiting for the network (recvfrom from 10.0.0.7:5432)"},
		{wait(evidence.PoolWait, "SemaphoreSlim.Wait", ""), "waiting for a semaphore (SemaphoreSlim.Wait)"},
	} {
		if got := c.view.Doing(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
