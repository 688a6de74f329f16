package linux

import (
	"math/rand/v2"
	"time"
)

// pace spaces what is done again and again, so that in the mean it takes no more of one
// processor than its share: by what it cost until now, in CPU time of the thread that does it.
// What it did not take of its share is left for what follows, up to saved.
type pace struct {
	share float64
	least time.Duration // between two rounds, in the mean

	began time.Time
	spent time.Duration
	usual time.Duration // that a round costs
}

// saved is of how long the share may be saved up.
const saved = 2 * time.Second

// dearest is how many times the pause for a usual round follows one at most: what was dear by
// chance is paid for over the rounds that come.
const dearest = 4

// pauseAfter returns how long to wait, in the mean, after a round that ended now and cost so much.
// The first round is not counted: it opens every file, and so says nothing.
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

// timeFor returns over how much time such a cost is within the share.
func (p *pace) timeFor(cost time.Duration) time.Duration {
	return time.Duration(float64(cost) / p.share)
}

// jitterAround returns a random time between d/2 and 3d/2, d in the mean.
func jitterAround(d time.Duration) time.Duration { return d/2 + rand.N(d) }
