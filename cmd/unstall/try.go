package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/present"
)

type tryCommand struct {
	Setting string        `arg:"" placeholder:"NAME=VALUE" help:"What to change, and to what: ${settings}."`
	Target  string        `required:"" placeholder:"PID" help:"The process to measure: its PID, its name, or the URL of its net/http/pprof."`
	For     time.Duration `default:"2m" help:"How long to try it, alternating with the current setting."`
	Host    bool          `help:"Change a setting of the whole host: it affects every process here."`
	Blocks  int           `placeholder:"N" help:"The number of blocks of two turns (default: 6 to 12, depending on the time)."`
	Seed    uint64        `placeholder:"N" help:"Seed of the random order (default: a new one each time, which is printed)."`
	SLO     time.Duration `name:"slo" placeholder:"300ms" help:"Also compare the share of requests slower than this."`
	Capture string        `placeholder:"FILE" help:"The capture to write (default: NAME-HHMM.unstall in this directory)."`
	besides
	output
}

// lead is the time recorded before the first turn, in which each file is read once.
const lead = time.Second

func (c *tryCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err != nil {
		return err
	}
	if form.Try == nil {
		return fmt.Errorf("--format %s: try writes text or json", form.Name)
	}
	setting, name, _, err := experiment.Parse(c.Setting)
	switch {
	case err != nil:
		return err
	case c.Blocks < 0:
		return fmt.Errorf("--blocks %d: give at least 1; a clear answer needs 6", c.Blocks)
	case c.SLO < 0:
		return fmt.Errorf("--slo %s: give a time above zero", c.SLO)
	case setting.Host && !c.Host:
		return fmt.Errorf("%s is a setting of the whole host: it would affect every process here for %s; to allow it: --host", name, c.For)
	case setting.Host && os.Geteuid() != 0:
		s.reportError(unreadable, fmt.Errorf("%s is a setting of the whole host and needs root: sudo unstall try …", name))
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program; the setting is put back all the same
	target, err := discover.Resolve(ctx, c.Target, platform.Recognisers())
	switch {
	case err != nil:
		s.reportUnresolved([]error{err})
		return nil
	case target.PID == 0:
		s.reportError(unreadable, fmt.Errorf("%s: no process of this host serves it: nothing to change here", c.Target))
		return nil
	}
	change, err := experiment.Find(ctx, c.Setting, target)
	if err != nil {
		return s.reportUntried(err)
	}
	plan, err := change.NewPlan(c.For, c.Blocks)
	if err != nil {
		return err
	}
	sends, err := c.newSending(plan.All() + 2*lead)
	if err != nil {
		return err
	}
	if plan.Seed = c.Seed; plan.Seed == 0 {
		plan.Seed = 1 + rand.Uint64N(1e6) // short enough to be typed
	}
	found := record.Find(ctx, all.Probes, []discover.Target{target})
	if !s.checkRecordable(found) {
		return nil
	}
	s.printNote("%s", describeTarget(target))
	s.printNote("changing %s of %s for %s: %s alternating with %s, %d blocks of two turns of %s in random order (--seed %d)", name, change.Place.Affects, plan.All(), change.Tried, change.Was, plan.Blocks, plan.Turn, plan.Seed)
	if on := found.SwitchesOn(); setting.Told && len(on) > 0 {
		s.printNote("switching on during that time: %s", strings.Join(on, ", "))
	}
	s.printNote("unstall restores %s at the end, even if it is interrupted (Ctrl-C ends it early)", change.Was)
	c.runTrial(ctx, s, form, trial{change, plan, target, found, sends})
	return nil
}

// reportUntried prints why a setting is not tried. It returns an error of wrong use to the caller.
func (s *session) reportUntried(err error) error {
	if errors.Is(err, experiment.ErrUse) {
		return err
	}
	s.reportError(unreadable, err)
	return nil
}

// trial is a change and its target.
type trial struct {
	*experiment.Change
	plan   experiment.Plan
	target discover.Target
	found  record.Finding
	sends  *sending
}

// runTrial alternates the setting, measures the recording and writes the result.
func (c *tryCommand) runTrial(ctx context.Context, s *session, form present.Form, x trial) {
	all := x.plan.All() + 2*lead
	loan, err := experiment.NewTrial(x.Change, time.Now().Add(all+lead+all/10))
	if err != nil {
		s.reportError(unreadable, err)
		return
	}
	r := x.NewResult(x.target, x.plan)
	r.ToolVersion = programVersion()
	x.plan.Tell = func(block int, value string) {
		s.printNote("block %d of %d: %s=%s", block+1, x.plan.Blocks, x.Place.Name, value)
	}
	ctx, done := experiment.While(ctx, x.target.PID)
	defer done()
	var was, tried []compare.Run
	var early error
	back := false
	putBack := func() {
		if back {
			return
		}
		back = true
		restored, err := loan.End(context.WithoutCancel(ctx))
		if err != nil {
			s.reportError(unreadable, err)
			return
		}
		r.Restored = &restored
	}
	opt := record.Options{For: all + lead, Passive: !x.Setting.Told, NoFlight: true, Path: c.Capture, Tool: programVersion(), Command: os.Args,
		Warn: func(text string) { s.printNote("warning: %s", text) },
		Fail: func(err error) { s.reportError(unreadable, err) },
		Beside: func(ctx context.Context, sink probe.Sink) error {
			load := make(chan error, 1)
			loading, end := context.WithCancel(ctx)
			if x.sends != nil {
				go func() { load <- x.sends.runLoad(s, []discover.Target{x.target})(loading, sink) }()
			} else {
				load <- nil
			}
			sleepContext(ctx, lead)
			r.Window.Start = time.Now()
			was, tried, early = loan.Alternate(ctx, x.plan)
			r.Window.End = time.Now()
			putBack()
			end()
			return <-load
		}}
	path, err := x.found.Record(ctx, opt)
	putBack() // also if recording failed
	if err != nil && (path == "" || ctx.Err() == nil) {
		s.reportError(unreadable, err)
	}
	s.reportEarlyEnd(ctx, r, early)
	if path == "" {
		return
	}
	s.printNote("saved %s", path)
	if len(was) == 0 {
		if s.code == 0 { // otherwise the reason is already printed
			s.reportError(unreadable, fmt.Errorf("%s=%s: interrupted before one block was complete: nothing to compare", x.Place.Name, x.Tried))
		}
		return
	}
	r.Capture = path
	b := s.readFiles([]string{path})
	if b == nil {
		return
	}
	measure := compare.MeasureOptions{SLO: c.SLO}
	if err := r.Compare(experiment.Measured(b, was, x.target.PID, measure), experiment.Measured(b, tried, x.target.PID, measure)); err != nil {
		s.reportError(unreadable, err)
		return
	}
	s.writeOutput(c.Output, []string{path}, func(w io.Writer) error { return form.Try(w, r) })
}

// reportEarlyEnd prints why a try ended early.
func (s *session) reportEarlyEnd(ctx context.Context, r *experiment.Result, err error) {
	switch {
	case err == nil:
		return
	case experiment.Gone(context.Cause(ctx)):
		r.Early = context.Cause(ctx).Error()
		s.reportError(unreadable, context.Cause(ctx))
	case ctx.Err() != nil:
		r.Early = "interrupted"
	default:
		r.Early = err.Error()
		s.reportError(unreadable, err)
	}
	if r.Restored != nil && !r.Restored.Gone && !r.Restored.Kept {
		s.printNote("%s is %s again", r.Setting, r.Restored.Now)
	}
}

// sleepContext waits for d or until ctx ends.
func sleepContext(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
