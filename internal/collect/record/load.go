package record

import (
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Generator makes a load.
type Generator interface {
	Plan() load.Plan // for the rows: the address and the schedule
	Run(ctx context.Context, o load.Observer) (*load.Result, error)
}

// Planned is the generator of a plan.
func Planned(p load.Plan) Generator { return planned{p} }

type planned struct{ plan load.Plan }

func (p planned) Plan() load.Plan { return p.plan }

// Reach says whether the service answers at all, before anything is recorded.
func (p planned) Reach(ctx context.Context) error { return p.plan.Reach(ctx) }

func (p planned) Run(ctx context.Context, o load.Observer) (*load.Result, error) {
	return load.Run(ctx, p.plan, o)
}

// RunLoad is [RunGenerator] with the generator of a plan.
func RunLoad(p load.Plan, about evidence.Subject, also load.Observer, result func(*load.Result)) func(context.Context, probe.Sink) error {
	return RunGenerator(Planned(p), about, also, result)
}

// RunGenerator returns a function for [Options.Beside] that makes a load while the probes record. The capture gets a line for each
// request, and the result. about is the process that serves, as far as known. also observes the run, too, and result gets the run's
// result; both may be nil.
func RunGenerator(g Generator, about evidence.Subject, also load.Observer, result func(*load.Result)) func(context.Context, probe.Sink) error {
	return func(ctx context.Context, sink probe.Sink) error {
		p := g.Plan()
		meta := capture.Meta{Name: "requests.txt", Probe: "load", Origin: p.URL, About: about, Lines: true}
		w, err := sink.Create(meta)
		if err != nil {
			return err
		}
		rows := &stored{to: load.NewRowWriter(w, &p), also: also}
		if a, ok := sink.(interface{ answered(end, took int64) }); ok {
			rows.answered = a.answered
		}
		r, err := g.Run(ctx, rows)
		err = errors.Join(err, rows.to.Flush(), w.Close())
		if r == nil {
			return err
		}
		if result != nil {
			result(r)
		}
		meta.Name = "load.json"
		w, e := sink.Create(meta)
		if e != nil {
			return errors.Join(err, e)
		}
		return errors.Join(err, r.JSON(w), w.Close())
	}
}

// stored writes requests as they end.
type stored struct {
	to   *load.RowWriter
	also load.Observer

	answered func(end, took int64) // may be nil
}

func (s *stored) Progress(now load.Snapshot) {
	if s.also != nil {
		s.also.Progress(now)
	}
}

func (s *stored) Rows(rows []load.Row) error {
	err := s.to.Write(rows)
	for i := range rows {
		if r := &rows[i]; s.answered != nil && r.Status != 0 {
			s.answered(r.End, r.Latency())
		}
	}
	if s.also != nil {
		err = errors.Join(err, s.also.Rows(rows))
	}
	return err
}
