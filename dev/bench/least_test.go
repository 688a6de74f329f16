//go:build linux

package main

import (
	"testing"

	"github.com/unstall/unstall/internal/format/nettrace/eventpipe/eventpipetest"
)

// TestLeastReading checks that the floor of reading goes over the same events as the reader, and that it notices when one is cut off.
func TestLeastReading(t *testing.T) {
	data := eventpipetest.Recording(1 << 20)
	want, _, err := nextAll(data)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := readLeast(data); got != want || err != nil {
		t.Errorf("%d events, want %d (%v)", got, want, err)
	}
	if _, _, err := readLeast(data[:len(data)/2]); err == nil {
		t.Error("half of a stream is read without an error")
	}
}
