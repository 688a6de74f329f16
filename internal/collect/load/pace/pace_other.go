//go:build !linux

package pace

import "time"

// Pacer sleeps as the runtime does.
type Pacer struct{ poked chan struct{} }

// New returns a pacer that can be poked.
func New() *Pacer { return &Pacer{make(chan struct{}, 1)} }

// Take does nothing here.
func (p *Pacer) Take() {}

// Sleep waits, or until it is poked: the caller looks at the clock.
func (p *Pacer) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.poked:
	}
}

// Poke ends a Sleep that goes on, or the next one. It is safe for several goroutines.
func (p *Pacer) Poke() {
	select {
	case p.poked <- struct{}{}:
	default:
	}
}

// Close does nothing here.
func (p *Pacer) Close() {}
