package queue

import "slices"

// axis is time with the stops cut out: working time.
type axis struct {
	stops  []Stop
	before []int64 // time stopped by all earlier stops
}

func (q Queue) newAxis() (axis, error) {
	if q.Servers < 1 {
		return axis{}, ErrServers
	}
	a := axis{stops: q.Stops, before: make([]int64, len(q.Stops))}
	var sum int64
	for i, s := range q.Stops {
		if s.To < s.From || i > 0 && s.From < q.Stops[i-1].To {
			return axis{}, ErrStops
		}
		a.before[i] = sum
		sum += s.To - s.From
	}
	return a, nil
}

// workingTime returns the working time at t; during a stop it stands still.
func (a *axis) workingTime(t int64) int64 {
	// The first stop that begins after t.
	i, _ := slices.BinarySearchFunc(a.stops, t, func(s Stop, t int64) int {
		if s.From <= t {
			return -1
		}
		return 1
	})
	if i == 0 {
		return t
	}
	s := a.stops[i-1]
	return t - a.before[i-1] - (min(t, s.To) - s.From)
}

// clockTime turns working time back. Where a stop lies at w, work that ends then ends before the
// stop, and work that begins then begins after it.
func (a *axis) clockTime(w int64, begins bool) int64 {
	// The first stop that comes after w of work.
	lo, hi := 0, len(a.stops)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if from := a.stops[m].From - a.before[m]; from < w || begins && from == w {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return w
	}
	s := a.stops[lo-1]
	return w + a.before[lo-1] + s.To - s.From
}

// servers is a heap of the working times at which each server becomes free. Its
// first is the least; servers that were never used are not in it.
type servers struct {
	free  []int64
	count int
}

func newServers(count int) *servers {
	return &servers{free: make([]int64, 0, min(count, 1024)), count: count}
}

// serveRequest gives a request the server that is free first and returns when it
// begins and ends.
func (s *servers) serveRequest(a *axis, at, demand int64) (start, end int64) {
	w := at
	if len(a.stops) > 0 {
		w = a.workingTime(at)
	}
	switch {
	case len(s.free) > 0 && s.free[0] <= w: // one that is idle again
		s.free[0] = w + demand
		s.siftDown()
	case len(s.free) < s.count: // one that was never used
		s.free = append(s.free, w+demand)
		s.siftUp()
	default: // wait for the first
		w = s.free[0]
		s.free[0] = w + demand
		s.siftDown()
	}
	if len(a.stops) == 0 {
		return w, w + demand
	}
	start = max(at, a.clockTime(w, true))
	return start, max(start, a.clockTime(w+demand, false))
}

func (s *servers) siftDown() {
	h := s.free
	i, v := 0, h[0]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if v <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = v
}

func (s *servers) siftUp() {
	h := s.free
	i := len(h) - 1
	for v := h[i]; i > 0; {
		p := (i - 1) / 2
		if h[p] <= v {
			break
		}
		h[i], h[p] = h[p], v
		i = p
	}
}
