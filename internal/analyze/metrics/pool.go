package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// ConnectionPool is what the gauges of a connection pool tell over a window.
type ConnectionPool struct {
	Name, Unit string
	Readings   int
	Most       float64 // the most connections in use
	Size       float64 // the pool's maximum, NaN unknown
	Full       int     // readings with all connections in use
	Waiting    float64 // mean number waiting for a connection; NaN: not in the gauges
	Queue      float64 // the most waiting at once; NaN likewise
	TimedOut   float64 // requests that waited in vain; 0: not reported
	Timeout    float64 // ns that one of these waited at most; 0: unknown
	Origin     evidence.Origin
}

// ConnectionPools returns a subject's connection pools; those with waits come first. A gauge that was read once counts for
// any time.
func ConnectionPools(b *evidence.Bundle, subject evidence.SubjectID, w Window) (all []ConnectionPool) {
	for i := range b.Series {
		s := &b.Series[i]
		name, ok := strings.CutPrefix(s.Name, evidence.SeriesClientPoolUsed+":")
		if !ok || s.Subject != subject || s.Unit == "threads" {
			continue
		}
		p := ConnectionPool{Name: name, Unit: s.Unit, Size: math.NaN(), Waiting: math.NaN(), Queue: math.NaN(), Origin: s.Origin}
		if size := b.SeriesOf(subject, evidence.SeriesClientPoolMax+":"+name); size != nil {
			if n := slices.Max(size.V); n > 0 { // some libraries report 0 for no limit
				p.Size = n
			}
		}
		used := readingsIn(s, w)
		if p.Readings = len(used); p.Readings == 0 {
			continue
		}
		p.Most = slices.Max(used)
		for _, v := range used {
			if v >= p.Size {
				p.Full++
			}
		}
		if waits := readingsIn(b.SeriesOf(subject, evidence.SeriesClientPoolWaits+":"+name), w); len(waits) > 0 {
			p.Waiting, p.Queue = 0, slices.Max(waits)
			for _, v := range waits {
				p.Waiting += v / float64(len(waits))
			}
		}
		all = append(all, p)
	}
	for i := range b.Series { // pools with only a queue gauge
		s := &b.Series[i]
		name, ok := strings.CutPrefix(s.Name, evidence.SeriesClientPoolWaits+":")
		if !ok || s.Subject != subject || s.Unit == "threads" || b.SeriesOf(subject, evidence.SeriesClientPoolUsed+":"+name) != nil {
			continue
		}
		if waits := readingsIn(s, w); len(waits) > 0 {
			p := ConnectionPool{Name: name, Unit: s.Unit, Readings: len(waits), Most: math.NaN(), Size: math.NaN(), Queue: slices.Max(waits), Origin: s.Origin}
			for _, v := range waits {
				p.Waiting += v / float64(len(waits))
			}
			all = append(all, p)
		}
	}
	all = withTimeouts(b, subject, all)
	sorting.Short(all, func(x, y ConnectionPool) int {
		return cmp.Or(cmp.Compare(waitingOrZero(y), waitingOrZero(x)), cmp.Compare(y.TimedOut, x.TimedOut))
	})
	return all
}

// withTimeouts adds the requests that waited in vain, and pools that are known only by these.
func withTimeouts(b *evidence.Bundle, subject evidence.SubjectID, all []ConnectionPool) []ConnectionPool {
	for _, f := range b.Facts {
		if f.Subject != subject || f.Key != evidence.FactPoolTimedOut && f.Key != evidence.FactPoolTimeout {
			continue
		}
		i := slices.IndexFunc(all, func(p ConnectionPool) bool { return p.Name == f.Value })
		if i < 0 {
			i = len(all)
			all = append(all, ConnectionPool{Name: f.Value, Unit: "connections", Most: math.NaN(), Size: math.NaN(), Waiting: math.NaN(), Queue: math.NaN(), Origin: f.Origin})
		}
		if f.Key == evidence.FactPoolTimedOut {
			all[i].TimedOut += f.Number
		} else {
			all[i].Timeout = max(all[i].Timeout, f.Number)
		}
	}
	return all
}

func waitingOrZero(p ConnectionPool) float64 {
	if math.IsNaN(p.Waiting) {
		return 0
	}
	return p.Waiting
}

// UsedUp reports whether all connections were in use most of the time, and requests waited for one.
func (p *ConnectionPool) UsedUp() bool { return 2*p.Full > p.Readings && p.Waiting > 0 }

// readingsIn returns the readings of a gauge in a window; a gauge that was read once counts for any window.
func readingsIn(s *evidence.Series, w Window) (v []float64) {
	if s == nil {
		return nil
	}
	for k, t := range s.T {
		if t >= w.From && t < w.Until || len(s.T) == 1 {
			v = append(v, s.V[k])
		}
	}
	return v
}
