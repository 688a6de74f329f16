package record

import (
	"fmt"
	"io"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/format"
	"github.com/unstall/unstall/format/all"
	"github.com/unstall/unstall/probe"
)

// sink is a capture that tells the user, too.
type sink struct {
	w    *capture.Writer
	warn func(text string)
}

func (s *sink) Create(m capture.Meta) (io.WriteCloser, error) { return s.w.Create(m) }

func (s *sink) Known(head []byte) bool { return format.Known(all.Formats, head) }

func (s *sink) Warnf(text string, args ...any) {
	text = fmt.Sprintf(text, args...)
	s.w.Warnf("%s", text)
	if s.warn != nil {
		s.warn(text)
	}
}

func (s *sink) Lack(l probe.Lack) { s.w.Lack(l) }
