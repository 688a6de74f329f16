package linux

import (
	"math/rand/v2"
	"time"
)

// pace spaces repeated work so that on average it takes no more of one CPU than its share. It uses the work's cost so far, in CPU time
// of its thread. Unused time of its share is left for later rounds, up to saved.
type pace struct {
	share float64
	least time.Duration // between two rounds, in the mean

	began time.Time
	spent time.Duration
	usual time.Duration // usual cost of a round
}

// saved is the time over which the share may be saved up.
const saved = 2 * time.Second

// dearest is the longest pause after a round, as a multiple of the pause after a usual round. An accidentally expensive round is paid
// for over the following rounds.
const dearest = 4

// pauseAfter returns the mean pause after a round that ended now at a cost. The first round does not count: it opens every file, so its
// cost is not typical.
func (p *pace) pauseAfter(now time.Time, cost time.Duration) time.Duration {
	if p.began.IsZero() {
		p.began = now
		return p.least
	}
	if p.usual == 0 {
		p.usual = cost
	}
	p.usual += (cost - p.usual) / 4
	p.spent += cost
	due := p.began.Add(p.timeFor(p.spent)).Sub(now)
	if due < -saved {
		p.began = p.began.Add(-saved - due)
	}
	return max(p.least, min(due, dearest*p.timeFor(p.usual)))
}

// timeFor returns the time over which a cost is within the share.
func (p *pace) timeFor(cost time.Duration) time.Duration {
	return time.Duration(float64(cost) / p.share)
}

// jitterAround returns a random time between d/2 and 3d/2, d in the mean.
func jitterAround(d time.Duration) time.Duration { return d/2 + rand.N(d) }
