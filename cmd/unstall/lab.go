package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/all"
)

type labCommand struct {
	List  labListCommand  `cmd:"" help:"List the incidents that can run here."`
	Run   labRunCommand   `cmd:"" help:"Run one: sick, fixed and healthy services under load, diagnosed and compared."`
	Score labScoreCommand `cmd:"" help:"Run all, and count expected answers and false alarms."`
}

type labListCommand struct{}

func (*labListCommand) Run(s *session) error {
	for _, l := range all.Labs {
		fmt.Fprintf(s.out, "%-12s %s\n", l.Name, l.About)
		for _, v := range l.Variants {
			fmt.Fprintf(s.out, "  %-18s %s\n", v.Name, v.About)
		}
	}
	return nil
}

// labOptions are what running one and running all have in common.
type labOptions struct {
	Quick  bool   `help:"Fewer and shorter measurements."`
	Keep   string `placeholder:"DIR" help:"Keep the captures in this directory."`
	Format string `placeholder:"FORM" help:"text, json or, for lab run, html (default: by the name of the output file)."`
	Output string `short:"o" placeholder:"FILE" help:"Write the report to a file."`
}

// form is that of the report; more are those beside text and json.
func (c *labOptions) form(more ...string) (string, error) {
	if c.Output != "" { // to be told of it after minutes is too late
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

type labRunCommand struct {
	Name string   `arg:"" help:"The incident to run; unstall lab list shows them."`
	On   string   `placeholder:"RUNTIME" help:"Run its services on this runtime instead of the one they are built with: dotnet-9."`
	Only []string `placeholder:"VARIANT,…" help:"Diagnose only these variants, and compare nothing."`
	labOptions
}

func (c *labRunCommand) Run(s *session) error {
	form, err := c.form("html")
	if err != nil {
		return err
	}
	for _, l := range all.Labs {
		if l.Name == c.Name {
			for _, name := range c.Only {
				if !slices.ContainsFunc(l.Variants, func(v lab.Variant) bool { return v.Name == name }) {
					return fmt.Errorf("lab run %s --only %s: unknown variant: see unstall lab list", c.Name, name)
				}
			}
			outcomes := c.run(s, []*lab.Lab{l}, c.On, c.Only, form == "html")
			if len(outcomes) == 0 {
				return nil
			}
			s.write(c.Output, nil, func(w io.Writer) error {
				switch form {
				case "json":
					return json.Encode(w, outcomes[0])
				case "html":
					return lab.HTML(w, outcomes[0], l, typedCommand())
				}
				return lab.Report(w, outcomes[0])
			})
			return nil
		}
	}
	return fmt.Errorf("lab run %s: unknown lab: see unstall lab list", c.Name)
}

type labScoreCommand struct{ labOptions }

func (c *labScoreCommand) Run(s *session) error {
	form, err := c.form()
	if err != nil {
		return err
	}
	score := lab.ScoreOf(c.run(s, all.Labs, "", nil, false))
	s.write(c.Output, nil, func(w io.Writer) error {
		if form == "json" {
			return json.Encode(w, score)
		}
		return lab.ReportScore(w, score)
	})
	return nil
}

// run runs labs one after the other and says how far they are.
func (c *labOptions) run(s *session, labs []*lab.Lab, on string, only []string, pictures bool) (outcomes []*lab.Outcome) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	begin := time.Now()
	for _, l := range labs {
		o, err := lab.Run(ctx, l, lab.Options{Quick: c.Quick, On: on, Only: only, Keep: c.Keep, Version: version(), Pictures: pictures, Progress: func(text string) {
			fmt.Fprintf(s.err, "[%3.0f s] %s\n", time.Since(begin).Seconds(), text)
		}})
		switch {
		case ctx.Err() != nil:
			s.fail(unreadable, errors.New("lab "+l.Name+": interrupted: its services have ended"))
			return outcomes
		case err != nil:
			s.fail(unreadable, err)
			continue
		}
		if !o.Pass {
			s.code = max(s.code, found)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}
