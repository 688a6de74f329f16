package service

import "testing"

// Requests that come at even times and keep a worker for three such times need three, those that come in
// pairs twice as many, and none is added where none is short.
func TestEnough(t *testing.T) {
	even := func(n, at int) (p passed) {
		for i := range n {
			for range at {
				p.rows, p.arrive, p.demand = append(p.rows, i), append(p.arrive, int64(i)*10e6), append(p.demand, 30e6-1)
			}
		}
		return p
	}
	for _, c := range []struct {
		p    passed
		now  float64
		want int
	}{{even(1000, 1), 2, 3}, {even(1000, 2), 2, 6}, {even(1000, 1), 8, 8}, {even(20, 1), 2, 0}} {
		n, p99, least := c.p.enough(c.now)
		if n != c.want || n > 0 && (least != 30e6-1 || float64(p99) > nearlyNone*float64(least)) {
			t.Errorf("of %v: %d workers, p99 %d, without waits %d; want %d", c.now, n, p99, least, c.want)
		}
	}
}
