package discover

import (
	"io"
	"math"
	"os"

	"github.com/unstall/unstall/internal/format"
)

// spoolToFile copies a stream to a temporary file. It removes the file's name at once, so that the file is gone when this process ends,
// however it ends.
func spoolToFile(r io.Reader) (*format.Artifact, io.Closer, error) {
	f, err := os.CreateTemp("", "unstall-stdin-*")
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	removed := os.Remove(f.Name()) == nil
	held := &held{f, removed}
	n, err := io.Copy(f, r)
	if err != nil {
		_ = held.Close()
		return nil, nil, withoutPath(err)
	}
	open := func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, 0, math.MaxInt64)), nil
	}
	return &format.Artifact{Name: "stdin", Size: n, Open: open}, held, nil
}

// spoolPipe copies what a pipe holds to a temporary file, from which the artifact is read. It waits for a program that writes to the pipe.
func spoolPipe(a *format.Artifact) (io.Closer, error) {
	pipe, err := os.Open(a.Name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer pipe.Close()
	copied, f, err := spoolToFile(pipe)
	if err != nil {
		return nil, err
	}
	a.Open, a.Size = copied.Open, copied.Size
	return f, nil
}

// held is an open temporary file. On systems that cannot remove open files it is removed when it is closed.
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
