package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/probe/linux"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/operate/host"
)

type hostCommand struct {
	Files   []string      `arg:"" optional:"" name:"file" help:"A recording of a host: a capture of unstall host, or /proc files over time. Without one, unstall records this host."`
	For     time.Duration `default:"10s" help:"How long to record this host."`
	Capture string        `placeholder:"FILE" help:"The capture to write (default: host-HHMM.unstall in this directory)."`
	Fail    bool          `help:"Exit with 1 if something is wrong."`
	output
}

func (c *hostCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	switch {
	case err != nil:
		return err
	case form.Host == nil:
		return fmt.Errorf("--format %s: host writes text or json", form.Name)
	case c.For < 2*time.Second:
		return fmt.Errorf("--for %s: record at least 2s: rates need several readings", c.For)
	case !s.checkOutput(c.Output):
		return nil
	}
	files, path := c.Files, ""
	if len(files) == 0 {
		s.printNote("recording this host for %s (Ctrl-C ends it early)", c.For)
		beNice()
		path = s.recordHost("host", linux.HostOptions{}, record.Options{For: c.For, Path: c.Capture})
		if path == "" {
			return nil
		}
		files = []string{path}
	}
	b := s.readFiles(files)
	if b == nil {
		return nil
	}
	r := host.Of(incident.Normalize(b))
	if r == nil {
		s.reportError(unreadable, fmt.Errorf("%s: no recording of a host: record one with unstall host", strings.Join(files, ", ")))
		return nil
	}
	r.ToolVersion, r.Capture = programVersion(), path
	s.writeOutput(c.Output, files, func(w io.Writer) error { return form.Host(w, r) })
	if path != "" {
		s.printNote("saved %s; to see this again:\n  unstall host %s", path, path)
	}
	if c.Fail && len(r.Findings) > 0 {
		s.code = max(s.code, found)
	}
	return nil
}

// recordHost records this host into a capture with a name and returns its path; "" if there is none.
func (s *session) recordHost(name string, how linux.HostOptions, opt record.Options) string {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)
	found := record.Finding{Targets: []discover.Target{{Name: name}}, Accesses: all.Host(how)}
	for _, a := range found.Accesses {
		if a.Missing != nil {
			s.reportError(unreadable, a.Missing)
			return ""
		}
	}
	opt.Tool, opt.Command = programVersion(), os.Args
	opt.Warn = func(text string) { s.printNote("warning: %s", text) }
	opt.Fail = func(err error) { s.reportError(unreadable, err) }
	path, err := found.Record(ctx, opt)
	if err != nil && (path == "" || ctx.Err() == nil) {
		s.reportError(unreadable, err)
	}
	return path
}
