package html

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Predicted is what changes would do to a process.
type Predicted struct{ *model.Answer }

// predictedView is a prediction in the words of the reports.
type predictedView struct {
	Lead     model.Lead
	Why      string
	Change   *changeView
	Contents []Link
	Rows     []rowView
	Frontier *frontierView
	Facts    []factView
}

// rowView is what comes of a situation.
type rowView struct {
	ID, Text string
	Number   int // in the picture, 0: the only one, or there is none
	Effects  []predictionView
	Facts    []factView
}

type factView struct{ Name, Text string }

func (x Predicted) add(doc *document) error {
	a := x.Answer
	doc.Head = &diagnosisView{Targets: []targetView{{Name: a.Subject, About: a.Basis}}}
	if a.Source != "" {
		doc.Head.Sources = []sentence.Source{{Name: a.Source}}
	}
	v := &predictedView{Lead: a.Lead}
	if a.Lead.Why != "" {
		v.Why = sentence.Capital(a.Lead.Why) + "."
	}
	if !a.Lead.Setting {
		v.Lead.Text = sentence.Capital(a.Lead.Text)
	}
	if len(a.Lead.Effects) > 0 {
		v.Change = &changeView{ID: "change", Predicted: nowAndThen(a.Lead.Effects)}
	}
	v.Frontier = frontier(a.Frontier, a.Rows...)
	for i, r := range a.Rows {
		s := rowView{ID: fmt.Sprintf("setting-%d", i+1), Text: r.Text, Effects: nowAndThen(r.Effects), Facts: facts(r.Facts)}
		if len(a.Rows) > 1 && a.Frontier != nil {
			s.Number = i + 1
		}
		v.Rows = append(v.Rows, s)
		v.Contents = append(v.Contents, Link{s.ID, s.Text})
	}
	if a.Frontier != nil {
		if len(v.Contents) > 0 {
			v.Contents = append(v.Contents, Link{"choice", sentence.Capital(a.Frontier.Title)})
		}
		v.Facts = facts(a.Frontier.Facts)
	}
	for _, n := range a.Notes {
		v.Facts = append(v.Facts, factView{"Note", n})
	}
	doc.Parts = append(doc.Parts, partView{Prediction: v})
	return nil
}

func facts(all []model.Fact) (views []factView) {
	for _, f := range all {
		views = append(views, factView{sentence.Capital(f.Name), sentence.Capital(f.Text)})
	}
	return views
}

// nowAndThen puts figures into the cells of a table.
func nowAndThen(effects []model.Effect) (all []predictionView) {
	for _, e := range effects {
		now, then, low, high := known(e.Now.Value), known(e.Then.Value), known(e.Then.Low), known(e.Then.High)
		v := predictionView{Metric: e.Title, Now: of(now, e.Unit), Then: of(then, e.Unit), Change: units.Change(now, then, nil, nil, e.Unit)}
		if low != nil && high != nil {
			factor, unit := units.Scale(e.Unit, *high)
			v.Range = units.Range(low, high, factor, unit)
		}
		all = append(all, v)
	}
	return all
}

// known is nil for a figure that is not.
func known(v float64) *float64 {
	if !model.Exactly(v).Known() {
		return nil
	}
	return &v
}
