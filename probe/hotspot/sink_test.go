package hotspot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/probe"
)

// sink keeps artifacts in memory.
type sink struct {
	mu       sync.Mutex
	kept     []*kept
	warnings []string
	lacks    []probe.Lack
	full     bool          // nothing more can be stored
	changed  chan struct{} // closed and made anew when something was written
}

type kept struct {
	bytes.Buffer
	sink   *sink
	meta   capture.Meta
	closed bool
}

func newSink() *sink { return &sink{changed: make(chan struct{})} }

func (s *sink) Create(m capture.Meta) (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.meta.Name == m.Name {
			return nil, fmt.Errorf("%s is there already", m.Name)
		}
	}
	k := &kept{sink: s, meta: m}
	s.kept = append(s.kept, k)
	return k, nil
}

func (k *kept) Write(b []byte) (int, error) {
	k.sink.mu.Lock()
	defer k.sink.mu.Unlock()
	if k.sink.full {
		return 0, errors.New("disk full")
	}
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

func (s *sink) Known([]byte) bool { return true }

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

// wait waits until an artifact holds what is asked for, while a recording goes on.
func (s *sink) wait(t testing.TB, ended <-chan error, name string, enough func([]byte) bool) {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		s.mu.Lock()
		changed := s.changed
		done := false
		for _, k := range s.kept {
			done = done || k.meta.Name == name && enough(k.Bytes())
		}
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case err := <-ended:
			t.Fatalf("%s never came: the recording ended: %v; warned %v", name, err, s.warnings)
		case <-patience:
			t.Fatalf("%s never came; warned %v", name, s.warnings)
		}
	}
}
