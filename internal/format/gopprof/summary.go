package gopprof

import (
	"math"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goclass"
)

// summary has the totals of a recording.
type summary struct {
	total   []int64  // by column, in base units
	classes []string // CPU: of each sample
	class   map[string]int64
}

func summarizeRecording(r *recording) *summary {
	s := &summary{total: make([]int64, len(r.SampleType))}
	for i, t := range r.SampleType {
		_, scale := baseUnit(t.Unit)
		for _, x := range r.Sample {
			s.total[i] = addSaturated(s.total[i], multiplySaturated(x.Value[i], scale))
		}
	}
	if r.kind == kindCPU {
		s.classifySamples(r)
	}
	return s
}

// addSaturated adds without overflow.
func addSaturated(a, b int64) int64 {
	switch c := a + b; {
	case a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	default:
		return c
	}
}

func (s *summary) classifySamples(r *recording) {
	rules := make(map[*profile.Function]goclass.Rule, len(r.Function))
	for _, f := range r.Function {
		rules[f] = goclass.RuleOf(f.Name)
	}
	s.classes = make([]string, len(r.Sample))
	s.class = make(map[string]int64)
	for i, x := range r.Sample {
		s.classes[i] = classOf(x, rules)
		s.class[s.classes[i]] = addSaturated(s.class[s.classes[i]], cpuTime(r, x))
	}
}

func classOf(s *profile.Sample, rules map[*profile.Function]goclass.Rule) string {
	var d goclass.Decision
	for _, l := range s.Location {
		for _, line := range l.Line {
			if d.Add(rules[line.Function]) {
				return d.Class()
			}
		}
	}
	return d.Class()
}

// cpuTime returns a sample's CPU time in ns; for profiles that only count samples,
// the count times the period, 0 if that is unknown too.
func cpuTime(r *recording, s *profile.Sample) int64 {
	if i := cpuColumn(r.Profile); i >= 0 {
		_, scale := baseUnit(r.SampleType[i].Unit)
		return multiplySaturated(s.Value[i], scale)
	}
	if len(s.Value) == 0 {
		return 0
	}
	return multiplySaturated(s.Value[0], max(0, samplingPeriod(r)))
}

// samplingPeriod returns the period of a CPU profile in ns.
func samplingPeriod(r *recording) int64 {
	if r.PeriodType == nil {
		return r.Period
	}
	_, scale := baseUnit(r.PeriodType.Unit)
	return multiplySaturated(r.Period, scale)
}

func (s *summary) totalCPU(r *recording) int64 {
	if i := cpuColumn(r.Profile); i >= 0 {
		return s.total[i]
	}
	var sum int64
	for _, v := range s.class {
		sum = addSaturated(sum, v)
	}
	return sum
}

// gcTime returns GC's part of the CPU time, in ns.
func (s *summary) gcTime() (sum int64) {
	for c, v := range s.class {
		if goclass.IsGC(c) {
			sum = addSaturated(sum, v)
		}
	}
	return sum
}

func (s *summary) addFacts(r *recording, f *facts) {
	if r.DurationNanos > 0 {
		f.addNumber("profile.duration", float64(r.DurationNanos))
	}
	switch r.kind {
	case kindCPU:
		cpu := s.totalCPU(r)
		f.addNumber("profile.cpuTotal", float64(cpu))
		if p := samplingPeriod(r); p > 0 {
			f.addNumber(evidence.FactProfileRate, 1e9/float64(p))
		}
		if r.DurationNanos > 0 {
			f.addNumber("profile.cores", float64(cpu)/float64(r.DurationNanos))
		}
		if len(r.Sample) == 0 {
			break // shares of nothing are unknown
		}
		f.addNumber("profile.gc", float64(s.gcTime()))
		for _, c := range goclass.Order {
			if v, ok := s.class[c]; ok {
				if c == goclass.Own {
					c = "own"
				}
				f.addNumber("profile.class."+c, float64(v))
			}
		}
	case kindHeap, kindAllocs:
		if r.Period > 0 {
			f.addNumber("profile.period", float64(r.Period))
		}
		if i := findColumn(r.Profile, "inuse_space"); i >= 0 {
			f.addNumber("heap.inuse", float64(s.total[i]))
		}
		if i := findColumn(r.Profile, "alloc_space"); i >= 0 {
			f.addNumber("heap.alloc", float64(s.total[i]))
		}
	case kindGoroutine:
		f.addNumber("goroutines", float64(s.totalCount(r)))
	case kindGoroutineLeak:
		f.addNumber("goroutines.leaked", float64(s.totalCount(r)))
	case kindThreads:
		f.addNumber("threads.created", float64(s.totalCount(r)))
	case kindMutex:
		if r.fraction > 0 {
			f.addNumber("profile.mutexFraction", float64(r.fraction))
		}
	}
}

// wholeOf returns what shares of a column are of: of a text that was cut, the total that it announces.
func (s *summary) wholeOf(r *recording, column int) int64 {
	switch r.kind {
	case kindGoroutine, kindGoroutineLeak, kindThreads:
		return s.totalCount(r)
	}
	return s.total[column]
}

// totalCount returns the total of a profile that counts: if its text was cut, the announced one,
// else the sum.
func (s *summary) totalCount(r *recording) int64 {
	if len(s.total) == 0 {
		return r.announce
	}
	return max(r.announce, s.total[0])
}
