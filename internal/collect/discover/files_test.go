package discover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/format"
)

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"b.log", "a.log", "dir/z", "dir/y", "dir/.hidden", "dir/deeper/x", "4712"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		names, want, errs []string
	}{
		{names: []string{"b.log", "a.log"}, want: []string{"b.log", "a.log"}},
		{names: []string{"dir", "a.log"}, want: []string{"dir/y", "dir/z", "a.log"}},
		{names: []string{"4712"}, want: []string{"4712"}}, // a file by that name
		{names: []string{"none", "a.log"}, want: []string{"a.log"}, errs: []string{"none: no such file or directory: check the name"}},
		{names: []string{"a.log/none"}, errs: []string{"a.log/none: not a directory: check the name"}},
		{names: []string{"empty"}, errs: []string{"empty: this directory has no files: give the files themselves"}},
		{names: []string{"4711"}, errs: []string{"4711: no such file or directory: check the name"}},
	} {
		artifacts, done, errs := Files(c.names, nil)
		done()
		var got, texts []string
		for _, a := range artifacts {
			got = append(got, a.Name)
		}
		for _, err := range errs {
			texts = append(texts, err.Error())
		}
		if d := cmp.Diff(c.want, got) + cmp.Diff(c.errs, texts); d != "" {
			t.Errorf("%q: %s", c.names, d)
		}
	}
}

func TestStdin(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	artifacts, done, errs := Files([]string{"-"}, strings.NewReader("a\nb\n"))
	if len(artifacts) != 1 || len(errs) != 0 {
		t.Fatal(artifacts, errs)
	}
	for range 2 { // read once to recognise the format and once by each format
		n := 0
		if err := artifacts[0].Lines(func(format.Line) bool { n++; return true }); err != nil || n != 2 {
			t.Errorf("%d lines, %v", n, err)
		}
	}
	done()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, _, errs := Files([]string{"-"}, iotest.ErrReader(io.ErrClosedPipe)); len(errs) != 1 || !errors.Is(errs[0], io.ErrClosedPipe) {
		t.Errorf("a stream that fails: %v", errs)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExplain(t *testing.T) {
	if err := Explain(os.ErrPermission); !strings.Contains(err.Error(), "sudo") {
		t.Error(err)
	}
	if err := Explain(io.EOF); err != io.EOF {
		t.Error(err)
	}
}

func TestFilesNamedTwiceAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "access.log")
	if err := os.WriteFile(path, []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	artifacts, done, errs := Files([]string{path, dir, filepath.Join(dir, ".", "access.log")}, nil)
	defer done()
	if len(artifacts) != 1 || len(errs) != 0 {
		t.Errorf("%d artifacts, errors %v; want the file once", len(artifacts), errs)
	}
}

// A pipe can be read several times, as what it holds was copied.
func TestFilesOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = io.WriteString(w, "goroutine 1 [running]:\n")
		_ = w.Close()
	}()
	name := fmt.Sprintf("/proc/self/fd/%d", r.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("no /proc here")
	}
	artifacts, done, errs := Files([]string{name}, nil)
	defer done()
	if len(artifacts) != 1 || len(errs) > 0 {
		t.Fatalf("%v, %v", artifacts, errs)
	}
	for range 2 {
		f, err := artifacts[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); string(b) != "goroutine 1 [running]:\n" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
		_ = f.Close()
	}
}
