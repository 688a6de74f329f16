package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/present/text"
)

type explainCommand struct {
	Files   []string       `arg:"" name:"file" help:"Captures, files, directories of files, or - for standard input."`
	Request string         `default:"slowest" placeholder:"ID|slowest|ROUTE" help:"Which request: its id or that of its trace, FILE:LINE of its row, slowest (of those called slow), or a route, such as 'GET /play', for the slowest of it (default: slowest)."`
	SLO     *time.Duration `name:"slo" placeholder:"300ms" help:"Requests that take longer are slow (default: 3 × the baseline latency of their route)."`
	Verbose bool           `short:"v" help:"Show each state, and whole lines."`
	Output  string         `short:"o" placeholder:"FILE" help:"Write to a file."`
	Color   string         `env:"UNSTALL_COLOR" enum:"auto,always,never" default:"auto" help:"Color: auto, always or never."`
	stretch
}

func (c *explainCommand) Run(s *session) error {
	if c.SLO != nil && *c.SLO <= 0 {
		return fmt.Errorf("--slo %s: give a time above zero", *c.SLO)
	}
	if !s.checkOutput(c.Output) {
		return nil
	}
	bundle := s.readFiles(c.Files)
	if bundle == nil {
		return nil
	}
	opt := incident.Options{}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	var err error
	if opt.Since, opt.Until, err = c.stretch.resolvePeriod(bundle, s); err != nil {
		return err
	}
	states := text.LifeStates
	if c.Verbose {
		states = timeline.MaxStates
	}
	i := incident.Of(bundle, opt)
	life, err := timeline.LifeOf(i.Bundle, i.Ledgers(), c.Request, states)
	switch {
	case errors.Is(err, timeline.ErrNoRequest):
		s.reportError(unreadable, fmt.Errorf("--request %s: %w", c.Request, err))
		return nil
	case err != nil:
		return err
	}
	s.writeOutput(c.Output, c.Files, func(w io.Writer) error {
		o := text.For(w)
		if c.Color != "auto" {
			o.Color = c.Color == "always"
		}
		o.Verbose = c.Verbose
		return o.Life(w, life)
	})
	return nil
}
