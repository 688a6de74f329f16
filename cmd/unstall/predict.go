package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose"
)

type predictCommand struct {
	Files []string `arg:"" name:"file" help:"A recording of a ${model_processes} process under load: a capture, gctrace log, GC log, execution trace, profiles, access log; - for standard input."`
	Set   []string `sep:"none" placeholder:"NAME=VALUE" help:"The setting to predict. ${model_knobs} Repeat the flag for another row; settings in one --set, separated by spaces, apply together. Without it: ${model_defaults}."`
	stretch
	Target string `placeholder:"NAME|PID" help:"The process, if the files hold several."`
	output
}

func (c *predictCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err != nil {
		return err
	}
	if form.Predict == nil {
		return fmt.Errorf("--format %s: predict writes text, json, markdown or html", form.Name)
	}
	wanted, err := model.ParseSets(platform.Models(), c.Set)
	if err != nil {
		return err
	}
	bundle := s.readFiles(c.Files)
	if bundle == nil {
		return nil
	}
	opt := diagnose.PredictOptions{Target: c.Target, Wanted: wanted, Version: programVersion()}
	if opt.Since, opt.Until, err = c.stretch.resolvePeriod(bundle, s); err != nil {
		return err
	}
	a, err := diagnose.Predict(bundle, opt)
	if err != nil {
		code := wrongUse // an invalid setting, or a missing process
		var which *diagnose.WhichError
		if a == nil && !errors.As(err, &which) {
			code = unreadable
		}
		s.reportError(code, err)
	}
	if a == nil || len(wanted) > 0 && len(a.Rows) == 0 {
		return nil
	}
	s.writeOutput(c.Output, c.Files, func(w io.Writer) error { return form.Repeat(typedCommand()).Predict(w, a) })
	return nil
}
