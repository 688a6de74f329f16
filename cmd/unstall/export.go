package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/present/export"
)

type exportCommand struct {
	Files    []string       `arg:"" name:"file" help:"Captures, files, directories of files, or - for standard input."`
	To       string         `placeholder:"FORM" help:"pprof, speedscope, perfetto, csv, stacks, as dotnet-stack or jstack prints them, or parquet: tables of each file's requests, ledger and verdicts (default: by the name of the output file: .pb.gz, .speedscope.json, .pftrace, .csv, .stacks)."`
	Output   string         `short:"o" placeholder:"FILE" help:"Write to a file; of parquet, to a directory or s3://BUCKET/PREFIX."`
	What     string         `placeholder:"PART" help:"For pprof: cpu, slow (slow requests' time by mechanism and stack), heap, mutex, block, goroutine, threads (samples of threads of a .NET process or a JVM), threads-running or threads-waiting (of these, those that ran, or waited with work to do), allocations (of a .NET process: allocated objects, and those that die in gen 2), on-cpu or off-cpu (where threads ran and waited, with kernel functions: record --kernel) (default cpu, or on-cpu where there is no CPU profile)."`
	Table    string         `placeholder:"TABLE" help:"For csv: requests, intervals (collections, pauses) or series (figures over time) (default requests)."`
	Together bool           `help:"For parquet: all files belong to one incident (default: each is a separate one)."`
	SLO      *time.Duration `name:"slo" placeholder:"300ms" help:"Requests that take longer are slow (default: 3 × the baseline latency of their route)."`
	stretch
}

func (c *exportCommand) Run(s *session) error {
	form, err := export.Choose(c.To, c.Output)
	if err != nil {
		return err
	}
	part, err := c.choosePart(&form)
	if err != nil {
		return err
	}
	if c.SLO != nil && *c.SLO <= 0 {
		return fmt.Errorf("--slo %s: give a time above zero", *c.SLO)
	}
	switch {
	case form.Many:
		return c.exportDataset(s)
	case c.Together:
		return fmt.Errorf("--together: a %s export always combines all files; only parquet can separate them", form.Name)
	}
	if form.Binary && (c.Output == "" || c.Output == "-") && isTerminal(s.out) {
		return fmt.Errorf("--to %s cannot go to a terminal: add -o FILE%s", form.Name, form.Extensions[0])
	}
	bundle := s.readFiles(c.Files)
	if bundle == nil {
		return nil
	}
	since, until, err := c.stretch.resolvePeriod(bundle, s)
	if err != nil {
		return err
	}
	opt := export.Options{Since: since, Until: until}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	source := export.Of(bundle, opt)
	write, err := form.Prepare(source, part)
	if err != nil && c.What == "" && form.Instead != "" {
		if other, none := form.Prepare(source, form.Instead); none == nil {
			s.printNote("note: there is %s; this is --%s %s", missingWhat(err), form.Flag, form.Instead)
			write, err = other, nil
		}
	}
	if err != nil {
		err = fmt.Errorf("--to %s: in %s %w", form.Name, strings.Join(c.Files, ", "), err)
		if others := form.PartsWith(source, part); len(others) > 0 {
			err = fmt.Errorf("%w; it has --%s %s", err, form.Flag, strings.Join(others, ", "))
		}
		s.reportError(unreadable, err)
		return nil
	}
	if s.writeOutput(c.Output, c.Files, write) && form.Viewer != "" && c.Output != "" && c.Output != "-" {
		s.printNote("to see it in a browser:\n  %s %s", form.Viewer, quoteArg(c.Output))
	}
	for _, what := range source.Omitted {
		s.printNote("note: %s", what)
	}
	return nil
}

// missingWhat returns what an export lacks, without how to record it.
func missingWhat(err error) string {
	var m *export.Missing
	if errors.As(err, &m) {
		return m.What
	}
	return err.Error()
}

// choosePart returns the part of the form that the flags request.
func (c *exportCommand) choosePart(form *export.Form) (string, error) {
	given := map[string]string{"what": c.What, "table": c.Table}
	for _, flag := range []string{"what", "table"} {
		if given[flag] != "" && flag != form.Flag {
			return "", fmt.Errorf("--%s %s: not for a %s export", flag, given[flag], form.Name)
		}
	}
	return form.Part(given[form.Flag])
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	if err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(fi, null)
}
