package predict

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ModelYoung is the model of a JVM's young generation.
const ModelYoung = "jvm.young-generation"

// Young is what settings and loads would do to a JVM's young generation.
type Young struct {
	Calibration *YoungGen    `json:"calibration"`
	Source      string       `json:"source"`
	Version     string       `json:"version"`
	Measured    YoungOutcome `json:"measured"`
	Outcomes    []YoungAsked `json:"outcomes"`
}

// YoungAsked is one change and what comes of it.
type YoungAsked struct {
	Text    string       `json:"asked"`
	Outcome YoungOutcome `json:"outcome"`
}

// YoungSituation is a young generation as recorded, and the load it is under.
type YoungSituation struct {
	*YoungGen
	Source, Version string
	Knee            *Knee   // nil: not known
	Rate            float64 // requests/s that came; 0 unknown
	Room            float64 // bytes the process may have; 0 unknown
}

// Ask predicts changes; without one what twice and four times the young generation gives,
// and half the allocation. What cannot be predicted is an error beside the rest.
func (s YoungSituation) Ask(subject string, wanted []Wanted) (*Prediction, error) {
	y := s.YoungGen
	p := &Prediction{Schema: PredictionSchema, Subject: subject, Model: ModelYoung, Settings: []Asked{}, Notes: []string{}}
	p.Young = &Young{Calibration: y, Source: s.Source, Version: s.Version, Measured: s.measured(), Outcomes: []YoungAsked{}}
	if len(wanted) == 0 {
		half := .5
		wanted = []Wanted{{Text: "alloc-rate=×0.5", Young: YoungChange{Alloc: &half}}}
		for _, k := range []float64{4, 2} {
			if size := k * y.Size; size > 0 {
				more := Wanted{Text: "Xmn=" + flagSize(size), Young: YoungChange{Size: &size}}
				if heap := s.heapFor(size); heap > y.Heap {
					more.Text += " Xmx=" + flagSize(heap)
					more.Young.Heap = &heap
				}
				wanted = append([]Wanted{more}, wanted...)
			}
		}
	}
	var errs []error
	for _, w := range wanted {
		o, err := s.outcome(w.Young)
		if err != nil {
			errs = append(errs, fmt.Errorf("--set %s: %w", w.Text, err))
			continue
		}
		p.Young.Outcomes = append(p.Young.Outcomes, YoungAsked{w.Text, o})
	}
	if y.Gamma == nil {
		p.note("the young generation never changed its size in this log, so that how much more survives in a larger one is not to be seen: the range is from nothing more to all in proportion")
	}
	if strings.Contains(y.Collector, "G1") {
		p.note("G1 sizes eden by its pause goal; -Xmn fixes it and switches that off: rather raise -XX:MaxGCPauseMillis, or -XX:G1NewSizePercent")
	}
	p.note("of another collector nothing can be said from this log: its pauses have to be measured under the same load")
	return p, errors.Join(errs...)
}

func (s YoungSituation) measured() YoungOutcome {
	y := s.YoungGen
	o := YoungOutcome{Size: y.Size, Alloc: Exactly(y.Alloc), Interval: Exactly(y.Eden / y.Alloc), Rate: Exactly(60 * y.Alloc / y.Eden),
		Pause: Exactly(1e3 * y.Mean), Stopped: Exactly(y.Mean * y.Alloc / y.Eden), Promotion: Exactly(y.Promoted * y.Alloc / y.Eden), Knee: Unknown, Cautions: []string{}}
	if s.Knee != nil {
		o.Knee = s.Knee.Rate()
	}
	return o
}

// Flags are those of a young generation so many times as large, with a heap that still
// holds what is live in its old generation. Such a heap is there from the start: a JVM gives
// its young generation no more than fits into what it began with, and lets it grow late.
func (s YoungSituation) Flags(times float64) string {
	young := times * s.Size
	text := "-Xmn" + flagSize(young)
	if heap := s.heapFor(young); heap > s.Heap {
		text += " -Xms" + flagSize(heap) + " -Xmx" + flagSize(heap)
	}
	return text
}

// heapFor is the heap (bytes) for a young generation of a size: it grows by as much where it
// would not hold the old one any more; 0 where its size is not known.
func (s YoungSituation) heapFor(young float64) float64 {
	if s.Heap > 0 && young+1.25*s.OldLive > s.Heap {
		return s.Heap - s.Size + young
	}
	return s.Heap
}

// Errors of changes that the evidence does not bear.
var (
	errNoRate = errors.New("how many requests came is not known: give the log beside requests of the same time")
	errRoom   = errors.New("the heap cannot hold that: raise -Xmx, too")
)

func (s YoungSituation) outcome(w YoungChange) (o YoungOutcome, err error) {
	y := s.YoungGen
	eden, alloc := 1., 1.
	var cautions []string
	heap := y.Heap
	if w.Heap != nil {
		heap = *w.Heap
	}
	if s.Room > 0 && heap > s.Room {
		cautions = append(cautions, fmt.Sprintf("the process may have %s of memory", size(s.Room)))
	}
	if w.Size != nil {
		if y.Size == 0 {
			return o, ErrNoSize
		}
		eden = *w.Size / y.Size
		if heap > 0 && *w.Size >= heap {
			return o, errRoom
		}
		if left := heap - *w.Size; heap > 0 && y.OldLive > 0 && left < 1.25*y.OldLive {
			cautions = append(cautions, fmt.Sprintf("an old generation of %s is left for %s that was in it: raise -Xmx by as much as the young generation grows", size(left), size(y.OldLive)))
		}
	}
	if w.Alloc != nil {
		alloc *= *w.Alloc
	}
	if w.Rate != nil {
		if s.Rate <= 0 {
			return o, errNoRate
		}
		alloc *= *w.Rate / s.Rate
	}
	o = y.Predict(eden, alloc)
	o.Cautions = append(o.Cautions, cautions...)
	o.Knee = Unknown
	if s.Knee != nil {
		now := s.measured().Stopped.Value
		perRequest := o.Stopped.Value / now
		rate := s.Rate
		if w.Rate != nil {
			perRequest *= s.Rate / *w.Rate
			rate = *w.Rate
		}
		o.Knee = s.Knee.With(perRequest)
		if rate > o.Knee.Value {
			o.Cautions = append(o.Cautions, fmt.Sprintf("%s requests/s are more than the knee: they pile up", three(rate)))
		}
	}
	return o, nil
}

// flagSize writes bytes as -X flags take them.
func flagSize(bytes float64) string {
	n := int64(bytes)
	switch {
	case n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + "g"
	case n >= 1<<20:
		return strconv.FormatInt((n+1<<19)>>20, 10) + "m"
	}
	return strconv.FormatInt(max(1, n>>10), 10) + "k"
}

// ParseFlagSize reads a size as -Xmn and NewSize take it: digits, then k, m, g or t, of
// either case, or nothing (https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html).
func ParseFlagSize(text string) (float64, error) {
	digits := text
	unit := int64(1)
	if n := len(text); n > 0 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 {
			digits, unit = text[:n-1], 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || strings.HasPrefix(digits, "+") || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q: give a size as -Xmn takes it, such as 512m or 2g", text)
	}
	return float64(n * unit), nil
}

// factor reads "×0.3", "x0.3", "0.3x" or "0.3": times what it is now.
func factor(text string) (float64, error) {
	number := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "×"), "x"), "x")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v > 1000 {
		return 0, fmt.Errorf("%q: give a factor of what it is now, such as ×0.3", text)
	}
	return v, nil
}

// perSecond reads a rate of requests.
func perSecond(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return 0, fmt.Errorf("%q: give requests a second, such as 80", text)
	}
	return v, nil
}
