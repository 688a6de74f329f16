package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/incident"
	"github.com/unstall/unstall/record"
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
	debug.SetGCPercent(50) // memory is worth more than our time on a host that is sick
	artifacts, done, errs := discover.Files(names, s.in)
	defer done()
	for _, err := range errs {
		s.fail(unreadable, err)
	}
	bundle := incident.NewBundle()
	for _, a := range artifacts {
		if err := incident.Read(context.Background(), a, bundle); err != nil {
			s.fail(unreadable, discover.Explain(err))
		}
	}
	if len(bundle.Artifacts) == 0 {
		return nil
	}
	return bundle
}

// write renders into a file, or to the output if it has no name. A file that
// was read is not written over.
func (s *session) write(name string, inputs []string, render func(io.Writer) error) {
	if name == "" || name == "-" {
		if err := render(s.out); err != nil && !errors.Is(err, syscall.EPIPE) { // its reader has seen enough
			s.fail(unreadable, err)
		}
		return
	}
	for _, in := range inputs {
		if same(in, name) {
			s.fail(wrongUse, fmt.Errorf("-o %s: this is one of the files to be read: give another name", name))
			return
		}
	}
	f, err := os.Create(name)
	if err == nil {
		err = errors.Join(render(f), f.Close())
	}
	if err != nil {
		s.fail(unreadable, err)
	}
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
