package ipc

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// Before .NET 6 a runtime may hang when a session is stopped while a thread writes into it. It then spins, and no program can attach any
// more: dotnet/runtime#51579 (the stop waits for the thread, the thread for a lock that the stop holds) and #53887 (counters that are
// switched off while they are read). On a busy host a session stopped as counters came hung in 5 of 6 tries (3.1.2). So on these runtimes a
// session with counters is stopped between them. Their rhythm is known only from the times of their arrival.
const (
	quietFrom = 250 * time.Millisecond // after their arrival, which is up to 100 ms after they were read
	quietTo   = 600 * time.Millisecond
	quietWait = 1500 * time.Millisecond // longest wait for such a moment
)

// beat notes when counters arrive.
type beat struct {
	mu      sync.Mutex
	last    time.Time
	changed chan struct{} // closed and replaced at each change of last, closed for good at the end
	over    bool
}

func newBeat() *beat { return &beat{changed: make(chan struct{})} }

// mark is in every event of a counter, but not in the names at the end of a session.
var mark = appendText(nil, "Interval=")[4 : 4+2*len("Interval=")]

// noteCounters looks for counters in the read bytes and notes their arrival. An error is the end of the stream.
func (b *beat) noteCounters(data []byte, err error) {
	ticks := bytes.Contains(data, mark)
	if !ticks && err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	close(b.changed)
	if ticks {
		b.last = time.Now()
	}
	if b.over = err != nil; !b.over {
		b.changed = make(chan struct{})
	}
}

// waitQuiet waits up to quietWait for a moment between counters.
func (b *beat) waitQuiet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	for {
		b.mu.Lock()
		age, changed, over := time.Since(b.last), b.changed, b.over
		b.mu.Unlock()
		if over || age >= quietFrom && age <= quietTo {
			return
		}
		soon := time.NewTimer(quietFrom - age)
		if age > quietTo {
			soon.Stop()
		}
		select {
		case <-changed:
		case <-soon.C:
		case <-ctx.Done():
			soon.Stop()
			return
		}
		soon.Stop()
	}
}

// mayHang says whether the runtime is older than .NET 6, and so may hang when a session is stopped. Such a runtime does not know
// ProcessInfo2.
func (c *Client) mayHang(ctx context.Context) (bool, error) {
	if known := c.old.Load(); known != nil {
		return *known, nil
	}
	_, err := c.runCommand(ctx, 0x0404, nil, patience)
	var code Code
	old := errors.As(err, &code) && code.allowsOlderForm()
	if err != nil && !old {
		return false, err
	}
	c.old.Store(&old)
	return old, nil
}

// hasCounters says whether a session has counters.
func (c Config) hasCounters() bool {
	for _, p := range c.Providers {
		if strings.Contains(p.Args, "EventCounterIntervalSec=") {
			return true
		}
	}
	return false
}
