// Package probetest has the common parts of the probes' tests: a sink in memory that tests can wait for, recordings in the background, and the
// test program itself as the recorded process.
//
// The package's opinion: a test waits for recorded data, never for a time.
package probetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/format/formattest"
)

// Sink keeps artifacts in memory. Read them only when no recording runs.
type Sink struct {
	Kept     []*Artifact // in the order in which they began
	Warnings []string
	Lacks    []probe.Lack

	mu      sync.Mutex
	full    bool
	changed chan struct{} // closed and replaced at each write
}

// Artifact is what was recorded under one name.
type Artifact struct {
	bytes.Buffer
	Meta   capture.Meta
	Writes int
	Closed bool

	sink *Sink
}

// ErrFull is the error of a full sink.
var ErrFull = errors.New("disk full")

// NewSink returns an empty sink.
func NewSink() *Sink { return &Sink{changed: make(chan struct{})} }

// Fill makes the sink full.
func (s *Sink) Fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = true
}

// Create starts an artifact; a name may be used once.
func (s *Sink) Create(m capture.Meta) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.Kept {
		if a.Meta.Name == m.Name {
			return nil, fmt.Errorf("%s is there already", m.Name)
		}
	}
	a := &Artifact{Meta: m, sink: s}
	s.Kept = append(s.Kept, a)
	return a, nil
}

func (a *Artifact) Write(b []byte) (int, error) {
	a.sink.mu.Lock()
	defer a.sink.mu.Unlock()
	if a.sink.full {
		return 0, ErrFull
	}
	a.Writes++
	close(a.sink.changed)
	a.sink.changed = make(chan struct{})
	return a.Buffer.Write(b)
}

// Close ends the artifact.
func (a *Artifact) Close() error {
	a.sink.mu.Lock()
	defer a.sink.mu.Unlock()
	a.Closed = true
	return nil
}

// Known asks all formats.
func (s *Sink) Known(head []byte) bool { return format.Known(all.Formats, head) }

// Warnf keeps a warning.
func (s *Sink) Warnf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// Lack keeps what could not be seen.
func (s *Sink) Lack(l probe.Lack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Lacks = append(s.Lacks, l)
}

// Named returns the artifact with a name, nil if there is none.
func (s *Sink) Named(name string) *Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.Kept {
		if a.Meta.Name == name {
			return a
		}
	}
	return nil
}

// Names returns the names of all artifacts.
func (s *Sink) Names() (all []string) {
	for _, a := range s.Kept {
		all = append(all, a.Meta.Name)
	}
	return all
}

// Text returns the content of an artifact, "" if there is none.
func (s *Sink) Text(name string) string {
	if a := s.Named(name); a != nil {
		return a.String()
	}
	return ""
}

// Warned says whether a warning contains a text.
func (s *Sink) Warned(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.Warnings, "\n"), what)
}

// Quiet checks that there were no warnings and no lacks.
func (s *Sink) Quiet(t testing.TB) {
	t.Helper()
	if len(s.Warnings)+len(s.Lacks) > 0 {
		t.Errorf("warned %q, lacks %+v", s.Warnings, s.Lacks)
	}
}

// Read parses the named artifacts, which must be closed.
func (s *Sink) Read(t testing.TB, names ...string) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	for _, name := range names {
		a := s.Named(name)
		if a == nil {
			t.Fatalf("%s was not recorded, but %q; warned %q", name, s.Names(), s.Warnings)
		}
		if !a.Closed {
			t.Errorf("%s was not closed", name)
		}
		if err := format.Read(context.Background(), all.Formats, formattest.Artifact(name, a.Bytes()), b); err != nil {
			t.Fatalf("%v\n%.2000s", err, a.Bytes())
		}
	}
	return b
}

// patience is how long a test waits for expected data. Only a hanging test reaches it.
const patience = 2 * time.Minute

// waitFor waits until an artifact's content is enough. The test fails if ended is closed or it takes too long.
func (s *Sink) waitFor(t testing.TB, ended <-chan struct{}, name string, enough func([]byte) bool) {
	t.Helper()
	late := time.After(patience)
	for {
		s.mu.Lock()
		changed, done := s.changed, false
		for _, a := range s.Kept {
			done = done || a.Meta.Name == name && enough(a.Bytes())
		}
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ended:
			t.Fatalf("%s never came: the recording ended; warned %q", name, s.Warnings)
		case <-late:
			t.Fatalf("%s never came; warned %q", name, s.Warnings)
		}
	}
}
