package gopprof

import (
	"math"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// summary is what a recording adds up to.
type summary struct {
	total   []int64  // by column, in base units
	classes []string // CPU: of each sample
	class   map[string]int64
}

func summarize(r *recording) *summary {
	s := &summary{total: make([]int64, len(r.SampleType))}
	for i, t := range r.SampleType {
		_, scale := baseUnit(t.Unit)
		for _, x := range r.Sample {
			s.total[i] = plus(s.total[i], times(x.Value[i], scale))
		}
	}
	if r.kind == kindCPU {
		s.classify(r)
	}
	return s
}

// plus adds without wrapping round.
func plus(a, b int64) int64 {
	switch c := a + b; {
	case a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	default:
		return c
	}
}

func (s *summary) classify(r *recording) {
	rules := make(map[*profile.Function]rule, len(r.Function))
	for _, f := range r.Function {
		rules[f] = ruleOf(f.Name)
	}
	s.classes = make([]string, len(r.Sample))
	s.class = make(map[string]int64)
	for i, x := range r.Sample {
		s.classes[i] = classOf(x, rules)
		s.class[s.classes[i]] = plus(s.class[s.classes[i]], cpuTime(r, x))
	}
}

func classOf(s *profile.Sample, rules map[*profile.Function]rule) string {
	var d decision
	for _, l := range s.Location {
		for _, line := range l.Line {
			if d.add(rules[line.Function]) {
				return d.result()
			}
		}
	}
	return d.result()
}

// cpuTime is a sample's CPU time in ns; of profiles that only count samples,
// the count times the period, 0 if that is unknown too.
func cpuTime(r *recording, s *profile.Sample) int64 {
	if i := cpuColumn(r.Profile); i >= 0 {
		_, scale := baseUnit(r.SampleType[i].Unit)
		return times(s.Value[i], scale)
	}
	if len(s.Value) == 0 {
		return 0
	}
	return times(s.Value[0], max(0, period(r)))
}

// period of a CPU profile in ns.
func period(r *recording) int64 {
	if r.PeriodType == nil {
		return r.Period
	}
	_, scale := baseUnit(r.PeriodType.Unit)
	return times(r.Period, scale)
}

func (s *summary) cpu(r *recording) int64 {
	if i := cpuColumn(r.Profile); i >= 0 {
		return s.total[i]
	}
	var sum int64
	for _, v := range s.class {
		sum = plus(sum, v)
	}
	return sum
}

// gc is the collector's part of the CPU time, in ns.
func (s *summary) gc() (sum int64) {
	for c, v := range s.class {
		if IsGC(c) {
			sum = plus(sum, v)
		}
	}
	return sum
}

func (s *summary) facts(r *recording, f *facts) {
	if r.DurationNanos > 0 {
		f.number("profile.duration", float64(r.DurationNanos))
	}
	switch r.kind {
	case kindCPU:
		cpu := s.cpu(r)
		f.number("profile.cpuTotal", float64(cpu))
		if p := period(r); p > 0 {
			f.number(evidence.FactProfileRate, 1e9/float64(p))
		}
		if r.DurationNanos > 0 {
			f.number("profile.cores", float64(cpu)/float64(r.DurationNanos))
		}
		if len(r.Sample) == 0 {
			break // shares of nothing are unknown
		}
		f.number("profile.gc", float64(s.gc()))
		for _, c := range classOrder {
			if v, ok := s.class[c]; ok {
				if c == ClassOwn {
					c = "own"
				}
				f.number("profile.class."+c, float64(v))
			}
		}
	case kindHeap, kindAllocs:
		if r.Period > 0 {
			f.number("profile.period", float64(r.Period))
		}
		if i := column(r.Profile, "inuse_space"); i >= 0 {
			f.number("heap.inuse", float64(s.total[i]))
		}
		if i := column(r.Profile, "alloc_space"); i >= 0 {
			f.number("heap.alloc", float64(s.total[i]))
		}
	case kindGoroutine:
		f.number("goroutines", float64(s.count(r)))
	case kindGoroutineLeak:
		f.number("goroutines.leaked", float64(s.count(r)))
	case kindThreads:
		f.number("threads.created", float64(s.count(r)))
	case kindMutex:
		if r.fraction > 0 {
			f.number("profile.mutexFraction", float64(r.fraction))
		}
	}
}

// count is the total of a profile that counts: what its text announces, if it
// was cut, else the sum.
func (s *summary) count(r *recording) int64 {
	if len(s.total) == 0 {
		return r.announce
	}
	return max(r.announce, s.total[0])
}

// classOrder is the order tables and facts list the classes in.
var classOrder = []string{
	ClassOwn, ClassDedicated, ClassFractional, ClassIdle, ClassBackground, ClassAssist, ClassSweep, ClassWriteBarrier, ClassSTW, ClassGCOther,
	ClassMalloc, ClassZeroing, ClassScheduler, ClassSyscall,
}
