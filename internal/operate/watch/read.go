package watch

import (
	"context"
	"errors"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/top"
	"github.com/unstall/unstall/internal/operate/watch/sample"
)

// coresOf returns how many CPUs a target may use, 0 unknown.
func coresOf(t discover.Target) float64 {
	if t.PID == 0 {
		return 0
	}
	return top.Cores(t.PID)
}

// patient is how many consecutive readings may fail before a target known only by its address counts as gone.
const patient = 10

// reader reads a source at intervals.
type reader struct {
	top.Source
	next time.Time
}

// readTarget reads a target once per second until it is gone.
func (w *Watcher) readTarget(ctx context.Context, s *subject) {
	var proc *sample.Proc
	var counters *reader
	var tried time.Time
	defer func() {
		if proc != nil {
			_ = proc.Close()
		}
		if counters != nil {
			_ = counters.Close()
		}
	}()
	if s.target.PID != 0 {
		var err error
		if proc, err = sample.OpenProc(s.target.PID, w.now); err != nil {
			w.sendBatch(ctx, batch{key: s.Key, gone: "the process has ended"})
			return
		}
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	failed, looked, found := 0, w.now(), w.now()
	for {
		var points []sample.Point
		alive := false
		if proc != nil {
			readings, err := proc.Read(ctx)
			if errors.Is(err, top.ErrEnded) {
				w.sendBatch(ctx, batch{key: s.Key, points: points, gone: "the process has ended"})
				return
			}
			alive = err == nil
			points = append(points, w.tallyReadings(s, readings)...)
		}
		now := w.now()
		switch of := platform.ByID(s.target.Runtime); {
		case counters == nil && now.Sub(tried) > again && ctx.Err() == nil:
			tried = now
			if c := top.CountersOf(s.target.Runtime); c != nil {
				if source, err := c.Open(ctx, s.target, every, w.now); err == nil {
					counters = &reader{Source: source}
				} else if ctx.Err() == nil {
					w.reportTrouble("counters "+s.Service, s.Key+": counters of its runtime cannot be read: "+err.Error())
				}
			}
		case counters != nil && !now.Before(counters.next):
			began := time.Now()
			readings, err := counters.Read(ctx)
			took := time.Since(began)
			points = append(points, w.tallyReadings(s, readings)...)
			switch {
			case err == nil && of.Tells: // it answers its own questions
				w.mu.Lock()
				points = append(points, s.tally.Point(sample.Point{ID: evidence.SeriesRedisPing, At: now.UnixNano(), V: float64(took) / 1e6}, 0)...)
				w.mu.Unlock()
				alive = true
			case err == nil:
				alive = true
			case errors.Is(err, top.ErrEnded) || proc == nil && failed >= patient:
				_ = counters.Close()
				counters = nil
			}
			if counters != nil {
				counters.next = now.Add(every / 2)
				if slow, ok := counters.Source.(interface{ Every() time.Duration }); ok {
					counters.next = now.Add(slow.Every() - every/2)
				}
			}
		}
		if alive {
			failed = 0
		} else if failed++; proc == nil && failed > 2*patient {
			w.sendBatch(ctx, batch{key: s.Key, points: points, gone: "it no longer answers"})
			return
		}
		if now.Sub(looked) >= lookEach {
			over := now.Sub(looked).Seconds()
			looked = now
			for _, p := range s.requests.countNewRequests(now) {
				w.mu.Lock()
				points = append(points, s.tally.Point(p, over)...)
				w.mu.Unlock()
			}
			if now.Sub(found) >= silentAfter {
				w.reportSilentRules(s)
			}
		}
		if !w.sendBatch(ctx, batch{key: s.Key, points: points}) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// again is the pause before a runtime that did not answer is asked again.
const again = 30 * time.Second

// readHost reads the machine.
func (w *Watcher) readHost(ctx context.Context) {
	h := sample.OpenHost(w.now)
	defer h.Close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if readings, err := h.Read(ctx); err == nil {
			if !w.sendBatch(ctx, batch{key: w.host.Key, points: w.tallyReadings(w.host, readings)}) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tallyReadings makes points of readings.
func (w *Watcher) tallyReadings(s *subject, readings []top.Reading) []sample.Point {
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.tally.Take(readings)
}

func (w *Watcher) sendBatch(ctx context.Context, b batch) bool {
	select {
	case w.in <- b:
		return true
	case <-ctx.Done():
		return false
	}
}
