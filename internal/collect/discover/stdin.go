package discover

import (
	"io"
	"math"
	"os"

	"github.com/unstall/unstall/internal/format"
)

// spool keeps a stream in a temporary file, which loses its name at once: it is
// gone when the process is, however it ends.
func spool(r io.Reader) (*format.Artifact, io.Closer, error) {
	f, err := os.CreateTemp("", "unstall-stdin-*")
	if err != nil {
		return nil, nil, unpath(err)
	}
	removed := os.Remove(f.Name()) == nil
	held := &held{f, removed}
	n, err := io.Copy(f, r)
	if err != nil {
		_ = held.Close()
		return nil, nil, unpath(err)
	}
	open := func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, 0, math.MaxInt64)), nil
	}
	return &format.Artifact{Name: "stdin", Size: n, Open: open}, held, nil
}

// held is an open temporary file. Where open files cannot be removed it is
// removed when it is closed.
type held struct {
	*os.File
	removed bool
}

func (h *held) Close() error {
	err := h.File.Close()
	if !h.removed {
		err = os.Remove(h.Name())
	}
	return err
}
