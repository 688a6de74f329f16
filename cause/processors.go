package cause

import (
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/reading"
)

// ProcessorsUsed is how many processors the process was on while its requests were watched.
func (c *Case) ProcessorsUsed() (cpus float64, origin evidence.Origin, ok bool) {
	v := reading.ProcessorsUsed(c.Bundle, c.Subject, float64(c.Bundle.CPUsOf(c.Subject)), c.charged())
	return v.Number, v.Origin, v.Known()
}

// OwnProcessors is ProcessorsUsed without what the collector took, as far as its log tells:
// that is no work of requests, and fewer collections give it back.
func (c *Case) OwnProcessors() (cpus float64, origin evidence.Origin, ok bool) {
	cpus, origin, ok = c.ProcessorsUsed()
	if !ok {
		return 0, 0, false
	}
	l, v := c.Ledger, &c.Bundle.Intervals
	var ns float64
	for i, k := range v.Kind {
		if k != evidence.StopTheWorld && k != evidence.GCConcurrent || v.Subject[i] != c.Subject || v.Start[i] < l.From || v.Start[i] >= l.To {
			continue
		}
		user, _ := v.Get(i, evidence.UserCPU)
		system, _ := v.Get(i, evidence.SystemCPU)
		ns += user + system
	}
	return max(0, cpus-ns/float64(max(1, l.To-l.From))), origin, true
}

// From how much of its processors on a service leaves none free: by itself, or together with
// others while the host has none left.
const (
	full      = .9
	nearlyAll = .8
	hostFull  = .95
)

// Full says whether the service's own work fills the processors: then there is more of it than
// they can do, and what queues up does so whatever else stops the service now and then. False
// where it is not known.
func (c *Case) Full() bool {
	if c.Ledger == nil {
		return false
	}
	own, _, ok := c.OwnProcessors()
	n := float64(c.Bundle.CPUsOf(c.Subject))
	switch {
	case !ok || n == 0 || own < nearlyAll*n:
		return false
	case own >= full*n:
		return true
	}
	h := reading.HostOf(c.Bundle, c.Subject, c.charged())
	return h.Busy.Known() && h.CPUs > 0 && h.Taken() >= hostFull*h.CPUs
}

// charged is the time of the requests that the ledger charges.
func (c *Case) charged() reading.Window {
	return reading.Window{From: c.Ledger.From, Until: c.Ledger.To}
}
