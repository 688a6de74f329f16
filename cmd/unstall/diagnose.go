package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch/generate"
	"github.com/unstall/unstall/internal/present"
	"github.com/unstall/unstall/internal/present/sentence"
)

type diagnoseCommand struct {
	Targets  []string       `arg:"" optional:"" name:"target|file" help:"A running process: its PID, its name, the URL of its net/http/pprof, or of a Redis server (redis://host:port); its container (docker://NAME, podman://NAME, container:ID) or pod (pod/NAME[/CONTAINER]); on another host ssh://[USER@]HOST[:PORT]/TARGET. Or a recording: captures, files, directories of files, - for standard input. Compressed files and container logs are read as they are."`
	SLO      *time.Duration `name:"slo" env:"UNSTALL_SLO" placeholder:"300ms" help:"Requests that take longer are slow (default: 3 × the baseline latency of their route)."`
	Baseline string         `env:"UNSTALL_BASELINE" placeholder:"CAPTURE" help:"A capture from a healthy time: requests that take longer than its p99 are slow."`
	Requests []string       `sep:"none" placeholder:"FILE" help:"Take request figures from this file: an access log or a load generator's result."`
	stretch
	Verbose bool     `short:"v" help:"Show everything: all routes, all evidence, all causes ruled out or not seen."`
	Fail    bool     `help:"Exit with 1 if a cause is supported."`
	FailOn  []string `name:"fail-on" placeholder:"CAUSE,…" help:"Exit with 1 if one of these causes is supported, such as go.gc-rate."`
	within
	elsewhere
	recording
	besides
	grafana
	output
}

// grafana is the place of a dashboard that shows the same time.
type grafana struct {
	Grafana string `env:"UNSTALL_GRAFANA" placeholder:"URL" help:"Link to the dashboard of deploy/grafana for the same period: the address of a Grafana, or of a dashboard in it."`
}

func (g *grafana) newLinker() (*generate.Linker, error) {
	if g.Grafana == "" {
		return nil, nil
	}
	return generate.NewLinker(g.Grafana)
}

// linkDashboard adds to a diagnosis a link to the dashboard of the same time. It does nothing if l is nil or the time is
// unknown.
func linkDashboard(d *diagnose.Diagnosis, l *generate.Linker) {
	if l == nil || d.Window.Start == nil || d.Window.End == nil {
		return
	}
	host, service := "", ""
	for _, t := range d.Targets {
		switch {
		case t.Kind == "host" && host == "":
			host = t.Name
		case t.Kind == "process" && service == "":
			service = t.Name
		}
	}
	d.Dashboard = l.To(*d.Window.Start, *d.Window.End, host, service)
}

// output says where a report goes, and in which form.
type output struct {
	Format string `env:"UNSTALL_FORMAT" placeholder:"FORM" help:"text, json, markdown, html, sarif or junit (default: by the name of the output file)."`
	Output string `short:"o" placeholder:"FILE" help:"Write the report to a file."`
	Color  string `env:"UNSTALL_COLOR" enum:"auto,always,never" default:"auto" help:"Color: auto, always or never."`
}

// chooseForm returns the form of report that the flags request.
func (o *output) chooseForm(verbose bool) (present.Form, error) {
	return present.Choose(o.Format, o.Output, present.Look{Color: o.Color, Verbose: verbose})
}

func (c *diagnoseCommand) Run(s *session) error {
	form, err := c.chooseForm(c.Verbose)
	if err != nil {
		return err
	}
	if c.SLO != nil && *c.SLO <= 0 {
		return fmt.Errorf("--slo %s: give a time above zero", *c.SLO)
	}
	for _, id := range c.FailOn {
		if err := checkCause(id); err != nil {
			return fmt.Errorf("--fail-on: %w", err)
		}
	}
	if err := c.recording.checkFlags(); err != nil {
		return err
	}
	send, err := c.besides.newSending(c.For)
	if err != nil {
		return err
	}
	dashboard, err := c.newLinker()
	if err != nil {
		return err
	}
	if !s.checkOutput(c.Output) {
		return nil
	}
	targets, err := c.addContainers(c.Targets, "a process, a capture or other files", "help")
	if err != nil {
		return err
	}
	away, targets, err := c.elsewhere.splitRemote(targets)
	if err == nil && away != nil {
		err = away.checkLoad(c.besides)
	}
	if err != nil {
		return err
	}
	live, files := s.splitInputs(targets)
	files = append(slices.Clone(c.Requests), files...)
	switch {
	case away != nil && len(live) > 0:
		return away.refuseLocalTarget(targetAsTyped(live[0]))
	case away != nil:
	case len(live) == 0 && len(files) == 0:
		return nil // already reported
	case len(live) == 0 && send != nil:
		return fmt.Errorf("--load %s: load runs only while a running process is recorded; give its PID, name or URL, or use unstall load", c.Load)
	}
	if len(live) == 0 && away == nil {
		if err := s.given.refuseRecordingFlags(); err != nil {
			return err
		}
	}
	var well *evidence.Bundle
	if c.Baseline != "" {
		if well = s.readFiles([]string{c.Baseline}); well == nil {
			return nil
		}
	}
	var path, verify string
	if len(live) > 0 || away != nil {
		files = s.dropMissing(files)
		early := func(path string) { s.firstFinding(path, c.diagnoseOptions(well)) }
		if away != nil {
			path = s.recordAway(away, c.recording, c.besides, early)
		} else {
			path = s.recordTargets(c.recording, live, send, early)
		}
		if path == "" {
			return nil
		}
		files = append(files, path)
		if all := targetNames(live, away); len(all) == 1 {
			verify = formatVerifyCommand(path, live, all[0], c.elsewhere, c.besides)
		}
		defer s.printSaved(path, verify)
	}
	bundle := s.readFiles(files)
	if bundle == nil {
		bundle = s.refused // a report can also say that the files hold nothing of use
	}
	if bundle == nil {
		return nil
	}
	if c.Baseline != "" {
		s.baselineOf(c.Baseline, files)
	}
	opt := c.diagnoseOptions(well)
	if opt.Since, opt.Until, err = c.stretch.resolvePeriod(bundle, s); err != nil {
		return err
	}
	d, err := diagnose.Run(context.Background(), bundle, opt)
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	fillCommands(d, s.found)
	fillRemoteCommands(d, away)
	linkDashboard(d, dashboard)
	if !slices.Contains(files, "-") {
		d.File = nameFiles(files)
	}
	if verify == "" && path == "" && d.Outcome == diagnose.Found {
		if verify = verifyCommand(files); verify != "" && (c.Output == "" || c.Output == "-") && isTerminal(s.out) {
			defer s.printNote("to compare after a change:\n  %s", verify)
		}
	}
	form = form.Repeat(repeatCommands(path, verify)...)
	if c.Output != "" && c.Output != "-" {
		fmt.Fprintln(s.out, sentence.Brief(d))
	}
	if s.writeOutput(c.Output, files, func(w io.Writer) error { return form.Report(w, d) }) {
		s.printWrote(c.Output)
	}
	if slices.ContainsFunc(d.Verdicts, func(v diagnose.Verdict) bool {
		return v.Verdict == "supported" && (c.Fail || slices.Contains(c.FailOn, v.Cause))
	}) {
		s.code = max(s.code, found)
	}
	return nil
}

// baselineOf warns if a baseline was recorded of another process than the files compared with it. A capture of an address alone
// does not know its process.
func (s *session) baselineOf(baseline string, files []string) {
	was, err := capture.Open(baseline)
	if err != nil {
		return // a log or a trace
	}
	for _, name := range files {
		is, err := capture.Open(name)
		if err != nil || was.Info.Target == is.Info.Target || was.Info.Target == "" || is.Info.Target == "" || strings.ContainsAny(was.Info.Target+is.Info.Target, ".:") {
			continue
		}
		s.printNote("warning: --baseline %s is a recording of %s, but %s is of %s: the usual latency of one process says little about another", baseline, was.Info.Target, name, is.Info.Target)
	}
}

// dropMissing reports files that do not exist and leaves them out, before recording takes time.
func (s *session) dropMissing(files []string) []string {
	return slices.DeleteFunc(files, func(name string) bool {
		_, err := os.Stat(name)
		if name == "-" || err == nil {
			return false
		}
		s.reportError(unreadable, discover.Explain(fmt.Errorf("%s: %w", name, errors.Unwrap(err))))
		return true
	})
}

// checkOutput reports whether a report can be written under a name, before making the report takes time.
func (s *session) checkOutput(name string) bool {
	if name == "" || name == "-" {
		return true
	}
	dir := filepath.Dir(name)
	fi, err := os.Stat(name)
	switch in, missing := os.Stat(dir); {
	case missing != nil || !in.IsDir():
		err = fmt.Errorf("directory %s does not exist: create it, or give another name", dir)
	case err == nil && fi.IsDir():
		err = fmt.Errorf("this is a directory: give the name of a file in it, such as %s", filepath.Join(name, "report.html"))
	default:
		err = checkWritable(name, dir, err == nil)
	}
	if err != nil {
		s.reportError(unreadable, fmt.Errorf("-o %s: %w", name, err))
	}
	return err == nil
}

// checkWritable tries to open a file for writing, or to create a file in its directory.
func checkWritable(name, dir string, exists bool) error {
	if exists {
		f, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) { // a pipe that is not read yet
			return nil
		}
		if err == nil {
			return f.Close()
		}
		return fmt.Errorf("%w: give another name", trimPath(err))
	}
	f, err := os.CreateTemp(dir, ".unstall-")
	if err != nil {
		return fmt.Errorf("nothing can be written to %s: %w: give another name", dir, trimPath(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// trimPath returns an error about a file without the file's name, because the message around it names the file.
func trimPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

func (c *diagnoseCommand) diagnoseOptions(well *evidence.Bundle) diagnose.Options {
	opt := diagnose.Options{Requests: c.Requests, Baseline: well, ExpectedRate: c.Expect, Version: programVersion()}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	return opt
}

// firstFinding prints what a capture shows so far, while the recording continues.
func (s *session) firstFinding(path string, opt diagnose.Options) {
	c, err := capture.Open(path)
	if err != nil {
		return // the whole capture is read in the end, and reports its errors then
	}
	b := incident.NewBundle()
	incident.ReadCapture(context.Background(), c, b)
	if d, err := diagnose.Run(context.Background(), b, opt); err == nil {
		s.printNote("after %.0f s: %s", record.FirstAfter.Seconds(), sentence.Brief(d))
	}
}

// longestNames is how long the names of several files are at most that printed commands have, so that these fit a line of a report; in place of
// longer ones they have FILE.
const longestNames = 34

// nameFiles returns the names of files as a command has them, "" for several whose names are too long.
func nameFiles(files []string) string {
	var quoted []string
	for _, f := range files {
		quoted = append(quoted, quoteArg(f))
	}
	if names := strings.Join(quoted, " "); len(files) == 1 || len(names) <= longestNames {
		return names
	}
	return ""
}
