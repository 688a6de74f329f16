package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/all"
)

// options are the flags shared by running one lab and all labs.
type options struct {
	Quick  bool   `help:"Fewer and shorter measurements."`
	Keep   string `placeholder:"DIR" help:"Keep the captures in this directory."`
	Format string `placeholder:"FORM" help:"text, json or, for run, html (default: by the name of the output file)."`
	Output string `short:"o" placeholder:"FILE" help:"Write the report to a file."`
}

// chooseFormat returns the format of the report. more are the formats beside text and json.
func (c *options) chooseFormat(more ...string) (string, error) {
	if c.Output != "" { // check now, because an error after minutes comes too late
		if dir, err := os.Stat(filepath.Dir(c.Output)); err != nil || !dir.IsDir() {
			return "", fmt.Errorf("-o %s: directory %s does not exist", c.Output, filepath.Dir(c.Output))
		}
	}
	forms := append([]string{"text", "json"}, more...)
	switch name := strings.TrimPrefix(filepath.Ext(c.Output), "."); {
	case slices.Contains(forms, c.Format):
		return c.Format, nil
	case c.Format != "":
		return "", fmt.Errorf("--format %s: unknown format: give %s", c.Format, strings.Join(forms, " or "))
	case name != "text" && slices.Contains(forms, name):
		return name, nil
	}
	return "text", nil
}

type runCommand struct {
	Name string   `arg:"" help:"The incident to run; unstall-lab list shows them."`
	On   string   `placeholder:"RUNTIME" help:"Run its services on this runtime instead of the one they are built with: dotnet-9."`
	Only []string `placeholder:"VARIANT,…" help:"Diagnose only these variants, and compare nothing."`
	options
}

func (c *runCommand) Run(s *session) error {
	form, err := c.chooseFormat("html")
	if err != nil {
		return err
	}
	for _, l := range all.Labs {
		if l.Name == c.Name {
			for _, name := range c.Only {
				if !slices.ContainsFunc(l.Variants, func(v lab.Variant) bool { return v.Name == name }) {
					return fmt.Errorf("run %s --only %s: unknown variant: see unstall-lab list", c.Name, name)
				}
			}
			outcomes := c.runLabs(s, []*lab.Lab{l}, c.On, c.Only, form == "html")
			if len(outcomes) == 0 {
				return nil
			}
			s.writeOutput(c.Output, func(w io.Writer) error {
				switch form {
				case "json":
					return json.Encode(w, outcomes[0])
				case "html":
					return lab.HTML(w, outcomes[0], l, "unstall-lab "+strings.Join(os.Args[1:], " "))
				}
				return lab.Report(w, outcomes[0])
			})
			return nil
		}
	}
	return fmt.Errorf("run %s: unknown lab: see unstall-lab list", c.Name)
}

type scoreCommand struct{ options }

func (c *scoreCommand) Run(s *session) error {
	form, err := c.chooseFormat()
	if err != nil {
		return err
	}
	score := lab.ScoreOf(c.runLabs(s, all.Labs, "", nil, false))
	s.writeOutput(c.Output, func(w io.Writer) error {
		if form == "json" {
			return json.Encode(w, score)
		}
		return lab.ReportScore(w, score)
	})
	return nil
}

// runLabs runs labs one after the other and prints its progress.
func (c *options) runLabs(s *session, labs []*lab.Lab, on string, only []string, pictures bool) (outcomes []*lab.Outcome) {
	begin := time.Now()
	for _, l := range labs {
		o, err := lab.Run(s, l, lab.Options{Quick: c.Quick, On: on, Only: only, Keep: c.Keep, Version: release, Pictures: pictures, Progress: func(text string) {
			fmt.Fprintf(s.err, "[%3.0f s] %s\n", time.Since(begin).Seconds(), text)
		}})
		switch {
		case s.Err() != nil:
			s.reportError(notRun, errors.New("lab "+l.Name+": interrupted: its services have ended"))
			return outcomes
		case err != nil:
			s.reportError(notRun, err)
			continue
		}
		if !o.Pass {
			s.code = max(s.code, missed)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}
