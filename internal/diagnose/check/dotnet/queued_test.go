package dotnet

import (
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/redistimeout"
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
