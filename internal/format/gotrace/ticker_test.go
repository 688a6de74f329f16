package gotrace

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// rebuildEvery computes on goroutines of its own, again and again.
func rebuildEvery(d time.Duration, done chan bool) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(rebuildPart)
		}
		all.Wait()
	}
}

func rebuildPart() {
	for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
	}
}

// TestTicker has a goroutine that waits for a timer since before the trace start others: none
// of them serves a request.
func TestTicker(t *testing.T) {
	done := make(chan bool)
	defer close(done)
	go rebuildEvery(50*time.Millisecond, done)
	time.Sleep(10 * time.Millisecond) // it waits for its first tick
	b := record(t, func() { time.Sleep(200 * time.Millisecond) })
	works := make(map[evidence.Work]time.Duration)
	for i := range b.Processors {
		for lane := range b.Processors[i].Lanes {
			for s := range b.Processors[i].Spans(lane) {
				if name := b.Names.Text(s.Name); strings.Contains(name, "rebuild") || strings.Contains(name, "WaitGroup).Go") {
					works[s.Work] += time.Duration(s.To - s.From)
				}
			}
		}
	}
	if works[evidence.WorkRequest] > 0 || works[evidence.WorkBackground] < 10*time.Millisecond {
		t.Errorf("a ticker's work is %v of requests and %v beside them", works[evidence.WorkRequest], works[evidence.WorkBackground])
	}
}
