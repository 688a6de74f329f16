package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/linux"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/host"
)

type calibrateCommand struct {
	Target  string        `placeholder:"PID" help:"The process to compare with the loads: its PID or its name."`
	Each    time.Duration `default:"3s" help:"How long to run each load."`
	Capture string        `placeholder:"FILE" help:"The capture to write (default: calibrate-HHMM.unstall in this directory)."`
	output
}

func (c *calibrateCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	switch {
	case err != nil:
		return err
	case form.Calibrate == nil:
		return fmt.Errorf("--format %s: calibrate writes text or json", form.Name)
	case c.Each < 2*time.Second || c.Each > 30*time.Second:
		return fmt.Errorf("--each %s: give 2s to 30s", c.Each)
	case !s.checkOutput(c.Output):
		return nil
	}
	how := linux.HostOptions{Every: 500 * time.Millisecond}
	var target discover.Target
	if c.Target != "" {
		if target, err = discover.Resolve(context.Background(), c.Target, platform.Recognisers()); err != nil {
			s.reportUnresolved([]error{err})
			return nil
		}
		if target.PID == 0 {
			s.reportError(unreadable, fmt.Errorf("%s: no process of this host serves it: nothing to compare with the loads", c.Target))
			return nil
		}
		how.Of = []int{target.PID}
		s.printNote("%s", describeTarget(target))
	}
	loads := calibrate.Standard()
	s.printNote("running %d built-in loads for %s each, with one or two threads and at most 32 MiB of memory or disk, removed afterwards (Ctrl-C ends it early)", len(loads), c.Each)
	path := s.recordHost("calibrate", how, record.Options{For: time.Duration(len(loads)+1)*(c.Each+time.Second) + lead, Path: c.Capture,
		Beside: func(ctx context.Context, _ probe.Sink) error {
			sleepContext(ctx, lead) // records the service alone, until each file was read once
			return calibrate.Run(ctx, loads, c.Each, func(l calibrate.Load) { s.printNote("%s: %s", l.Name, l.About) })
		}})
	if path == "" {
		return nil
	}
	b := s.readFiles([]string{path})
	if b == nil {
		return nil
	}
	b = incident.Normalize(b)
	var service []evidence.SubjectID
	name, pid := "", 0
	if target.PID != 0 {
		if name, pid, service = host.ServiceOf(b, target.PID); len(service) == 0 {
			s.reportError(unreadable, fmt.Errorf("pid %d: it ended before a second sample", target.PID))
			return nil
		}
	}
	r := calibrate.Of(b, name, pid, service)
	r.ToolVersion, r.Capture = programVersion(), path
	s.writeOutput(c.Output, []string{path}, func(w io.Writer) error { return form.Calibrate(w, r) })
	s.printNote("saved %s", path)
	return nil
}
