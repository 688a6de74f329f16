package evidence

import "slices"

// Sample is one row of [Samples]: a profile's stack with its weight, an allocation tick, a goroutine of a dump.
type Sample struct {
	Subject SubjectID
	Time    int64 // ns, 0: unknown, within the artifact's coverage
	Lane    LaneID
	Stack   StackID
	Type    NameID // "cpu", "inuse_space", "contentions", "delay", "goroutine", "thread", …
	Unit    NameID // "nanoseconds", "bytes", "count"
	Class   NameID // the purpose of the work, as the format classifies it; 0: the program's own
	Value   int64
	Origin  Origin
}

// Samples holds samples as columns.
type Samples struct {
	Subject []SubjectID
	Time    []int64
	Lane    []LaneID
	Stack   []StackID
	Type    []NameID
	Unit    []NameID
	Class   []NameID
	Value   []int64
	Origin  []Origin
}

// Len returns the number of samples.
func (s *Samples) Len() int { return len(s.Value) }

func (s *Samples) doubleColumns() {
	s.Subject, s.Time, s.Lane, s.Stack = doubleRoom(s.Subject), doubleRoom(s.Time), doubleRoom(s.Lane), doubleRoom(s.Stack)
	s.Type, s.Unit, s.Class = doubleRoom(s.Type), doubleRoom(s.Unit), doubleRoom(s.Class)
	s.Value, s.Origin = doubleRoom(s.Value), doubleRoom(s.Origin)
}

// growRows makes room for n more rows, and at least doubles the room.
func (s *Samples) growRows(n int) {
	if n <= cap(s.Value)-len(s.Value) {
		return
	}
	n = max(n, len(s.Value))
	s.Subject, s.Time, s.Lane, s.Stack = slices.Grow(s.Subject, n), slices.Grow(s.Time, n), slices.Grow(s.Lane, n), slices.Grow(s.Stack, n)
	s.Type, s.Unit, s.Class = slices.Grow(s.Type, n), slices.Grow(s.Unit, n), slices.Grow(s.Class, n)
	s.Value, s.Origin = slices.Grow(s.Value, n), slices.Grow(s.Origin, n)
}

func (s *Samples) rowAt(i int) Sample {
	return Sample{Subject: s.Subject[i], Time: s.Time[i], Lane: s.Lane[i], Stack: s.Stack[i], Type: s.Type[i], Unit: s.Unit[i], Class: s.Class[i],
		Value: s.Value[i], Origin: s.Origin[i]}
}

func (s *Samples) addRow(x Sample) {
	if len(s.Value) == cap(s.Value) {
		s.doubleColumns()
	}
	s.Subject = append(s.Subject, x.Subject)
	s.Time = append(s.Time, x.Time)
	s.Lane = append(s.Lane, x.Lane)
	s.Stack = append(s.Stack, x.Stack)
	s.Type = append(s.Type, x.Type)
	s.Unit = append(s.Unit, x.Unit)
	s.Class = append(s.Class, x.Class)
	s.Value = append(s.Value, x.Value)
	s.Origin = append(s.Origin, x.Origin)
}

// Series is a figure over time. Each point's value holds until the next point.
type Series struct {
	Subject SubjectID
	Clock   ClockID
	Name    string // runtime/metrics names where the runtime has one: /gc/heap/goal:bytes
	Unit    string
	T       []int64 // ns, ascending
	V       []float64
	Origin  Origin
}

// Mean returns the figure's mean over the part of [from, until) between its first and last point, and the length of that part (ns); 0, 0
// if there is none.
func (s *Series) Mean(from, until int64) (mean float64, watched int64) {
	var sum float64
	for i := 0; i+1 < len(s.T); i++ {
		if d := min(s.T[i+1], until) - max(s.T[i], from); d > 0 {
			sum += s.V[i] * float64(d)
			watched += d
		}
	}
	if watched == 0 {
		return 0, 0
	}
	return sum / float64(watched), watched
}

// Fact is something that was true during a time: a flag, a limit, a version.
type Fact struct {
	Subject SubjectID
	Key     string // one of the Fact… names, or a setting's own name
	Value   string
	Number  float64 // the value in the base unit (bytes, ns, 1), NaN if it is not a number
	From    int64   // ns, 0: always
	Until   int64   // ns, 0: always
	Origin  Origin
}

// Coverage records that something was watched, and from when to when.
type Coverage struct {
	Subject SubjectID
	Clock   ClockID
	Kind    string // one of Cover…
	From    int64  // ns
	Until   int64  // ns
	Lost    int64  // events known to be lost within
	Sampled int64  // ns between two samples of sampled states; 0: watched all the time
	Origin  Origin
}

// LoadResult is a load generator's result of one run. Quantiles are ns.
type LoadResult struct {
	Tool       string
	URL        string
	Mode       string // "open", "closed", "" unknown
	FromSend   bool   // latency counts from the sending, not from the intended time
	Duration   int64  // ns
	Offered    float64
	Rate       float64 // achieved, per second
	Sent       int64
	Completed  int64
	Errors     int64
	Timeouts   int64
	Mean       int64
	Stdev      int64
	Max        int64
	Quantiles  []Quantile
	Codes      map[string]int64 // by class: "2xx"
	BytesPerS  float64
	Connection int // closed loop: number of clients
	Origin     Origin
}

// Quantile is a point of a latency distribution.
type Quantile struct {
	Q  float64 // 0…1
	Ns int64
}
