package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The same files give the same report, byte for byte: each time, and in whatever order they are named.
func TestOrderOfFiles(t *testing.T) {
	dir, err := filepath.Abs("../../lab/go-ballast/recorded/sick")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, name := range []string{"access.log.gz", "cpu.pb.gz", "gctrace.log", "trace.out.gz"} {
		files = append(files, filepath.Join(dir, name))
	}
	backwards := slices.Clone(files)
	slices.Reverse(backwards)
	turned := append(slices.Clone(files[2:]), files[:2]...)
	out := t.TempDir()
	for _, form := range []string{"report.txt", "report.json", "report.md"} {
		var first []byte
		for i, order := range [][]string{files, files, backwards, turned} {
			path := filepath.Join(out, form)
			if text, err := program(t, "unstall", append(order, "-v", "-o", path)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case i == 0:
				first = text
			case string(first) != string(text):
				t.Errorf("%s of %v differs from that of %v:\n%s", form, order, files, text)
			}
		}
	}
}
