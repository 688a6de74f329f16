package younggen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
)

// ID is that of [Model].
const ID = "jvm.young-generation"

// Knobs of a JVM's young generation.
var Knobs = []model.Knob{
	{Name: "Xmn", Example: "2g", Parse: ParseFlagSize},
	{Name: "NewSize", Example: "2g", Parse: ParseFlagSize, Sets: "Xmn"},
	{Name: "Xmx", Example: "6g", Parse: ParseFlagSize},
	{Name: "alloc-rate", Example: "×0.3", Parse: parseFactor, Load: true},
	{Name: "rate", Example: "80", Parse: perSecond, Load: true},
}

// Prediction is the model's own part of an answer.
type Prediction struct {
	Calibration *Generation `json:"calibration"`
	Source      string      `json:"source"`
	Version     string      `json:"version"`
	Measured    Outcome     `json:"measured"`
	Outcomes    []Asked     `json:"outcomes"`
}

// Asked is one change and what comes of it.
type Asked struct {
	Text    string  `json:"asked"`
	Outcome Outcome `json:"outcome"`
}

// Situation is a young generation as recorded, and the load it is under.
type Situation struct {
	*Generation
	Source, Version string
	Knee            *Knee   // nil: not known
	Rate            float64 // requests/s that came; 0 unknown
	Room            float64 // bytes the process may have; 0 unknown
}

// Ask predicts changes; without one what twice and four times the young generation gives,
// and half the allocation. What cannot be predicted is an error beside the rest.
func (s Situation) Ask(subject string, wanted []model.Wanted) (*model.Answer, error) {
	y := s.Generation
	p := &Prediction{Calibration: y, Source: s.Source, Version: s.Version, Measured: s.measuredOutcome(), Outcomes: []Asked{}}
	a := &model.Answer{Model: ID, Subject: subject, Source: s.Source, Key: "young", Own: p}
	if len(wanted) == 0 {
		wanted = s.usualChanges()
	}
	var errs []error
	for _, w := range wanted {
		o, err := s.predictOutcome(w)
		if err != nil {
			errs = append(errs, fmt.Errorf("--set %s: %w", w.Text, err))
			continue
		}
		p.Outcomes = append(p.Outcomes, Asked{w.Text, o})
	}
	if y.Gamma == nil {
		a.Note("the young generation never changed its size in this log, so survival in a larger one is unknown: the range goes from no increase to a proportional one")
	}
	if strings.Contains(y.Collector, "G1") {
		a.Note("G1 sizes eden to meet its pause goal and -Xmn switches that off: raise -XX:MaxGCPauseMillis or -XX:G1NewSizePercent instead")
	}
	a.Note("this log says nothing about another collector: measure its pauses under the same load")
	p.writeAnswer(a)
	return a, errors.Join(errs...)
}

// usualChanges returns the changes that are worth knowing of any young generation.
func (s Situation) usualChanges() (all []model.Wanted) {
	for _, k := range []float64{2, 4} {
		size := k * s.Size
		if size <= 0 {
			continue
		}
		w := model.Wanted{Text: "Xmn=" + flagSize(size)}.With("Xmn", size)
		if heap := s.heapFor(size); heap > s.Heap {
			w.Text += " Xmx=" + flagSize(heap)
			w = w.With("Xmx", heap)
		}
		all = append(all, w)
	}
	return append(all, model.Wanted{Text: "alloc-rate=×0.5"}.With("alloc-rate", .5))
}

func (s Situation) measuredOutcome() Outcome {
	y := s.Generation
	o := Outcome{Size: y.Size, Alloc: model.Exactly(y.Alloc), Interval: model.Exactly(y.Eden / y.Alloc), Rate: model.Exactly(60 * y.Alloc / y.Eden),
		Pause: model.Exactly(1e3 * y.Mean), Stopped: model.Exactly(y.Mean * y.Alloc / y.Eden), Promotion: model.Exactly(y.Promoted * y.Alloc / y.Eden), Knee: model.Unknown, Cautions: []string{}}
	if s.Knee != nil {
		o.Knee = s.Knee.Rate()
	}
	return o
}

// Flags are those of a young generation so many times as large, with a heap that still
// holds what is live in its old generation. Such a heap is there from the start: a JVM gives
// its young generation no more than fits into what it began with, and lets it grow late.
func (s Situation) Flags(times float64) string {
	young := times * s.Size
	text := "-Xmn" + flagSize(young)
	if heap := s.heapFor(young); heap > s.Heap {
		text += " -Xms" + flagSize(heap) + " -Xmx" + flagSize(heap)
	}
	return text
}

// roomForOld is how many times what lives in it an old generation is to have. That is an
// opinion: with less it is full soon after each collection of it.
const roomForOld = 1.25

// heapFor is the heap (bytes) for a young generation of a size: it grows by as much where it
// would not hold the old one any more; 0 where its size is not known.
func (s Situation) heapFor(young float64) float64 {
	if s.Heap > 0 && young+roomForOld*s.OldLive > s.Heap {
		return s.Heap - s.Size + young
	}
	return s.Heap
}

// Errors of changes that the evidence does not bear.
var (
	errNoRate = errors.New("the request rate is unknown: give requests from the same period with the log")
	errRoom   = errors.New("the heap is too small for that: raise -Xmx as well")
)

func (s Situation) predictOutcome(w model.Wanted) (o Outcome, err error) {
	y := s.Generation
	eden, alloc := 1., w.Or("alloc-rate", 1)
	var cautions []string
	heap := w.Or("Xmx", y.Heap)
	if s.Room > 0 && heap > s.Room {
		cautions = append(cautions, fmt.Sprintf("the process may use only %s of memory", units.MiB(s.Room)))
	}
	if size, ok := w.Value("Xmn"); ok {
		if y.Size == 0 {
			return o, ErrNoSize
		}
		eden = size / y.Size
		if heap > 0 && size >= heap {
			return o, errRoom
		}
		if left := heap - size; heap > 0 && y.OldLive > 0 && left < roomForOld*y.OldLive {
			cautions = append(cautions, fmt.Sprintf("this leaves an old generation of %s for %s of live objects: raise -Xmx by the growth of the young generation", units.MiB(left), units.MiB(y.OldLive)))
		}
	}
	rate, other := w.Value("rate")
	if other {
		if s.Rate <= 0 {
			return o, errNoRate
		}
		alloc *= rate / s.Rate
	}
	o = y.Predict(eden, alloc)
	o.Cautions = append(o.Cautions, cautions...)
	o.Knee = model.Unknown
	if s.Knee != nil {
		now := s.measuredOutcome().Stopped.Value
		perRequest := o.Stopped.Value / now
		if other {
			perRequest *= s.Rate / rate
		} else {
			rate = s.Rate
		}
		o.Knee = s.Knee.With(perRequest)
		if rate > o.Knee.Value {
			o.Cautions = append(o.Cautions, fmt.Sprintf("%s requests/s exceeds the knee: requests pile up", units.Num(rate)))
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

// parseFactor reads "×0.3", "x0.3", "0.3x" or "0.3": times what it is now.
func parseFactor(text string) (float64, error) {
	number := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "×"), "x"), "x")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v > 1000 {
		return 0, fmt.Errorf("%q: give a factor of the current rate, such as ×0.3", text)
	}
	return v, nil
}

// perSecond reads a rate of requests.
func perSecond(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return 0, fmt.Errorf("%q: give requests per second, such as 80", text)
	}
	return v, nil
}
