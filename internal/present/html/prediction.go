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

// rowView is what is predicted for a situation.
type rowView struct {
	ID, Text string
	Number   int // in the picture, 0: the only one, or there is none
	Effects  []predictionView
	Facts    []factView
}

type factView struct{ Name, Text string }

func (x Predicted) addTo(doc *document) error {
	a := x.Answer
	doc.Head = &diagnosisView{Targets: []targetView{{Name: a.Subject, About: a.Basis}}}
	if a.Source != "" {
		doc.Head.From = []string{a.Source}
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
	v.Frontier = newFrontierView(a.Frontier, a.Rows...)
	for i, r := range a.Rows {
		s := rowView{ID: fmt.Sprintf("setting-%d", i+1), Text: r.Text, Effects: nowAndThen(r.Effects), Facts: newFactViews(r.Facts)}
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
		v.Facts = newFactViews(a.Frontier.Facts)
	}
	for _, n := range a.Notes {
		v.Facts = append(v.Facts, factView{"Note", n})
	}
	doc.Parts = append(doc.Parts, partView{Prediction: v})
	return nil
}

func newFactViews(all []model.Fact) (views []factView) {
	for _, f := range all {
		views = append(views, factView{sentence.Capital(f.Name), sentence.Capital(f.Text)})
	}
	return views
}

// nowAndThen returns effects as the cells of a table.
func nowAndThen(effects []model.Effect) (all []predictionView) {
	for _, e := range effects {
		now, then, low, high := knownOrNil(e.Now.Value), knownOrNil(e.Then.Value), knownOrNil(e.Then.Low), knownOrNil(e.Then.High)
		v := predictionView{Metric: e.Title, Now: units.OfOptional(now, e.Unit), Then: units.OfOptional(then, e.Unit), Change: units.Change(now, then, nil, nil, e.Unit)}
		if low != nil && high != nil {
			factor, unit := units.Scale(e.Unit, *high)
			v.Range = units.Range(low, high, factor, unit)
		}
		all = append(all, v)
	}
	return all
}

// knownOrNil returns a pointer to a figure, nil if it is unknown.
func knownOrNil(v float64) *float64 {
	if !model.Exactly(v).Known() {
		return nil
	}
	return &v
}
