package record

import (
	"fmt"
	"io"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// sink is a capture that also passes warnings to the user.
type sink struct {
	w    *capture.Writer
	warn func(text string)

	follow func(capture.Meta) func([]byte)

	latencies *probe.Latencies // of the load made during the recording
}

// answered adds a request of the load to the latencies.
func (s *sink) answered(end, took int64) { s.latencies.Add(end, took) }

func (s *sink) Create(m capture.Meta) (io.WriteCloser, error) {
	w, err := s.w.Create(m)
	if err != nil || s.follow == nil {
		return w, err
	}
	if follows := s.follow(m); follows != nil {
		return &followed{w, follows}, nil
	}
	return w, nil
}

// followed is an artifact whose data a second reader also gets.
type followed struct {
	io.WriteCloser
	follows func([]byte)
}

func (f *followed) Write(p []byte) (int, error) {
	f.follows(p)
	return f.WriteCloser.Write(p)
}

func (s *sink) Known(head []byte) bool { return format.Known(all.Formats, head) }

func (s *sink) Warnf(text string, args ...any) {
	text = fmt.Sprintf(text, args...)
	s.w.Warnf("%s", text)
	if s.warn != nil {
		s.warn(text)
	}
}

func (s *sink) Lack(l probe.Lack) { s.w.Lack(l) }
