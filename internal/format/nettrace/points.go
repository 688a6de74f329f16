package nettrace

import (
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
)

// points is a series with at most maxPoints. When full it keeps every second point and halves its rate.
type points struct {
	t    []int64
	v    []float64
	n    int64 // number of the first event
	skip int   // points to drop after each kept one
	due  int   // points still to drop

	last      float64
	sum, most float64
	count     int64
}

const maxPoints = 64 << 10

func (p *points) add(t int64, v float64, n int64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if p.count == 0 {
		p.n, p.most = n, v
	}
	p.count++
	p.last, p.sum, p.most = v, p.sum+v, max(p.most, v)
	if p.due > 0 {
		p.due--
		return
	}
	if last := len(p.t) - 1; last >= 0 && p.t[last] >= t {
		p.v[last] = v // ascending times, as a series has to have
		return
	}
	if len(p.t) == maxPoints {
		for i := range maxPoints / 2 {
			p.t[i], p.v[i] = p.t[2*i], p.v[2*i]
		}
		p.t, p.v = p.t[:maxPoints/2], p.v[:maxPoints/2]
		p.skip = 2*p.skip + 1
	}
	p.due = p.skip
	p.t, p.v = append(p.t, t), append(p.v, v)
}

func (p *points) emit(q *process, name, unit string) {
	if len(p.t) > 0 {
		q.b.Series(evidence.Series{Subject: q.id, Name: name, Unit: unit, T: p.t, V: p.v, Origin: q.b.Origin(p.n)})
	}
}
