package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/heapgrowth"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/format"
)

// Exit codes. Of several the highest is returned.
const (
	found      = 1
	wrongUse   = 2
	unreadable = 3
)

// session is one run of a command.
type session struct {
	in       io.Reader
	out, err io.Writer
	code     int
	found    record.Finding // the result of a live recording
	noPager  bool
	given    given            // on the command line
	refused  *evidence.Bundle // recognised files without usable data; nil: none
}

// reportError prints an error, one line for each that is joined in it, and raises the exit code.
func (s *session) reportError(code int, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(s.err, "unstall: %s\n", strings.TrimSpace(line))
	}
	s.code = max(s.code, code)
}

// readFiles parses files into a bundle and prints which files could not be read. It returns nil if none could.
func (s *session) readFiles(names []string) *evidence.Bundle {
	beNice()
	heapgrowth.Spare()
	read := s.noteWaiting(names)
	artifacts, done, errs := discover.Files(names, s.in)
	read()
	defer done()
	for _, err := range errs {
		s.reportError(unreadable, err)
	}
	slices.SortStableFunc(artifacts, func(a, b *format.Artifact) int { return cmp.Compare(a.Name, b.Name) }) // the order of arguments changes no report
	bundle := incident.NewBundle()
	var skipped []string
	var why []error
	failed := 0
	for _, a := range artifacts {
		known := len(bundle.Artifacts)
		switch err := incident.Read(context.Background(), a, bundle); {
		case a.Walked && errors.Is(err, format.ErrUnknown):
			skipped = append(skipped, a.Name)
		case err != nil:
			s.reportError(unreadable, discover.Explain(err))
			if failed++; len(bundle.Artifacts) > known && !bundle.Artifacts[known].Tail {
				why = append(why, discover.Explain(err))
			}
		}
	}
	switch {
	case len(skipped) > 0 && len(skipped) == len(artifacts):
		s.reportError(unreadable, fmt.Errorf("no file here has a known format: %s", strings.Join(skipped, ", ")))
	case len(skipped) > 0:
		s.printNote("skipped: unknown format: %s", strings.Join(skipped, ", "))
	}
	if len(bundle.Artifacts) == 0 || failed > 0 && failed == len(artifacts) && bundle.Bare() {
		if len(why) > 0 && len(why) == len(artifacts) {
			for _, err := range why {
				bundle.Warnf(0, "cannot be used: %v", err)
			}
			s.refused = bundle
		}
		return nil // a report without data would look like a healthy service
	}
	s.noteDamage(bundle)
	return bundle
}

// waitFor is how long reading a pipe takes before a note says what it waits for.
const waitFor = 2 * time.Second

// noteWaiting prints that named pipes have to be written to, if reading them takes long. The returned function ends that.
func (s *session) noteWaiting(names []string) (read func()) {
	var pipes []string
	for _, name := range names {
		if fi, err := os.Stat(name); err == nil && fi.Mode()&os.ModeNamedPipe != 0 {
			pipes = append(pipes, name)
		}
	}
	if len(pipes) == 0 {
		return func() {}
	}
	t := time.AfterFunc(waitFor, func() {
		s.printNote("reading %s until another program has written to it and closed it", strings.Join(pipes, ", "))
	})
	return func() { t.Stop() }
}

// noteDamage prints which captures are damaged before the report, because what is missing can change its result.
func (s *session) noteDamage(b *evidence.Bundle) {
	for _, w := range b.Warnings {
		if strings.HasPrefix(w.Text, capture.DamagedText) {
			s.printNote("warning: %s", w.Text)
		}
	}
}

// writeOutput renders into a file, or to standard output if name is empty or "-". It never overwrites a file that was read. It
// returns whether writing succeeded.
func (s *session) writeOutput(name string, inputs []string, render func(io.Writer) error) (ok bool) {
	if name == "" || name == "-" {
		if err := s.printOutput(render); err != nil && !errors.Is(err, syscall.EPIPE) { // the reader has seen enough
			s.reportError(unreadable, err)
			return false
		}
		return true
	}
	for _, in := range inputs {
		if isSameFile(in, name) {
			s.reportError(wrongUse, fmt.Errorf("-o %s: this is one of the input files: give another name", name))
			return false
		}
	}
	f, err := createPrivate(name)
	if err == nil {
		if err = errors.Join(render(f), f.Close()); err != nil {
			removeUnfinished(name)
		}
	}
	if err != nil {
		s.reportError(unreadable, err)
	}
	return err == nil
}

// removeUnfinished removes a report that could not be written whole, for example on a full disk, because a part of a report would be
// taken for all of it.
func removeUnfinished(name string) {
	if fi, err := os.Lstat(name); err == nil && fi.Mode().IsRegular() {
		_ = os.Remove(name) // the reported error already says why there is no report
	}
}

// printOutput renders to standard output, through the pager where there is one.
func (s *session) printOutput(render func(io.Writer) error) error {
	p := s.newPage()
	if p == nil {
		return render(s.out)
	}
	if err := render(p); err != nil {
		return err
	}
	return p.showPage()
}

// printWrote prints which file was written, and its size.
func (s *session) printWrote(name string) {
	if fi, err := os.Stat(name); err == nil && fi.Mode().IsRegular() {
		s.printNote("wrote %s (%s)", name, units.Size(float64(fi.Size())))
	}
}

// createPrivate creates a file, or empties an existing one, that only its owner can read. A report reveals as much about a service as
// a capture, which is private, too. A device or a pipe keeps its mode.
func createPrivate(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		err = f.Chmod(0o600)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func isSameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
