package html

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/sentence"
)

// Predicted is what settings would do to a process.
type Predicted struct{ Prediction *predict.Prediction }

// predictedView is a prediction in the words of the reports.
type predictedView struct {
	Label, Answer, Why string
	Keep               bool // the setting in force
	Change             *changeView
	Contents           []Link
	Settings           []settingView
	Frontier           *frontierView
	Points             []pointView
	Facts              []factView
}

// settingView is what comes of a setting.
type settingView struct {
	ID, Text string
	Number   int // in the picture, 0: the only one
	Effects  []predictionView
	Facts    []factView
}

type factView struct{ Name, Text string }

// predictedTitle is the answer in a few words.
func predictedTitle(p *predict.Prediction) string {
	if p.Pool != nil {
		return poolTitle(p.Pool)
	}
	if p.Young != nil {
		return youngTitle(p.Young)
	}
	if at, ok := p.Frontier.Recommended(); ok {
		return at.Setting.String()
	}
	return "keep the setting"
}

func (x Predicted) add(doc *document) error {
	p := x.Prediction
	about := sentence.Calibrated(p)
	doc.Head = &diagnosisView{Targets: []targetView{{Name: p.Subject, About: about}}}
	if p.Pool != nil {
		doc.Parts = append(doc.Parts, partView{Prediction: pool(p)})
		return nil
	}
	if p.Young != nil {
		doc.Parts = append(doc.Parts, partView{Prediction: young(p)})
		return nil
	}
	if source := p.Calibration.Source; source != "" {
		doc.Head.Targets[0].About = about[:len(about)-1] // which is "from" it
		doc.Head.Sources = []sentence.Source{{Name: source}}
	}
	doc.Parts = append(doc.Parts, partView{Prediction: heap(p)})
	return nil
}

// heap is what settings would do to a Go process's heap.
func heap(p *predict.Prediction) *predictedView {
	f := p.Frontier
	v := &predictedView{Label: "what memory buys", Why: sentenceCase(f.Why) + "."}
	at, ok := f.Recommended()
	if ok {
		v.Answer = at.Setting.String()
		v.Change = &changeView{ID: "memory", Predicted: shown(effects(p, &at), "gc cycles", "gc cpu", "p99", "heap at its peak", "resident")}
	} else {
		v.Answer, v.Keep = "Keep "+p.Measured.Setting.String(), true
	}
	var others []predict.Outcome
	for i := range p.Settings {
		a := &p.Settings[i]
		s := settingView{ID: fmt.Sprintf("setting-%d", i+1), Text: a.Text, Effects: effects(p, &a.Outcome)}
		if len(p.Settings) > 1 {
			s.Number = i + 1
		}
		s.Facts = facts(
			"First fill", sentence.Fill(&a.Outcome),
			"Margin", sentenceCase(sentence.Margin(a.Margin)),
			"Caution", sentenceCase(strings.Join(sentence.Cautions(&a.Outcome), "; ")))
		v.Settings = append(v.Settings, s)
		v.Contents = append(v.Contents, Link{s.ID, s.Text})
		others = append(others, a.Outcome)
	}
	if len(v.Contents) > 0 {
		v.Contents = append(v.Contents, Link{"memory", "What memory buys"})
	}
	if v.Frontier = frontier(f, others...); v.Frontier != nil {
		v.Frontier.Caption = "" // its words are beside it
	}
	v.Points = points(f)
	fill, ballast, room := "", "", ""
	if ok {
		fill = sentence.Fill(&at)
	}
	if p.Ballast != nil {
		ballast = "a ballast of " + predict.FormatSize(*p.Ballast)
	}
	if f.Most > 0 {
		room = sentence.Room(f)
	}
	v.Facts = facts("Before Go 1.19", ballast, "Margin", sentenceCase(sentence.Margin(f.Margin)), "First fill", fill, "Room", room, "Rule", "the knee is "+f.Rule)
	v.Facts = append(v.Facts, notes(p)...)
	return v
}

func notes(p *predict.Prediction) (all []factView) {
	for _, n := range p.Notes {
		all = append(all, factView{"Note", n})
	}
	return all
}

// facts pairs names with texts; those without a text are left out.
func facts(pairs ...string) (all []factView) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, factView{pairs[i], pairs[i+1]})
		}
	}
	return all
}

func effects(p *predict.Prediction, o *predict.Outcome) []predictionView {
	return nowAndThen(sentence.Effects(p, o))
}

// nowAndThen puts figures into the cells of a table.
func nowAndThen(effects []sentence.Effect) (all []predictionView) {
	number := func(v float64) *float64 {
		if e := predict.Exactly(v); !e.Known() {
			return nil
		}
		return &v
	}
	for _, e := range effects {
		now, then, low, high := number(e.Now.Value), number(e.Then.Value), number(e.Then.Low), number(e.Then.High)
		v := predictionView{Metric: e.Title, Now: of(now, e.Unit), Then: of(then, e.Unit), Change: figure.Change(now, then, nil, nil, e.Unit)}
		if low != nil && high != nil {
			factor, unit := figure.Scale(e.Unit, *high)
			v.Range = figure.Range(low, high, factor) + " " + unit
		}
		all = append(all, v)
	}
	return all
}

// shown are the effects of those names.
func shown(all []predictionView, names ...string) (some []predictionView) {
	for _, name := range names {
		for _, e := range all {
			if e.Metric == name {
				some = append(some, e)
			}
		}
	}
	return some
}

// pointView is a size of memory.
type pointView struct {
	Setting, Resident, Cycles, CPU, P99 string
	Mark                                string // "now", "knee", ""
}

func points(f *predict.Frontier) (all []pointView) {
	known := func(e predict.Estimate, unit string) string {
		if !e.Known() {
			return ""
		}
		return figure.Of(e.Value, unit)
	}
	for i, o := range f.Points {
		v := pointView{Setting: o.Setting.String(), Cycles: known(o.Cycles, "1/s"), CPU: known(o.Collector, "cores"), P99: known(o.P99, "ms")}
		if o.RSS.Known() {
			v.Resident = sentence.Resident(o.RSS.Value)
		}
		switch i {
		case 0:
			v.Mark = "now"
		case f.Knee:
			v.Mark = "knee"
		}
		all = append(all, v)
	}
	return all
}
