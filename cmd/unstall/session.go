package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/format"
)

// Exit codes; of several the highest is returned.
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
	found    record.Finding // what was recorded live
	noPager  bool
	given    given            // on the command line
	refused  *evidence.Bundle // files of which each was recognised and none can be used; nil: not so
}

// fail prints an error, one line for each that is joined in it.
func (s *session) fail(code int, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(s.err, "unstall: %s\n", strings.TrimSpace(line))
	}
	s.code = max(s.code, code)
}

// read parses files into a bundle and says what could not be read; nil if
// nothing could.
func (s *session) read(names []string) *evidence.Bundle {
	beNice()
	spareMemory()
	artifacts, done, errs := discover.Files(names, s.in)
	defer done()
	for _, err := range errs {
		s.fail(unreadable, err)
	}
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
			s.fail(unreadable, discover.Explain(err))
			if failed++; len(bundle.Artifacts) > known && !bundle.Artifacts[known].Tail {
				why = append(why, discover.Explain(err))
			}
		}
	}
	if len(skipped) > 0 {
		s.note("skipped: unknown format: %s", strings.Join(skipped, ", "))
	}
	if len(bundle.Artifacts) == 0 || failed > 0 && failed == len(artifacts) && bundle.Bare() {
		if len(why) > 0 && len(why) == len(artifacts) {
			for _, err := range why {
				bundle.Warnf(0, "cannot be used: %v", err)
			}
			s.refused = bundle
		}
		return nil // a report on nothing would look like a healthy service
	}
	return bundle
}

// write renders into a file, or to the output if it has no name. A file that
// was read is not written over. It says whether that went well.
func (s *session) write(name string, inputs []string, render func(io.Writer) error) (ok bool) {
	if name == "" || name == "-" {
		if err := s.print(render); err != nil && !errors.Is(err, syscall.EPIPE) { // its reader has seen enough
			s.fail(unreadable, err)
			return false
		}
		return true
	}
	for _, in := range inputs {
		if same(in, name) {
			s.fail(wrongUse, fmt.Errorf("-o %s: this is one of the input files: give another name", name))
			return false
		}
	}
	f, err := private(name)
	if err == nil {
		if err = errors.Join(render(f), f.Close()); err != nil {
			unfinished(name)
		}
	}
	if err != nil {
		s.fail(unreadable, err)
	}
	return err == nil
}

// unfinished removes a report that could not be written whole, as where the disk is full: a part of one would be taken for it.
func unfinished(name string) {
	if fi, err := os.Lstat(name); err == nil && fi.Mode().IsRegular() {
		_ = os.Remove(name) // the error that is said tells why there is none
	}
}

// print renders to the output, onto a page where there is one.
func (s *session) print(render func(io.Writer) error) error {
	p := s.page()
	if p == nil {
		return render(s.out)
	}
	if err := render(p); err != nil {
		return err
	}
	return p.show()
}

// wrote says which file was written, and how large it is.
func (s *session) wrote(name string) {
	if fi, err := os.Stat(name); err == nil && fi.Mode().IsRegular() {
		s.note("wrote %s (%s)", name, units.Size(float64(fi.Size())))
	}
}

// private creates a file, or empties one, that only its owner can read, as captures
// are: what it tells of a service is for whoever may look at that. A device or a pipe
// stays as it is.
func private(name string) (*os.File, error) {
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

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
