package diagnose

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/dotnet"
	"github.com/unstall/unstall/predict"
)

// predictPool asks the simulation of .NET's thread pool.
func predictPool(r *run, c *cause.Case, wanted []predict.Wanted) (*predict.Prediction, error) {
	s, err := dotnet.SituationOf(c)
	if err != nil {
		return nil, err
	}
	return s.Ask(r.name[c.Subject], wanted)
}
