package main

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"
)

// unstall … | head is not an error; a full disk is.
func TestClosedPipe(t *testing.T) {
	for err, want := range map[error]int{syscall.EPIPE: 0, syscall.ENOSPC: unreadable} {
		var said bytes.Buffer
		s := &session{out: io.Discard, err: &said}
		s.write("", nil, func(io.Writer) error { return &os.PathError{Op: "write", Path: "/dev/stdout", Err: err} })
		if s.code != want || (said.Len() > 0) != (want > 0) {
			t.Errorf("%v: exit code %d and %q, want %d", err, s.code, said.String(), want)
		}
	}
}
