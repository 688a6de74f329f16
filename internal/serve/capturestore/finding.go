package capturestore

import (
	"context"
	"os"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Finding is the answer to a capture, short enough for a list.
type Finding struct {
	Outcome string // as in [diagnose.Diagnosis]; "": the file cannot be read
	Cause   string // id of the first supported cause, "" none
	Brief   string // a sentence; why the file cannot be read

	bytes int64
	at    time.Time
}

// Known returns the finding of a file that was diagnosed before and has not changed since.
func (s *Shelf) Known(name string) (Finding, bool) {
	bytes, at, err := s.fileState(name)
	if err != nil {
		return Finding{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.findings[name]
	return f, ok && f.bytes == bytes && f.at.Equal(at)
}

// Find returns the finding of a file, and diagnoses the file if that is not known.
func (s *Shelf) Find(ctx context.Context, name string) (Finding, error) {
	if f, ok := s.Known(name); ok {
		return f, nil
	}
	bytes, at, err := s.fileState(name)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{bytes: bytes, at: at}
	d, err := s.Diagnose(ctx, []string{name}, diagnose.Options{})
	switch {
	case ctx.Err() != nil:
		return Finding{}, ctx.Err()
	case err != nil:
		f.Brief = err.Error()
	default:
		f.Outcome, f.Brief = d.Outcome, sentence.Brief(d)
		if supported, _, _ := sentence.Split(d); len(supported) > 0 {
			f.Cause = supported[0].Cause
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings[name] = f
	return f, nil
}

// fileState returns the size and the modification time of a file, by which it is recognized as
// unchanged.
func (s *Shelf) fileState(name string) (int64, time.Time, error) {
	path, err := s.Path(name)
	if err != nil {
		return 0, time.Time{}, err
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return 0, time.Time{}, err
	}
	return fi.Size(), fi.ModTime(), nil
}
