package workload

import (
	"cmp"
	"math"

	"github.com/unstall/unstall/internal/base/sorting"
)

// Verdict is the class of a service, and why.
type Verdict struct {
	Class  Class
	Share  float64 // of its CPU time that the class takes, NaN unknown
	Shares Shares
}

// Classify names the kind of work a service's CPU time goes to: the kernel's greatest part if it has a
// quarter of the time, else its own code if that has half of it.
func (v *Vector) Classify() Verdict {
	s := v.Shares()
	if !s.Known || !(v.CPU*v.Seconds >= leastCPU) {
		return Verdict{Class: Idle, Share: math.NaN(), Shares: s}
	}
	order := s.sortClasses()
	for _, c := range order {
		if c != User && c != System && s.Of[c] >= leastShare {
			return Verdict{Class: c, Share: s.Of[c], Shares: s}
		}
	}
	if s.Of[User] >= .5 || len(order) == 0 {
		c := User
		if v.Demand() >= overloaded*v.CPUs {
			c = Saturation
		}
		return Verdict{Class: c, Share: s.Of[User], Shares: s}
	}
	return Verdict{Class: System, Share: 1 - s.Of[User], Shares: s}
}

// sortClasses returns the classes by share, the greatest first.
func (s Shares) sortClasses() (all []Class) {
	for _, c := range Classes {
		if s.Of[c] > 0 {
			all = append(all, c)
		}
	}
	sorting.Short(all, func(a, b Class) int { return cmp.Compare(s.Of[b], s.Of[a]) })
	return all
}

// Distance returns the part of the CPU time that two services spend on different classes of work, 0 to 1; NaN if it is unknown for
// one of them. It compares samples with samples, or counts with counts.
func Distance(a, b *Vector) float64 {
	x, y := a.Shares(), b.Shares()
	if x.Sampled != y.Sampled {
		x, y = a.Counted(), b.Counted()
	}
	if !x.Known || !y.Known {
		return math.NaN()
	}
	var apart float64
	for _, c := range Classes {
		apart += math.Abs(x.Of[c] - y.Of[c])
	}
	return apart / 2
}
