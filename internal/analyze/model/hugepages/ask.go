package hugepages

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// Values of the knobs.
const (
	never = iota
	deferred
)

// Knobs of transparent huge pages.
var Knobs = []model.Knob{
	{Name: "thp", Example: "never", Parse: newChoiceParser("never, also for a process that has switched them off", map[string]float64{"never": never, "off": never})},
	{Name: "thp-defrag", Example: "defer", Parse: newChoiceParser("defer or never: a page fault takes a free huge page, else small ones", map[string]float64{"defer": deferred, "never": deferred, "defer+madvise": deferred})},
	{Name: "touched", Example: "40", Load: true, Parse: parsePages},
}

func newChoiceParser(words string, of map[string]float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		if v, ok := of[text]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("%q: give %s", text, words)
	}
}

// parsePages reads how many small pages of each huge one are touched.
func parsePages(text string) (float64, error) {
	var v float64
	if n, err := fmt.Sscanf(text, "%g", &v); err != nil || n != 1 || !(v >= 1) || v > 1<<20 {
		return 0, fmt.Errorf("%q: give how many small pages of each huge one are touched, such as 40", text)
	}
	return v, nil
}

// Outcome is what comes of a setting.
type Outcome struct {
	Cores    model.Estimate `json:"fault_cores"`     // in faults for these pages
	Faults   model.Estimate `json:"faults_per_s"`    // all of the process
	Resident model.Estimate `json:"huge_page_bytes"` // that they hold
	Change   model.Estimate `json:"cpu_change"`      // relative, of the process's CPU time
	Text     string         `json:"asked"`
}

// Prediction is the model's own part of an answer.
type Prediction struct {
	Kernel    string         `json:"kernel"`
	Enabled   string         `json:"enabled"`
	Defrag    string         `json:"defrag"`
	Huge      model.Estimate `json:"huge_fault_ns"`
	Small     model.Estimate `json:"small_fault_ns"`
	Typical   bool           `json:"typical"` // these are not of this host
	BreakEven model.Estimate `json:"break_even_pages"`
	Touched   model.Estimate `json:"touched_pages"`
	Looked    float64        `json:"looked_pages"`
	Now       Outcome        `json:"now"`
	Outcomes  []Outcome      `json:"outcomes"`
}

func answerQuestion(q model.Question) (*model.Answer, error) {
	w := metrics.WatchedTime(q.Bundle, q.Subject)
	if q.Ledger != nil {
		w = metrics.Window{From: q.Ledger.From, Until: q.Ledger.To}
	}
	if len(q.Bundle.Covered(q.Subject, evidence.CoverHugePages)) == 0 {
		return nil, errNoLook
	}
	u := Of(q.Bundle, q.Subject, w)
	switch {
	case math.IsNaN(u.CPU):
		return nil, errNoCPU
	case u.Faults.Known() && u.Faults.High == 0 && !(u.Compaction.Value > 0):
		return nil, errNone
	}
	return u.Ask(q.Name, q.Wanted)
}

// Ask predicts settings; without one what becomes of the process without huge pages.
func (u *Use) Ask(subject string, wanted []model.Wanted) (*model.Answer, error) {
	p := &Prediction{Kernel: u.Kernel, Enabled: u.Enabled, Defrag: u.Defrag, Huge: u.Huge, Small: u.Small, Typical: u.Typical, BreakEven: u.BreakEven(),
		Touched: u.Touched.Estimate, Looked: u.Touched.Looked, Now: u.Now(), Outcomes: []Outcome{}}
	a := &model.Answer{Model: ID, Subject: subject, Key: "huge_pages", Own: p, Basis: u.listBasis()}
	if len(wanted) == 0 {
		wanted = append(wanted, model.Wanted{Text: "thp=never"}.With("thp", never))
		if u.Compaction.Value > 0 {
			wanted = append(wanted, model.Wanted{Text: "thp-defrag=defer"}.With("thp-defrag", deferred))
		}
	}
	var errs []error
	for _, w := range wanted {
		o, err := u.Set(w)
		if err != nil {
			errs = append(errs, fmt.Errorf("--set %s: %w", w.Text, err))
			continue
		}
		p.Outcomes = append(p.Outcomes, o)
		a.Rows = append(a.Rows, model.Row{Text: w.Text, Effects: u.Effects(o)})
	}
	a.Lead = model.Lead{Of: "what transparent huge pages cost and save", Text: "nothing to predict"}
	if len(p.Outcomes) > 0 {
		a.Lead.Text, a.Lead.Effects = p.Outcomes[0].Text, u.Effects(p.Outcomes[0])
		a.Lead.Why = u.explainUse()
	}
	if u.Typical {
		a.Note("the cost of faults was not measured on this host, so typical figures are used, with a wide range")
	}
	a.Note("not counted: fewer misses of the TLB with huge pages")
	return a, errors.Join(errs...)
}

// Now is what was measured.
func (u *Use) Now() Outcome {
	return Outcome{Text: "now", Cores: u.Spent(), Faults: model.Exactly(u.Others), Resident: model.Exactly(u.Resident), Change: model.Exactly(0)}
}

// Errors of what cannot be said.
var (
	errTouched    = errors.New("how much of its huge pages the process uses is unknown: record it longer, or give touched=20")
	errCompaction = errors.New("compaction for its huge pages was not recorded: sudo unstall record PID --kernel")
)

// Set is what comes of a setting.
func (u *Use) Set(w model.Wanted) (Outcome, error) {
	x := *u
	if v, ok := w.Value("touched"); ok {
		x.Touched.Estimate = model.Exactly(min(v, u.PerHuge))
		x.Touched.Low, x.Touched.High = x.Touched.Value, x.Touched.Value
	}
	o := x.Now()
	o.Text = w.Text
	if _, ok := w.Value("thp-defrag"); ok {
		if !x.Compaction.Known() {
			return o, errCompaction
		}
		o.Cores = x.Clearing
	}
	if _, ok := w.Value("thp"); ok {
		instead := x.Instead()
		if !instead.Known() {
			return o, errTouched
		}
		o.Cores, o.Resident = instead, model.Exactly(x.Resident*x.Touched.Value/x.PerHuge)
		f, t := x.Faults, x.Touched
		o.Faults = model.Between(x.Others-f.Value+f.Value*t.Value, x.Others-f.Low+f.Low*t.Low, x.Others-f.High+f.High*t.High)
	}
	o.Change = model.Unknown
	if now := x.Spent(); now.Known() && o.Cores.Known() && x.CPU > 0 {
		o.Change = model.Exactly(max(-1, (o.Cores.Value-now.Value)/x.CPU))
	}
	return o, nil
}

// Effects are the figures of a setting beside those measured.
func (u *Use) Effects(then Outcome) []model.Effect {
	now := u.Now()
	return model.Known(
		model.Effect{Title: "CPU time in faults for these pages", Unit: "CPUs", Now: now.Cores, Then: then.Cores},
		model.Effect{Title: "minor page faults", Unit: "1/s", Now: now.Faults, Then: then.Faults},
		model.Effect{Title: "memory in huge pages, or instead of them", Unit: "bytes", Now: now.Resident, Then: then.Resident},
	)
}

func (u *Use) explainUse() string {
	if !u.Touched.Known() {
		return "how much of each huge page is used is unknown"
	}
	return fmt.Sprintf("the process uses %s of %.0f small pages of each huge page, and a huge page saves time from %s on", units.Num(u.Touched.Value), u.PerHuge, units.Num(math.Ceil(u.BreakEven().Value)))
}

func (u *Use) listBasis() (items []string) {
	if u.Kernel != "" {
		items = append(items, "Linux "+u.Kernel)
	}
	if u.Enabled != "" {
		items = append(items, "enabled="+u.Enabled)
	}
	if u.Defrag != "" {
		items = append(items, "defrag="+u.Defrag)
	}
	if u.Off {
		items = append(items, "switched off for this process")
	}
	how := "measured here"
	if u.Typical {
		how = "typical"
	}
	items = append(items, fmt.Sprintf("a fault takes %s for a small page and %s for a huge one (%s)", units.Time(u.Small.Value), units.Time(u.Huge.Value), how))
	if u.Faults.Known() {
		items = append(items, units.Of(u.Faults.Value, "1/s")+" faults for huge pages")
	}
	if u.Touched.Known() {
		items = append(items, strings.TrimSpace(fmt.Sprintf("%s of %.0f small pages used of each of %s", units.Num(u.Touched.Value), u.PerHuge, units.Plural(int(u.Touched.Looked), "huge page"))))
	}
	return items
}
