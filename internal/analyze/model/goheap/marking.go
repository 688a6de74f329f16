package goheap

import "github.com/unstall/unstall/internal/analyze/model/queue"

// Marking is how a concurrent collector shares a program's processors with the
// requests, as Go's does since 1.5 (https://go.dev/src/runtime/mgcpacer.go,
// https://go.dev/src/runtime/mgc.go): while a cycle marks, a quarter of the
// processors works for it, processors that have nothing else to do work for it too
// and give way, and a request that allocates faster than the marking gets on has to
// mark itself (mark assist). Times are ns.
//
// Allocation goes with the requests' own work, so the heap's growth is told in ns of
// that work: no bytes are needed.
type Marking struct {
	// Every is the own work from the beginning of one cycle to that of the next. 0:
	// there are no cycles.
	Every float64
	// Work is the time on processors that one cycle takes, on all kinds of workers together.
	Work float64
	// Works are those of the first, the second cycle and so on, and of the first again
	// after the last. Nil: each takes Work.
	Works []float64
	// Runway is the own work that can be done while a cycle marks before the heap is
	// at its goal: assists see to it that marking is done by then. 0: no assists.
	Runway float64
	// Slower is how many times as long own work takes while a cycle marks: write
	// barriers, caches, memory bandwidth. 1: as long as else.
	Slower float64
	// Stop is how long the world stops at the beginning of a cycle, and again at its
	// end.
	Stop float64
	// Phase says how much of Every has passed at the first arrival, 0…1.
	Phase float64
}

// markWorkers is how a quarter of the processors is made of whole ones, and of a part
// of each where rounding would be more than 30 % off (startCycle in
// https://go.dev/src/runtime/mgcpacer.go).
func markWorkers(processors int) (dedicated int, fraction float64) {
	goal := float64(processors) / 4
	dedicated = int(goal + .5)
	if e := float64(dedicated)/goal - 1; e < -.3 || e > .3 {
		if float64(dedicated) > goal {
			dedicated--
		}
		fraction = (goal - float64(dedicated)) / float64(processors)
	}
	return dedicated, fraction
}

// switchCycle begins and ends cycles.
func (s *serving) switchCycle() {
	m := &s.Marking
	switch {
	case s.marking && s.left <= nothing:
		s.marking = false
		s.stopped = s.now + m.Stop
	case !s.marking && m.Every > 0 && s.since >= m.Every-nothing:
		s.marking = true
		s.since -= m.Every
		s.left, s.runway, s.credit = m.Work, m.Runway, 0
		if len(m.Works) > 0 {
			s.left = m.Works[s.out.Cycles%len(m.Works)]
		}
		s.stopped = s.now + m.Stop
		s.out.Cycles++
		s.out.Marks = append(s.out.Marks, queue.Stop{From: int64(s.now), To: int64(s.now)})
	}
}
