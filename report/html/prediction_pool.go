package html

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report/sentence"
)

// led is the situation that the page leads with: what was asked for, or the first
// change where nothing was.
func led(p *predict.Pool) *predict.PoolAsked {
	if len(p.Outcomes) == 0 {
		return nil
	}
	for i := range p.Outcomes {
		if !strings.HasPrefix(p.Outcomes[i].Text, predict.AsItIs) {
			return &p.Outcomes[i]
		}
	}
	return &p.Outcomes[0]
}

// poolTitle is the answer in a few words.
func poolTitle(p *predict.Pool) string {
	if a := led(p); a != nil {
		return a.Text
	}
	return "nothing to predict"
}

// pool is what settings would do to a .NET process's thread pool.
func pool(p *predict.Prediction) *predictedView {
	v := &predictedView{Label: "what threads buy", Answer: sentenceCase(poolTitle(p.Pool)), Keep: true}
	if a := led(p.Pool); a != nil {
		o := &a.Outcome
		v.Why = fmt.Sprintf("%s with %s pool threads.", figure.Of(o.Rate.Value, "1/s"), figure.Num(o.Threads.Value))
		v.Change = &changeView{ID: "pool", Predicted: nowAndThen(sentence.PoolEffects(p.Pool, o))}
	}
	for i := range p.Pool.Outcomes {
		a := &p.Pool.Outcomes[i]
		s := settingView{ID: fmt.Sprintf("setting-%d", i+1), Text: a.Text, Effects: nowAndThen(sentence.PoolEffects(p.Pool, &a.Outcome))}
		s.Facts = facts("Until then", sentenceCase(sentence.Climb(&a.Outcome)), "Caution", sentenceCase(sentence.PoolEnd(&a.Outcome)))
		v.Settings = append(v.Settings, s)
		v.Contents = append(v.Contents, Link{s.ID, s.Text})
	}
	v.Facts = notes(p)
	return v
}
