package service

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/diagnose/check"
)

var fewMoments = check.Threshold{Name: "looks at all threads while a slow request is under way, and while none is", Value: 5, Unit: "count",
	Why: "their means are compared, with the error that their spread tells", Source: "judgement: from fewer than five the spread itself is known within a factor of two at best (χ² of 4 degrees: 0.6 to 2.9 times)"}

// waitsWithoutSlow says whether threads wait at a place no more while a request is slow than while none is. A slow request that waits there adds
// one thread for its share of the time: less than half of that is seen, and chance hides no more. The threads belong to requests that wait by
// design, such as long polls, and no look can tell them from those of slow requests.
func waitsWithoutSlow(c *check.Case, p *ledger.Place, v *check.Verdict) bool {
	l := c.Ledger
	if l.Traced || !c.OnThreads() || p.Where == "" {
		return false
	}
	slow := c.SlowSpans()
	site := c.Sites()
	var counts [2][]float64 // threads that wait there, while no request is slow and while some is
	for _, moments := range c.Threads().Moments(c.Subject) {
		for _, moment := range moments {
			at := moment[0].Time
			if at < l.From || at >= l.To {
				continue
			}
			k := 0
			if slow.Within(at, at+1) > 0 {
				k = 1
			}
			n := 0.
			for i := range moment {
				if where, _ := site(moment[i].Stack); moment[i].View.Waiting() && where == p.Where {
					n++
				}
			}
			counts[k] = append(counts[k], n)
		}
	}
	least := float64(min(len(counts[0]), len(counts[1])))
	if least < fewMoments.Value {
		return false
	}
	without, error0 := meanWithError(counts[0])
	with, error1 := meanWithError(counts[1])
	expected := float64(p.Ns) / float64(max(1, l.Total))
	if more := with - without; without == 0 || 2*more >= expected || more+2*math.Hypot(error0, error1) >= expected { // two standard errors
		return false
	}
	v.Counted(least, fewMoments)
	v.Evidence = append(v.Evidence,
		c.Figure("threads.waiting_there_while_slow", "threads that wait there while a slow request is under way, on average", with, "count", check.From(l.StatesFrom())),
		c.Figure("threads.waiting_there_otherwise", "threads that wait there while none is", without, "count", check.From(l.StatesFrom())))
	return true
}

// meanWithError returns the mean of at least two numbers and its standard error.
func meanWithError(v []float64) (mean, standardError float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		standardError += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(standardError / (n - 1) / n)
}
