package dotnet

import (
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/clrstack"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/redistimeout"
	"github.com/unstall/unstall/internal/format/sos"
)

// TestQueuedBeyondMinimum judges what a client of Redis says of a pool that has as many busy threads as it creates at once, and a queue.
func TestQueuedBeyondMinimum(t *testing.T) {
	client := func(busy, queue int) string {
		return fmt.Sprintf("StackExchange.Redis.RedisTimeoutException: Timeout awaiting response (outbound=0KiB, inbound=0KiB, 5000ms elapsed, timeout is 5000ms), command=GET, inst: 0, qu: 0, qs: 3, IOCP: (Busy=0,Free=1000,Min=16,Max=1000), WORKER: (Busy=%d,Free=32749,Min=16,Max=32767), POOL: (Threads=18,QueuedItems=%d,CompletedItems=91223), v: 2.6.66.47313\n", busy, queue)
	}
	for name, c := range map[string]struct {
		text  string
		found bool
	}{
		"a client, 18 of 16, 900 queued": {client(18, 900), true},
		"a client, 16 of 16, 130 queued": {client(16, 130), true},
		"a client, 3 of 16, 900 queued":  {client(3, 900), false},
		"a client, 17 of 16, 5 queued":   {client(17, 5), false},
	} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{redistimeout.Format}, formattest.Artifact("a.txt", []byte(c.text)), b); err != nil {
			t.Fatal(name, err)
		}
		if v := ThreadPoolStarvation.Judge(&check.Case{Bundle: b}); v.Supported() != c.found {
			t.Errorf("%s: %s %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}

// TestPoolBesideOneStack judges a pool that a debugger counted, beside the stack of one of its threads: it shows what one does, and not that the others
// have nothing to do.
func TestPoolBesideOneStack(t *testing.T) {
	const stack = "OS Thread Id: 0x1a2c (31)\n        Child SP               IP Call Site\n00007F11DC7F7090 00007f1731cf74ed [HelperMethodFrame: 00007f11dc7f7090]\n00007F11DC7F7210 00007F16BF0ADFD6 Shop.Feed.Reader.Read(Byte[])\n00007F11DC7F7300 00007F16B9A2C1F4 System.Threading.ThreadPoolWorkQueue.Dispatch()\n"
	for name, c := range map[string]struct {
		running, cpu int
		state        string
	}{
		"all at work on idle CPUs": {400, 9, check.Supported},
		"all at work on busy CPUs": {400, 93, check.RuledOut},
		"few at work":              {6, 9, check.Inconclusive},
	} {
		text := fmt.Sprintf("0:000> !threadpool\nCPU utilization: %d%%\nWorker Thread: Total: 400 Running: %d Idle: %d MaxLimit: 32767 MinLimit: 16\nWork Request in Queue: 0\n--------------------------------------\nNumber of Timers: 3\n\n", c.cpu, c.running, 400-c.running)
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{sos.Format, clrstack.Format}, formattest.Artifact("a.txt", []byte(text+"0:000> !clrstack\n"+stack)), b); err != nil {
			t.Fatal(name, err)
		}
		k := &check.Case{Bundle: b}
		if v := ThreadPoolStarvation.Judge(k); v.State != c.state {
			t.Errorf("%s: %s %q %q", name, v.State, v.Title, v.Summary)
		}
		if v := LockContention.Judge(k); v.RuledOut() {
			t.Errorf("%s: no lock is said to be waited for: %q", name, v.Summary)
		}
	}
}
