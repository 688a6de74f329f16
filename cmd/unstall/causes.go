package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/present"
)

type causesCommand struct {
	ID  string         `arg:"" optional:"" help:"The cause to explain, such as go.gc-rate."`
	Why []string       `sep:"none" placeholder:"FILE" help:"Show how the verdict about this cause came about in a recording, step by step: figures, thresholds, and where these are from. Repeat the flag for several files."`
	SLO *time.Duration `name:"slo" env:"UNSTALL_SLO" placeholder:"300ms" help:"With --why: requests that take longer are slow, as in the diagnosis."`
}

func (c *causesCommand) Run(s *session) error {
	width := 0
	for _, k := range all.Causes {
		width = max(width, len(k.ID))
	}
	if c.ID != "" {
		if err := checkCause(c.ID); err != nil {
			return err
		}
	}
	if _, typed := s.given["slo"]; typed && len(c.Why) == 0 {
		return errors.New("--slo needs --why: also give --why FILE")
	}
	if c.SLO != nil && *c.SLO <= 0 {
		return fmt.Errorf("--slo %s: give a time above zero", *c.SLO)
	}
	if len(c.Why) > 0 {
		return c.explainVerdict(s)
	}
	for _, k := range all.Causes {
		switch {
		case c.ID == "":
			fmt.Fprintf(s.out, "%-*s  %s\n", width, k.ID, k.Title)
		case c.ID == k.ID:
			writeCause(s.out, k)
			return nil
		}
	}
	return nil
}

// writeCause writes what a cause is, what it needs, and its thresholds.
func writeCause(w io.Writer, k check.Check) {
	fmt.Fprintf(w, "%s: %s\n\n%s\n\nNeeds %s.\n\nNamed from: %s.\n\nThresholds:\n", k.ID, k.Title, strings.TrimSpace(k.Doc), strings.TrimSuffix(k.Needs, "."), k.Least)
	for _, t := range k.Thresholds {
		fmt.Fprintf(w, "  %s  %s\n", t, t.Name)
	}
}

// explainVerdict shows how the verdict about a cause came about.
func (c *causesCommand) explainVerdict(s *session) error {
	if c.ID == "" {
		return errors.New("--why: name the cause, such as unstall causes go.gc-rate --why FILE")
	}
	bundle := s.readFiles(c.Why)
	if bundle == nil {
		return nil
	}
	opt := diagnose.Options{Version: programVersion()}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	d, err := diagnose.Run(context.Background(), bundle, opt)
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	s.writeOutput("", c.Why, func(w io.Writer) error { return present.Why(w, d, c.ID) })
	return nil
}

// checkCause returns an error that names the nearest causes if no cause has this id.
func checkCause(id string) error {
	var ids, near []string
	for _, k := range all.Causes {
		if k.ID == id {
			return nil
		}
		ids = append(ids, k.ID)
		if strings.Contains(k.ID, id) {
			near = append(near, k.ID)
		}
	}
	if meant := suggest.Nearest(id, ids); meant != "" && len(near) == 0 {
		near = append(near, meant)
	}
	if len(near) > 0 {
		return fmt.Errorf("unknown cause %q: did you mean %s?", id, strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown cause %q: unstall causes lists them", id)
}
