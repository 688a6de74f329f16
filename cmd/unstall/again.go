package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/compare"
)

// recordAfter records the run after a change if AFTER names a live target. It records as long as the capture before the
// change, with the same flags and the requested load, and returns the new capture. Files are returned as they are. It returns
// false after a failure that it has printed; the error is one of wrong use.
func (s *session) recordAfter(before, after string, e elsewhere, b besides) (string, bool, error) {
	away, _, err := e.splitRemote([]string{after})
	if err != nil {
		return "", false, err
	}
	var live []discover.Target
	if away == nil {
		var errs []error
		live, _, errs = discover.Split(context.Background(), []string{after}, platform.Recognisers())
		switch {
		case len(errs) > 0:
			s.reportUnresolved(errs)
			s.noteSuccessor(before, after, b)
			return "", false, nil
		case len(live) == 0 && b.Load != "":
			return "", false, fmt.Errorf("--load %s: load runs only while a running process is recorded, and %s is a file", b.Load, after)
		case len(live) == 0:
			return after, true, nil
		}
	}
	r, was, _ := recordedLike(before)
	if was.Load != "" && b.Load == "" {
		return "", false, fmt.Errorf("%s was recorded under --load: give the same load, as runs under different loads do not compare: unstall compare %s %s %s", before, quoteArg(before), quoteArg(after), was.formatFlags())
	}
	send, err := b.newSending(r.For)
	if err == nil && away != nil {
		err = away.checkLoad(b)
	}
	if err != nil {
		return "", false, err
	}
	how := ": put the same load on it"
	if b.Load != "" {
		how = ""
	}
	s.printNote("recording the running process for %s, as long as %s%s", r.For, before, how)
	var path string
	if away != nil {
		path = s.recordAway(away, r, b, nil)
	} else {
		path = s.recordTargets(r, live, send, nil)
	}
	path, ok := s.noteCapture(path)
	return path, ok, nil
}

// noteSuccessor prints the command with the process that listens now where the load goes, if AFTER is a PID that is gone: a restart changes it.
func (s *session) noteSuccessor(before, after string, b besides) {
	u, err := url.Parse(b.Load)
	if _, notPID := strconv.Atoi(after); notPID != nil || err != nil || u.Port() == "" {
		return
	}
	t, err := discover.Resolve(context.Background(), u.Host, platform.Recognisers())
	if err != nil || t.PID == 0 {
		return
	}
	s.printNote("process %d listens at %s now:\n  %s", t.PID, u.Host, formatVerifyCommand(before, nil, strconv.Itoa(t.PID), elsewhere{}, b))
}

// noteCapture prints where a capture was saved and returns its path; false if there is none.
func (s *session) noteCapture(path string) (string, bool) {
	if path != "" {
		s.printNote("saved %s", path)
	}
	return path, path != ""
}

// recordedLike reads from a capture's command line how it was recorded: the flags, the duration, the load, and the typed
// targets.
func recordedLike(path string) (r recording, b besides, targets []string) {
	c, err := capture.Open(path)
	if err == nil && len(c.Info.Command) > 1 {
		r, b, targets = parsedLike(c.Info.Command[1:])
	}
	r.For, r.Capture = captureDuration(path), ""
	return r, b, targets
}

// parsedLike reads the flags of a recording from a command line. It returns none if it does not understand the line.
func parsedLike(args []string) (r recording, b besides, targets []string) {
	parser := newParser(kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	command, err := parser.Parse(normalizeArgs(args))
	if err != nil || command.Selected() == nil {
		return r, b, nil
	}
	typed := parser.Model.Target.Interface().(cli)
	switch command.Selected().Name {
	case "diagnose":
		return typed.Diagnose.recording, typed.Diagnose.besides, typed.Diagnose.Targets
	case "record":
		return typed.Record.recording, besides{}, typed.Record.Targets
	}
	return r, b, nil
}

// verifyCommand returns the command that compares the read capture with its service after a change; "" if there is more than
// one capture, a file that is none, or a capture of another host.
func verifyCommand(files []string) string {
	if len(files) != 1 {
		return ""
	}
	c, err := capture.Open(files[0])
	host, _ := os.Hostname()
	if err != nil || c.Info.Target == "" || c.Info.Host != host {
		return ""
	}
	_, b, targets := recordedLike(files[0])
	target := c.Info.Target
	if len(targets) != 1 {
		return ""
	}
	if _, err := strconv.Atoi(targets[0]); err != nil { // after a restart a PID belongs to another process; a name or address does not change
		target = targets[0]
	}
	return formatVerifyCommand(files[0], nil, target, elsewhere{}, b)
}

// captureDuration returns how long a capture was recorded, in whole seconds; for other files the default of 30 s.
func captureDuration(path string) time.Duration {
	c, err := capture.Open(path)
	if err != nil || c.Info.Start.IsZero() {
		return 30 * time.Second
	}
	return max(time.Second, c.End.Sub(c.Info.Start).Round(time.Second))
}

// formatFlags returns the flags of a load as typed, without passwords and secret headers.
func (b *besides) formatFlags() string {
	if b.Load == "" {
		return ""
	}
	address := b.Load
	if u, err := url.Parse(address); err == nil && u.User != nil {
		address = u.Redacted()
	}
	words := []string{"--load", address}
	flag := func(name, value string, given bool) {
		if given {
			words = append(words, name, value)
		}
	}
	for _, v := range b.Var {
		flag("--var", v, true)
	}
	if b.Rate != nil {
		flag("--rate", fmt.Sprintf("%g", *b.Rate), true)
	}
	flag("--connections", fmt.Sprint(b.Connections), b.Connections != 0)
	flag("--streams", fmt.Sprint(b.Streams), b.Streams != 0)
	flag("--spike", b.Spike, b.Spike != "")
	flag("--method", b.Method, b.Method != "")
	for _, h := range b.Header {
		flag("--header", string(redact.Line([]byte(h))), true)
	}
	flag("--body", b.Body, b.Body != "")
	for _, p := range b.Paths {
		flag("--path", p, true)
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"--http2", b.HTTP2}, {"--poisson", b.Poisson}, {"--insecure", b.Insecure}} {
		if f.given {
			words = append(words, f.name)
		}
	}
	for i, w := range words {
		words[i] = quoteArg(w)
	}
	return strings.Join(words, " ")
}

// formatVerifyCommand returns the command that compares a capture with its service after a change. It names a process by its
// name if no other process has it, because a restart changes the PID.
func formatVerifyCommand(capture string, live []discover.Target, target string, e elsewhere, b besides) string {
	if len(live) == 1 && live[0].PID != 0 && live[0].Name != "" && target == fmt.Sprint(live[0].PID) {
		named, files, errs := discover.Split(context.Background(), []string{live[0].Name}, platform.Recognisers())
		if len(errs) == 0 && len(files) == 0 && len(named) == 1 && named[0].PID == live[0].PID {
			target = live[0].Name
		}
	}
	words := []string{"unstall compare", quoteArg(capture), quoteArg(target)}
	if e.Binary != "" {
		words = append(words, "--binary", quoteArg(e.Binary))
	}
	if e.Sudo {
		words = append(words, "--sudo")
	}
	return strings.TrimSpace(strings.Join(words, " ") + " " + b.formatFlags())
}

// mostEarlier is how many earlier captures, from the latest back, are read for the variation between runs.
const mostEarlier = 6

// measureEarlier measures captures of the same service that are in the same directory as the one before a change, and older: back to the
// last change of its settings or version. The run after the change is none of them, whenever it was recorded.
func (s *session) measureEarlier(before, after string, b compare.Run, opt compare.MeasureOptions) []compare.Run {
	of, err := capture.Open(before)
	if err != nil || of.Info.Target == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(before), "*.unstall"))
	if err != nil {
		return nil
	}
	type candidate struct {
		path string
		at   time.Time
	}
	var all []candidate
	for _, path := range paths {
		if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() || isSameFile(path, before) || isSameFile(path, after) {
			continue
		}
		c, err := capture.Open(path)
		if err != nil || !c.Ended || c.Info.Target != of.Info.Target || c.Info.Host != of.Info.Host || !c.Info.Start.Before(of.Info.Start) {
			continue
		}
		all = append(all, candidate{path, c.Info.Start})
	}
	sorting.Short(all, func(a, b candidate) int { return b.at.Compare(a.at) })
	quiet := *s // this comparison does not report what is wrong with earlier captures
	quiet.err = io.Discard
	opt.Parts = false
	runs := []compare.Run{b}
	for _, c := range all[:min(len(all), mostEarlier)] {
		more, err := compare.Read(c.path, quiet.readFiles, opt)
		if err != nil || len(more) != 1 {
			continue
		}
		if more[0].HasOtherSettings(&b) {
			break
		}
		if !compare.Alike(&more[0], &b) {
			continue
		}
		runs = append(runs, more[0])
	}
	if len(runs) == 1 {
		return nil
	}
	return runs
}
