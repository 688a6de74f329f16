package recorded

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Traces of Go 1.21 without secrets stay as they are, however they are cut.
func TestOldTracesStay(t *testing.T) {
	files, _ := filepath.Glob("../../../format/gotrace/testdata/http/go1.21.*.trace.gz")
	if len(files) == 0 {
		t.Fatal("no traces of Go 1.21")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b = plain(t, b)
		for _, size := range []int{len(b), 1000, 4099} {
			if got := inPieces(b, size, nil); !bytes.Equal(got, b) {
				t.Errorf("%s in pieces of %d: it was changed", filepath.Base(file), size)
			}
		}
	}
}

// Only texts of strings and of user logs are written over.
func TestOldTraceTexts(t *testing.T) {
	const secret = "password=plantedsecret"
	b := append([]byte("go 1.19 trace\x00\x00\x00"), evOldString, 7, byte(len(secret)))
	b = append(b, secret...)
	b = append(b, 1<<6|14, 5, 9)                          // two arguments
	b = append(b, 3<<6|49, 6, 'a', '=', 'b', ' ', 'c', 1) // its length and as many bytes
	b = append(b, 3<<6|evOldUserLog, 4, 1, 2, 3, 4, byte(len(secret)))
	b = append(b, secret...)
	for _, size := range []int{1, 7, len(b)} {
		got := inPieces(b, size, nil)
		if bytes.Contains(got, []byte("plantedsecret")) || len(got) != len(b) || !bytes.Contains(got, b[16+3+len(secret):16+3+len(secret)+11]) {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
