package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/top"
	"github.com/unstall/unstall/internal/present/text"
)

type topCommand struct {
	Target string        `arg:"" help:"A process: its PID, its name, the URL of its net/http/pprof, or of a Redis server (redis://host:port); its container (docker://NAME, container:ID) or pod (pod/NAME)."`
	Every  time.Duration `default:"1s" help:"How often to read the counters."`
	For    time.Duration `help:"Stop after this time (default: when q is pressed)."`
	Color  string        `default:"auto" enum:"auto,always,never" help:"${enum}; NO_COLOR turns it off."`
}

func (c *topCommand) Run(s *session) error {
	if c.Every < 100*time.Millisecond {
		return fmt.Errorf("--every %s: give 100ms or more", c.Every)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if fi, err := os.Stat(c.Target); err == nil && fi.Mode().IsRegular() {
		return fmt.Errorf("%s is a file, but top watches a running process: give its PID, name or URL; to diagnose the file: unstall %[1]s", c.Target)
	}
	found, err := discover.Resolve(ctx, c.Target, platform.Recognisers())
	if err != nil {
		s.reportUnresolved([]error{err})
		return nil
	}
	watch, err := top.Open(ctx, found, describeTarget(found), c.Every, targetCounters(found))
	if err != nil {
		if !strings.HasPrefix(err.Error(), targetAsTyped(found)+": ") {
			err = fmt.Errorf("%s: %w", targetAsTyped(found), err)
		}
		s.reportError(unreadable, err)
		return nil
	}
	err = c.showCounters(ctx, s, watch)
	if closed := watch.Close(); closed != nil {
		s.printNote("warning: %v", closed)
	}
	switch {
	case errors.Is(err, top.ErrEnded):
		s.printNote("warning: pid %d: %v", found.PID, err)
	case err != nil && !errors.Is(err, syscall.EPIPE):
		s.reportError(unreadable, err)
	}
	return nil
}

// targetCounters returns the counters of a target's runtime. For an address without a known runtime it returns Go's, the only ones
// served over HTTP.
func targetCounters(t discover.Target) *top.Counters {
	if t.Runtime == "" && t.URL != nil {
		return &top.Go
	}
	return top.CountersOf(t.Runtime)
}

// showCounters draws on a terminal, and writes tables to other outputs.
func (c *topCommand) showCounters(ctx context.Context, s *session, watch *top.Watch) error {
	if c.For > 0 {
		limited, cancel := context.WithTimeout(ctx, c.For+c.Every/2) // includes the last table
		defer cancel()
		ctx = limited
	}
	in, out := ttyOf(s.in), ttyOf(s.out)
	if in == nil || out == nil {
		tick := time.NewTicker(c.Every)
		defer tick.Stop()
		return top.Plain(ctx, s.out, watch, tick.C)
	}
	o := text.For(out)
	if c.Color != "auto" {
		o.Color = c.Color == "always"
	}
	return top.Screen(ctx, in, out, watch, top.Look{Width: 80, Height: 24, Color: o.Color, ASCII: o.ASCII})
}

// ttyOf returns a file if it is a terminal.
func ttyOf(x any) *os.File {
	if f, ok := x.(*os.File); ok && term.IsTerminal(f.Fd()) {
		return f
	}
	return nil
}
