package main

import (
	"errors"
	"io"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report"
)

type predictCommand struct {
	Files  []string `arg:"" name:"file" help:"What was recorded of a Go process under load: a capture, or its gctrace log, execution trace, profiles, access log; - for standard input."`
	Set    []string `sep:"none" placeholder:"NAME=VALUE" help:"What to predict: GOMEMLIMIT=800MiB, GOGC=200 or off, ballast=1GiB; and what else may change: live=120MiB, alloc=800MiB/s. Several of one name are rows of their own; several in one --set, with spaces, go together. Default: what memory buys, and how much is worth it."`
	Target string   `placeholder:"NAME|PID" help:"The process, where files are of several."`
	output
}

func (c *predictCommand) Run(s *session) error {
	form, err := report.Choose(c.Format, c.Output, c.Color)
	if err != nil {
		return err
	}
	render, err := report.Prediction(form, c.Color)
	if err != nil {
		return err
	}
	wanted, err := predict.ParseSets(c.Set)
	if err != nil {
		return err
	}
	bundle := s.read(c.Files)
	if bundle == nil {
		return nil
	}
	p, err := diagnose.Predict(bundle, diagnose.PredictOptions{Target: c.Target, Wanted: wanted, Version: version()})
	if err != nil {
		code := wrongUse // a setting that cannot be, or a process that is not there
		var which *diagnose.WhichError
		if p == nil && !errors.As(err, &which) {
			code = unreadable
		}
		s.fail(code, err)
	}
	if p == nil || len(wanted) > 0 && len(p.Settings) == 0 {
		return nil
	}
	s.write(c.Output, c.Files, func(w io.Writer) error { return render(w, p) })
	return nil
}
