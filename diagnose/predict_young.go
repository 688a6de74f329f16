package diagnose

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/jvm"
	"github.com/unstall/unstall/predict"
)

// predictYoung asks the model of a JVM's young generation.
func predictYoung(r *run, c *cause.Case, wanted []predict.Wanted) (*predict.Prediction, error) {
	s, err := jvm.YoungOf(c)
	if err != nil {
		return nil, err
	}
	return s.Ask(r.name[c.Subject], wanted)
}
