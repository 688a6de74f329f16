package linux

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
	formats "github.com/unstall/unstall/format/all"
	"github.com/unstall/unstall/probe"
)

// sink keeps artifacts in memory.
type sink struct {
	mu        sync.Mutex
	artifacts map[string]*kept
	warnings  []string
	lacks     []probe.Lack
	changed   chan struct{} // closed and made anew when something was written
	full      bool          // nothing more can be stored
}

type kept struct {
	bytes.Buffer
	sink   *sink
	meta   capture.Meta
	writes int
	closed bool
}

func newSink() *sink {
	return &sink{artifacts: make(map[string]*kept), changed: make(chan struct{})}
}

func (s *sink) Create(m capture.Meta) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.artifacts[m.Name] != nil {
		return nil, fmt.Errorf("%s is there already", m.Name)
	}
	k := &kept{sink: s, meta: m}
	s.artifacts[m.Name] = k
	return k, nil
}

func (k *kept) Write(b []byte) (int, error) {
	k.sink.mu.Lock()
	defer k.sink.mu.Unlock()
	if k.sink.full {
		return 0, io.ErrShortWrite
	}
	k.writes++
	close(k.sink.changed)
	k.sink.changed = make(chan struct{})
	return k.Buffer.Write(b)
}

func (k *kept) Close() error {
	k.sink.mu.Lock()
	defer k.sink.mu.Unlock()
	k.closed = true
	return nil
}

func (s *sink) Known(head []byte) bool {
	for _, f := range formats.Formats {
		if f.Match(head) != format.No {
			return true
		}
	}
	return false
}

func (s *sink) Warnf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

func (s *sink) Lack(l probe.Lack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks = append(s.lacks, l)
}

// wait waits until an artifact holds what is asked for.
func (s *sink) wait(t testing.TB, name string, enough func([]byte) bool) {
	t.Helper()
	patience := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		k, changed := s.artifacts[name], s.changed
		done := k != nil && enough(k.Bytes())
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-patience:
			t.Fatalf("%s never came; warned %v", name, s.warnings)
		}
	}
}

// read parses an artifact.
func (s *sink) read(t testing.TB, name string) *evidence.Bundle {
	t.Helper()
	k := s.artifacts[name]
	if k == nil {
		t.Fatalf("%s was not recorded; warned %v", name, s.warnings)
	}
	if !k.closed {
		t.Errorf("%s was not closed", name)
	}
	b := evidence.NewBundle()
	a := &format.Artifact{Name: name, Size: int64(k.Len()), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(k.Bytes())), nil
	}}
	if err := format.Read(context.Background(), formats.Formats, a, b); err != nil {
		t.Fatalf("%v\n%s", err, k.Bytes()[:min(k.Len(), 2000)])
	}
	return b
}
