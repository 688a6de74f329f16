package evidence

import "iter"

// Work is what a processor of a runtime, such as Go's P, is used for. It refines [Holder]: which work held the processor, and whether
// it was for the collector.
type Work uint8

// Kinds of work. Code includes system calls while they keep the processor, and sweeping to pay for an allocation.
const (
	WorkIdle             Work = iota // nothing ran; idle time has no span of its own
	WorkRequest                      // goroutines that serve requests, and those that help them
	WorkRequestAssist                // such a goroutine marks for the collector, to pay for an allocation
	WorkBackground                   // goroutines that serve no request
	WorkBackgroundAssist             // such a goroutine, or one of the runtime's, marks for the collector
	WorkRuntime                      // the runtime's own: sweeper, scavenger, finalizers, tracer
	WorkDedicated                    // a mark worker that keeps its processor
	WorkFractional                   // a mark worker that keeps it for a share of the time
	WorkIdleMark                     // a mark worker on an otherwise idle processor
	WorkStopped                      // nothing could run, or what ran stopped the world
	NumWorks
)

var workNames = [NumWorks]string{"idle", "requests", "requests' mark assist", "background", "background's mark assist", "runtime",
	"dedicated mark worker", "fractional mark worker", "idle mark worker", "stop-the-world"}

func (w Work) String() string {
	if w < NumWorks {
		return workNames[w]
	}
	return "unknown"
}

// Works splits a duration (ns) by work; the sum is the duration.
type Works [NumWorks]int64

// Sum returns the duration that was split.
func (w *Works) Sum() (sum int64) {
	for _, v := range w {
		sum += v
	}
	return sum
}

// largestWork returns the kind of work with most time.
func (w *Works) largestWork() (top Work) {
	for i, v := range w {
		if v > w[top] {
			top = Work(i)
		}
	}
	return top
}

// ProcessorSpan is what a processor did during a time.
type ProcessorSpan struct {
	From, To int64  // ns
	Work     Work   // its work; of several kinds the one with most time
	Lane     LaneID // the goroutine that ran, 0: none, or several
	Name     NameID // the goroutine's function, 0: unknown, or several
	// Serves is the lane whose request the goroutine worked for, for [Serving]: its own, or that of the goroutine that started
	// it to serve a request. 0: none, several, or unknown.
	Serves LaneID
	// Number is how many spans were joined into this one. 1 means as observed, with a zero Mix.
	Number int64
	Mix    Works // of a joined span: its work, including idle time between the parts
}

// Each yields each kind of work with its time (ns).
func (s *ProcessorSpan) Each(yield func(Work, int64) bool) {
	if s.Number <= 1 {
		yield(s.Work, s.To-s.From)
		return
	}
	for w, v := range s.Mix {
		if v > 0 && !yield(Work(w), v) {
			return
		}
	}
}

// Occupancy is what occupied each processor of a process, from one artifact.
// Spans and the gaps between them, in which nothing ran, tile From to Until.
type Occupancy struct {
	Subject     SubjectID
	Clock       ClockID
	Origin      Origin
	From, Until int64           // ns
	Lanes       []ProcessorLane // in order of number
	// Quantum is the length (ns) below which neighbours were joined because there were too many. 0: all spans are as observed.
	Quantum int64
	// Omitted is how many processors were left out.
	Omitted int

	base int64 // the origin of packed times
	late map[LaneID]lateLane
}

// ProcessorLane is one processor.
type ProcessorLane struct {
	Number int // as the runtime numbers it: P0, P1, …
	blocks []processorBlock
}

// lateLane is what became known of a goroutine after it had run.
type lateLane struct {
	work Work // WorkRequest, WorkRuntime; WorkIdle: nothing
	name NameID
}

// Spans yields the spans of a lane (an index in Lanes) in order of time, clipped to the shown time.
func (p *Occupancy) Spans(lane int) iter.Seq[ProcessorSpan] {
	return func(yield func(ProcessorSpan) bool) {
		blocks := p.Lanes[lane].blocks
		for i := range blocks {
			if i+1 < len(blocks) && p.base+blocks[i+1].from <= p.From {
				continue
			}
			if p.base+blocks[i].from >= p.Until {
				return
			}
			for s := range blocks[i].eachSpan {
				s.From += p.base
				s.To += p.base
				if s.To <= p.From {
					continue
				}
				if s.From >= p.Until {
					return
				}
				p.applyLearnt(&s)
				s.clipTo(p.From, p.Until)
				if !yield(s) {
					return
				}
			}
		}
	}
}

// applyLearnt fills in what became known of the goroutine later.
func (p *Occupancy) applyLearnt(s *ProcessorSpan) {
	background := s.Work == WorkBackground || s.Work == WorkBackgroundAssist
	if s.Number > 1 || s.Lane == 0 || !background && s.Name != 0 {
		return
	}
	k, ok := p.late[s.Lane]
	if !ok {
		return
	}
	if s.Name == 0 {
		s.Name = k.name
	}
	switch {
	case !background:
	case k.work == WorkRuntime && s.Work == WorkBackground:
		s.Work = WorkRuntime
	case k.work == WorkRequest:
		s.Work -= WorkBackground - WorkRequest
		s.Serves = s.Lane
	}
}

// clipTo shortens a span to the part within [from, until), and its parts in proportion.
func (s *ProcessorSpan) clipTo(from, until int64) {
	dur := s.To - s.From
	s.From, s.To = max(s.From, from), min(s.To, until)
	left := s.To - s.From
	if left == dur || s.Number <= 1 {
		return
	}
	rest := left
	for i := range s.Mix {
		s.Mix[i] = int64(float64(s.Mix[i]) * float64(left) / float64(dur))
		rest -= s.Mix[i]
	}
	s.Mix[s.Work] += rest
}

// clipTo keeps the part within [from, until); false: nothing is left.
func (p *Occupancy) clipTo(from, until int64) bool {
	p.From, p.Until = max(p.From, from), min(p.Until, until)
	return p.From < p.Until
}

// shiftTimes moves all times.
func (p *Occupancy) shiftTimes(offset int64) {
	p.From += offset
	p.Until += offset
	p.base += offset
}
