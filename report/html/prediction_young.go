package html

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/sentence"
)

// youngTitle is the answer in a few words: what was asked for first.
func youngTitle(y *predict.Young) string {
	if len(y.Outcomes) > 0 {
		return y.Outcomes[0].Text
	}
	return "nothing to predict"
}

// young is what settings would do to a JVM's young generation.
func young(p *predict.Prediction) *predictedView {
	y := p.Young
	v := &predictedView{Label: "what the young generation buys", Answer: sentenceCase(youngTitle(y)), Keep: true}
	if len(y.Outcomes) > 0 {
		o := &y.Outcomes[0].Outcome
		v.Why = fmt.Sprintf("%s young collections, %s each.", figure.Of(o.Rate.Value, "1/min"), figure.Ms(o.Pause.Value))
		v.Change = &changeView{ID: "young", Predicted: nowAndThen(sentence.YoungEffects(y, o))}
	}
	for i := range y.Outcomes {
		a := &y.Outcomes[i]
		s := settingView{ID: fmt.Sprintf("setting-%d", i+1), Text: a.Text, Effects: nowAndThen(sentence.YoungEffects(y, &a.Outcome))}
		s.Facts = facts("Caution", sentenceCase(strings.Join(a.Outcome.Cautions, "; ")))
		v.Settings = append(v.Settings, s)
		v.Contents = append(v.Contents, Link{s.ID, s.Text})
	}
	v.Facts = notes(p)
	return v
}
