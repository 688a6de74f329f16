package gostack

import (
	"strings"
	"testing"
)

func TestParkedFor(t *testing.T) {
	for _, c := range []struct{ reason, place, stack string }{
		{ParkedForReceive, "main.take", "runtime.gopark runtime.chanrecv runtime.chanrecv1 main.take main.handle"},
		{ParkedForSend, "main.(*limiter).acquire", "runtime.gopark runtime.chansend runtime.chansend1 main.(*limiter).acquire"},
		{ParkedForSelect, "github.com/lib/pool.(*Pool).get", "runtime.gopark runtime.selectgo github.com/lib/pool.(*Pool).get main.handle"},
		{ParkedForTimer, "main.wait", "runtime.gopark time.Sleep main.wait"},
		{ParkedForOthers, "main.fan", "runtime.gopark runtime.goparkunlock runtime.semacquire1 sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.fan"},
		{ParkedForNetwork, "net.(*netFD).Read", "runtime.gopark runtime.netpollblock internal/poll.runtime_pollWait internal/poll.(*pollDesc).wait internal/poll.(*FD).Read net.(*netFD).Read main.ask"},
		{ParkedForAssist, "main.handle", "runtime.gopark runtime.goparkunlock runtime.gcParkAssist runtime.gcAssistAlloc runtime.mallocgc runtime.makeslice main.handle"},
		{"", "main.(*store).get", "runtime.gopark runtime.goparkunlock runtime.semacquire1 internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow main.(*store).get time.Sleep"},
	} {
		funcs := strings.Fields(c.stack)
		if got := ParkedFor(funcs); got != c.reason {
			t.Errorf("%s: parked for %q, want %q", c.stack, got, c.reason)
		}
		if got := Place(funcs); got != c.place {
			t.Errorf("%s: in %q, want %q", c.stack, got, c.place)
		}
	}
}
