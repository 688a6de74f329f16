package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/report"
)

type diagnoseCommand struct {
	Files    []string      `arg:"" name:"file" help:"Files, directories of files, or - for standard input. Compressed files and container logs are read as they are."`
	SLO      time.Duration `name:"slo" placeholder:"300ms" help:"Requests above this are slow (default: 3 × the floor of their route)."`
	Requests []string      `sep:"none" placeholder:"FILE" help:"The file whose requests head the report: an access log, a load generator's result."`
	Since    moment        `placeholder:"TIME" help:"Look at what happened from then: RFC 3339, or 14:02:00 (UTC)."`
	Until    moment        `placeholder:"TIME" help:"… until then."`
	Fail     bool          `help:"Exit with 1 if a cause is supported."`
	output
}

// output says where a report goes, and in which form.
type output struct {
	Format string `placeholder:"FORM" help:"text, json or markdown (default: as the name of the output file says)."`
	Output string `short:"o" placeholder:"FILE" help:"Write the report to a file."`
	Color  string `enum:"auto,always,never" default:"auto" help:"auto, always or never."`
}

func (c *diagnoseCommand) Run(s *session) error {
	form, err := report.Choose(c.Format, c.Output, c.Color)
	if err != nil {
		return err
	}
	if c.SLO < 0 {
		return fmt.Errorf("--slo %s: give a time above zero", c.SLO)
	}
	files := append(slices.Clone(c.Requests), c.Files...)
	bundle := s.read(files)
	if bundle == nil {
		return nil
	}
	since, until := c.Since.near(bundle), c.Until.near(bundle)
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return fmt.Errorf("--since %s is not before --until %s", since.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	d, err := diagnose.Run(context.Background(), bundle, diagnose.Options{SLO: c.SLO, Requests: c.Requests, Since: since, Until: until, Version: version()})
	if err != nil {
		s.fail(unreadable, err)
		return nil
	}
	s.write(c.Output, files, func(w io.Writer) error { return form.Report(w, d) })
	if c.Fail && slices.ContainsFunc(d.Verdicts, func(v diagnose.Verdict) bool { return v.Verdict == "supported" }) {
		s.code = max(s.code, found)
	}
	return nil
}
