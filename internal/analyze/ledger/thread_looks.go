package ledger

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// threadLooks is what the threads that serve requests were seen doing, where the kernel's record shows which thread served which request: looks at other
// threads say nothing of it. Looks come at moments that do not depend on requests, so that a request which no look met did, on average, what looks at requests
// like it saw.
type threadLooks struct {
	of   map[evidence.LaneID][]threadLook // by time
	like map[likeKey]*threadMean          // nil while it is not known which requests are slow
}

// threadLook is what a thread that was not idle was seen doing at a moment.
type threadLook struct {
	at int64 // ns
	share
}

// threadMean is what looks saw of requests that are alike.
type threadMean struct {
	looks int
	parts []share // of the time; they sum to 1
}

// collectThreadLooks returns nil where the kernel's record does not show which threads served the requests.
func (l *Ledger) collectThreadLooks(bursts [][][]threads.Sample) *threadLooks {
	serve := make(map[evidence.LaneID]bool)
	for _, row := range l.Rows {
		serve[l.b.Requests.Thread.At(row)] = true
	}
	if delete(serve, 0); len(serve) == 0 {
		return nil
	}
	t := &threadLooks{of: make(map[evidence.LaneID][]threadLook)}
	for _, moments := range bursts {
		for _, looks := range moments {
			for i := range looks {
				if x := &looks[i]; serve[x.Lane] && x.View.State != evidence.Idle && x.View.State != evidence.KindUnknown {
					t.of[x.Lane] = append(t.of[x.Lane], threadLook{x.Time, l.shareOfLook(x)})
				}
			}
		}
	}
	for _, looks := range t.of {
		slices.SortStableFunc(looks, func(a, b threadLook) int { return cmp.Compare(a.at, b.at) })
	}
	return t
}

// shareOfLook returns a look at a thread that serves a request as the whole of the request's time.
func (l *Ledger) shareOfLook(look *threads.Sample) share {
	v := &look.View
	s := share{mechanism: states[v.State], Segment: look.Segment(l.b), part: 1}
	s.Holder = 0
	switch {
	case v.State == evidence.LockWait:
		s.mechanism = Lock
	case v.State == evidence.PoolWait:
		s.mechanism = Pool
	case v.Ready:
		s.mechanism = HostCPU // or ready behind the process's other threads, see [walker.chargeThreads]
	}
	if s.Cause == 0 { // a running thread: the function it runs
		s.Cause = l.b.Names.ID(v.Owner)
	}
	return s
}

// looksWithin returns the looks at a request's thread from at, dur long.
func (t *threadLooks) looksWithin(thread evidence.LaneID, at, dur int64) []threadLook {
	looks := t.of[thread]
	from, _ := slices.BinarySearchFunc(looks, at, func(x threadLook, at int64) int { return cmp.Compare(x.at, at) })
	looks = looks[from:]
	until, _ := slices.BinarySearchFunc(looks, at+dur, func(x threadLook, at int64) int { return cmp.Compare(x.at, at) })
	return looks[:until]
}

// meanKeys returns the keys of what stands for a request, the closest first: its route and latency, its route, or its latency.
func (o *occupancy) meanKeys(r *evidence.Requests, row int) [3]likeKey {
	route, octave, slow := r.Route.At(row), bits.Len64(uint64(r.Latency(row))), o.slow.Has(row)
	return [3]likeKey{{slow, octave, route}, {slow, 0, route}, {slow, octave, 0}}
}

// sumThreadLooks sums up what looks saw of the requests of each kind, in the stretches that ask for it.
func (o *occupancy) sumThreadLooks(l *Ledger) {
	if o.threads == nil {
		return
	}
	o.threads.like = make(map[likeKey]*threadMean)
	r := &l.b.Requests
	for _, row := range l.Rows {
		thread := r.Thread.At(row)
		if thread == 0 {
			continue
		}
		keys := o.meanKeys(r, row)
		at := cmp.Or(r.Start.At(row), r.End.At(row)-r.Latency(row))
		var s evidence.Segment
		for path := r.Path(row); path.Next(&s); at += s.Dur {
			if s.Kind != evidence.Unobserved && !l.asksThreads(&s) {
				continue
			}
			for _, look := range o.threads.looksWithin(thread, at, s.Dur) {
				for _, k := range keys {
					mean := o.threads.like[k]
					if mean == nil {
						mean = &threadMean{}
						o.threads.like[k] = mean
					}
					mean.looks++
					mean.parts = addShare(mean.parts, look.share)
				}
			}
		}
	}
	for _, mean := range o.threads.like {
		for i := range mean.parts {
			mean.parts[i].part /= float64(mean.looks)
		}
		inOrder(mean.parts)
	}
}

// threadShares splits a request's time from at, dur long, by what its own thread was seen doing, in ns; none where no look tells. It returns false where it is not
// known which thread served the request.
func (o *occupancy) threadShares(r *evidence.Requests, row int, at, dur int64) (parts []share, known bool) {
	if o.threads == nil || r.Thread.At(row) == 0 {
		return nil, false
	}
	looks := o.threads.looksWithin(r.Thread.At(row), at, dur)
	for i := range looks {
		s := looks[i].share
		s.part = float64(dur) / float64(len(looks))
		parts = addShare(parts, s)
	}
	if len(looks) > 0 || o.threads.like == nil {
		inOrder(parts)
		return parts, true
	}
	for _, k := range o.meanKeys(r, row) {
		if mean := o.threads.like[k]; mean != nil && mean.looks >= leastAlike {
			return addTimes(nil, mean.parts, float64(dur)), true
		}
	}
	return nil, true
}
