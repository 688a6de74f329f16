package incident_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/operate/compare"
)

// recordings are of each runtime: a trace beside logs, looks at threads, logs alone.
var recordings = []string{"go.gc-rate", "dotnet.threadpool-starvation", "jvm.lock-contention"}

func files(t *testing.T, fixture string) (names []string) {
	t.Helper()
	dir := filepath.Join("../../diagnose/check/testdata", fixture, "sick")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "truth.json" {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

func read(t *testing.T, b *evidence.Bundle, names ...string) *evidence.Bundle {
	t.Helper()
	for _, name := range names {
		if err := incident.Read(t.Context(), format.File(name), b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// said is a diagnosis as JSON.
func said(t *testing.T, b *evidence.Bundle, opt diagnose.Options) string {
	t.Helper()
	d, err := diagnose.Run(context.Background(), b, opt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// measured are the figures of the runs in a bundle as JSON.
func measured(t *testing.T, b *evidence.Bundle) string {
	t.Helper()
	text, err := json.Marshal(compare.Measure(b, "run", compare.MeasureOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rows are what a bundle holds.
func rows(b *evidence.Bundle) string {
	r, v, s := &b.Requests, &b.Intervals, &b.Samples
	var paths []evidence.Path
	for i := range r.Len() {
		paths = append(paths, r.Path(i))
	}
	return fmt.Sprint(b.Artifacts, b.Clocks, b.Subjects, column(&r.Subject), column(&r.Intended), column(&r.Start), column(&r.End), column(&r.Route), paths, column(&v.Subject), column(&v.Clock), v.Start, v.End, s.Subject, s.Time,
		b.Series, b.Facts, b.Coverage, b.Warnings)
}

func column[T ~int32 | ~int64 | ~uint8](c *evidence.Column[T]) (all []T) {
	for _, v := range c.All() {
		all = append(all, v)
	}
	return all
}

// TestTwice asks one bundle again and again, about another time in between, as watching does.
func TestTwice(t *testing.T) {
	for _, fixture := range recordings {
		t.Run(fixture, func(t *testing.T) {
			b := read(t, incident.NewBundle(), files(t, fixture)...)
			raw := b.Clone()
			runs := measured(t, b)
			first := said(t, b, diagnose.Options{})
			i := incident.Of(b, incident.Options{})
			said(t, b, diagnose.Options{Since: time.Unix(0, i.Whole.From/2+i.Whole.Until/2)})
			if again := said(t, b, diagnose.Options{}); again != first {
				t.Errorf("a second diagnosis differs from the first:\n%s\n%s", first, again)
			}
			if again := said(t, b, diagnose.Options{Baseline: b}); again != said(t, b, diagnose.Options{Baseline: b}) {
				t.Error("a second diagnosis beside a baseline differs from the first")
			}
			if again := measured(t, b); again != runs {
				t.Errorf("figures measured after a diagnosis differ from those before:\n%s\n%s", runs, again)
			}
			if j := incident.Of(b, incident.Options{}); rows(i.Bundle) != rows(j.Bundle) {
				t.Error("a second incident of the bundle differs from the first")
			}
			if rows(raw) != rows(b) {
				t.Error("the bundle is not what was read any more")
			}
		})
	}
}

// TestMore reads more files after an answer: what is said then is what is said of all at once.
func TestMore(t *testing.T) {
	for _, fixture := range recordings {
		t.Run(fixture, func(t *testing.T) {
			names := files(t, fixture)
			b := read(t, incident.NewBundle(), names[:2]...)
			said(t, b, diagnose.Options{})
			read(t, b, names[2:]...)
			if got, want := said(t, b, diagnose.Options{}), said(t, read(t, incident.NewBundle(), names...), diagnose.Options{}); got != want {
				t.Errorf("read in two steps:\n%s\nat once:\n%s", got, want)
			}
		})
	}
}

// TestNothing asks about a time of which nothing is there.
func TestNothing(t *testing.T) {
	b := read(t, incident.NewBundle(), files(t, recordings[0])...)
	i := incident.Of(b, incident.Options{Since: time.Unix(1, 0), Until: time.Unix(2, 0)})
	if !i.Nothing() || i.Whole.Until <= i.Whole.From {
		t.Errorf("nothing is there of 1970: %v, and the evidence is of %v", i.Nothing(), i.Whole)
	}
	if _, err := diagnose.Run(context.Background(), b, diagnose.Options{Since: time.Unix(1, 0), Until: time.Unix(2, 0)}); err == nil || !strings.Contains(err.Error(), "no evidence lies between") {
		t.Errorf("%v, which does not say so", err)
	}
}

// Of a log that was found, other lines than expected are no warning; of what a probe
// asked for they are.
func TestFoundLog(t *testing.T) {
	for _, found := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "x.unstall")
		w, err := capture.Create(path, capture.Info{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(capture.Meta{Name: "service.log", Lines: true, Found: found})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "once upon a time")
		if err := errors.Join(f.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		b := read(t, incident.NewBundle(), path)
		if warned := len(b.Warnings) > 0; warned == found {
			t.Errorf("found %v: warnings %+v", found, b.Warnings)
		}
	}
}
