package export

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// starving returns a report of dotnet-stack.
func starving(t testing.TB) []byte {
	t.Helper()
	a, err := txtar.ParseFile(filepath.FromSlash("../../format/dotnetstack/testdata/starvation.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return a.Files[0].Data
}

func ofText(t testing.TB, text []byte) *Source {
	t.Helper()
	b := incident.NewBundle()
	a := &format.Artifact{Name: "stacks.txt", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
		t.Fatal(err)
	}
	return Of(b, Options{})
}

// TestStacks checks that written stacks equal those of dotnet-stack, except the suffix of the image.
func TestStacks(t *testing.T) {
	text := starving(t)
	want := strings.ReplaceAll(string(text), ".il!", "!")
	got := exported(t, ofText(t, text), "stacks", "")
	if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Errorf("got %d bytes, want %d:\n%.2000s", len(got), len(want), got)
	}
	if again := exported(t, ofText(t, got), "stacks", ""); !bytes.Equal(again, got) {
		t.Error("read back, it is another text")
	}
}

// Every thread is in the profile once, with what it does.
func TestThreadProfile(t *testing.T) {
	s := ofText(t, starving(t))
	p := parsed(t, exported(t, s, "pprof", "threads"))
	var sum, waiting int64
	for _, x := range p.Sample {
		sum += x.Value[0]
		if strings.HasPrefix(x.Label["class"][0], "waiting for a task") {
			waiting += x.Value[0]
		}
	}
	if sum != 23 || waiting != 15 {
		t.Errorf("%d threads, %d of them wait for a task, want 23 and 15", sum, waiting)
	}
	f := scoped(t, exported(t, s, "speedscope", ""))
	if len(f.Profiles) != 1 || *f.Profiles[0].EndValue != 23 || f.Profiles[0].Unit != "none" {
		t.Errorf("%d profiles; the first ends at %v %s", len(f.Profiles), *f.Profiles[0].EndValue, f.Profiles[0].Unit)
	}
}

func TestNoThreads(t *testing.T) {
	s := read(t, Options{}, "testdata/access.log")
	for _, x := range [][2]string{{"stacks", ""}, {"pprof", "threads"}} {
		f := form(t, x[0])
		if _, err := f.Prepare(s, x[1]); err == nil || !strings.Contains(err.Error(), "no thread stacks: ") {
			t.Errorf("%s: %v", x[0], err)
		}
	}
}
