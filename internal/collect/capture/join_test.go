package capture

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestJoin checks that consecutive captures become one. Artifacts that continue become one artifact, pieces stay pieces, and a
// capture that was cut off gives its whole members.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	about := evidence.Subject{Kind: evidence.Process, Name: "gateway", PID: 7}
	write := func(name, text string, end bool) *Capture {
		path := filepath.Join(dir, name)
		w, err := Create(path, Info{Tool: "unstall", Target: "gateway", Start: time.Unix(1, 0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Meta{{Name: "procfs.txt", Probe: "linux", About: about, Continues: true}, {Name: "heap-0001.txt", Series: "heap", Probe: "gopprof", About: about}} {
			a, err := w.Create(m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(a, m.Name+text+"\n"); err != nil {
				t.Fatal(err)
			}
			if end {
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.Warnf("said each time")
		if end {
			err = w.Close()
		} else {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, second := write("a", " first", true), write("b", " second", false)
	path := filepath.Join(dir, "joined")
	if err := Join(path, Info{Tool: "unstall", Target: "gateway", Start: time.Unix(1, 0)}, []*Capture{first, second, {Path: filepath.Join(dir, "gone")}}); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range c.Artifacts() {
		r, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		got[a.Name] = string(text)
		if a.About.PID != 7 {
			t.Errorf("%s is about %+v", a.Name, a.About)
		}
	}
	want := map[string]string{"procfs.txt": "procfs.txt first\nprocfs.txt second\n", "heap-0001.txt": "heap-0001.txt first\n", "heap-0001-2.txt": "heap-0001.txt second\n"}
	if len(got) != len(want) {
		t.Errorf("got %q", got)
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %q, want %q", name, got[name], text)
		}
	}
	if !c.Ended || len(c.Warnings) != 2 {
		t.Errorf("ended %t, warnings %q: want that one is gone, and what was said each time once", c.Ended, c.Warnings)
	}
}
