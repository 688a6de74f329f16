package diagnose

import (
	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/dotnet"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/threadpool"
)

// ask are models that are calibrated by the causes of their field.
var ask = map[string]func(model.Question) (*model.Answer, error){threadpool.ID: askPool}

func askPool(q model.Question) (*model.Answer, error) {
	s, err := dotnet.SituationOf(&cause.Case{Bundle: q.Bundle, Subject: q.Subject, Ledger: q.Ledger})
	if err != nil {
		return nil, err
	}
	return s.Ask(q.Name, q.Wanted)
}
