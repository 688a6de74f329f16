package lab

import (
	"context"
	"net/url"
	"strconv"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/load/journey"
	"github.com/unstall/unstall/internal/collect/record"
)

// newGenerator returns the generator of a diagnosis's load: users on journeys, or requests at a
// rate.
func (s *Stand) newGenerator(one *Service, d Demand) (record.Generator, error) {
	v := one.Variant
	if v.Journey == "" {
		return record.Planned(s.loadPlan(one, d)), nil
	}
	at, err := url.Parse(one.URL)
	if err != nil {
		return nil, err
	}
	script, err := journey.Read(v.Name+".yaml", []byte(v.Journey), map[string]string{"base": "http://" + at.Host, "rate": strconv.FormatFloat(d.Rate, 'g', -1, 64)})
	if err != nil {
		return nil, err
	}
	if d.Seed != 0 {
		script.Seed = d.Seed
	}
	return users{script, d}, nil
}

// users follow journeys until a demand is over.
type users struct {
	script *journey.Script
	Demand
}

func (u users) Plan() load.Plan { return u.script.Plan() }

func (u users) Run(ctx context.Context, o load.Observer) (*load.Result, error) {
	return journey.Run(ctx, u.script, journey.Options{For: u.leadTime() + u.For}, o)
}
