package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

const sick = "../../../lab/go-ballast/recorded/sick"

// read reads files by their base names, so that no golden file has a path in it.
func read(t testing.TB, opt Options, names ...string) *Source {
	return readOf(t, opt, evidence.Subject{}, names...)
}

// readOf is read of files that are known to be of one process.
func readOf(t testing.TB, opt Options, about evidence.Subject, names ...string) *Source {
	t.Helper()
	b := incident.NewBundle()
	for _, name := range names {
		a := &format.Artifact{Name: filepath.Base(name), About: about, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
		if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
			t.Fatal(err)
		}
	}
	return Of(b, opt)
}

func recorded(t testing.TB, opt Options) *Source {
	return read(t, opt, sick+"/access.log.gz", sick+"/cpu.pb.gz", sick+"/trace.out.gz")
}

// moments selects a window of the recording in which one GC cycle begins.
func moments() Options {
	at := time.Date(2026, 11, 21, 3, 18, 10, 350e6, time.UTC)
	return Options{Since: at, Until: at.Add(4 * time.Millisecond), SLO: time.Millisecond}
}

func form(t testing.TB, name string) Form {
	t.Helper()
	f, err := Choose(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// exported returns an export of a part, "" for the default one.
func exported(t testing.TB, s *Source, name, part string) []byte {
	t.Helper()
	f := form(t, name)
	part, err := f.Part(part)
	if err != nil {
		t.Fatal(err)
	}
	write, err := f.Prepare(s, part)
	if err != nil {
		t.Fatal(err)
	}
	var w bytes.Buffer
	if err := write(&w); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

func TestGolden(t *testing.T) {
	for _, c := range []struct{ form, part, file string }{
		{"csv", "requests", "requests.csv"},
		{"csv", "intervals", "intervals.csv"},
		{"csv", "series", "series.csv"},
		{"speedscope", "", "sick.speedscope.json"},
		{"perfetto", "", "perfetto.txt"},
		{"pprof", "slow", "slow.txt"},
	} {
		t.Run(c.file, func(t *testing.T) {
			opt := moments()
			s := read(t, opt, sick+"/trace.out.gz")
			got := exported(t, s, c.form, c.part)
			switch c.form {
			case "perfetto":
				got = []byte(decodeTracks(t, got).String())
			case "pprof":
				p, err := profile.ParseData(got)
				if err != nil {
					t.Fatal(err)
				}
				got = []byte(p.String())
			}
			golden := filepath.Join("testdata", c.file)
			if *goldentest.Update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; if the new one is right: %s", golden, goldentest.Command())
			}
		})
	}
}

// The same evidence gives the same bytes.
func TestSame(t *testing.T) {
	one, two := recorded(t, Options{}), recorded(t, Options{})
	for _, f := range Forms {
		if f.Many {
			continue // internal/present/export/parquet has its own
		}
		for _, part := range append([]string{""}, f.Parts...) {
			if part == "heap" || part == "mutex" || part == "block" || part == "goroutine" || strings.HasPrefix(part, "threads") || part == "allocations" || part == "on-cpu" || part == "off-cpu" || f.Name == "stacks" {
				continue // not in the recording
			}
			if !bytes.Equal(exported(t, one, f.Name, part), exported(t, two, f.Name, part)) {
				t.Errorf("%s %s: two exports of one recording differ", f.Name, part)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	access := "testdata/access.log"
	for _, c := range []struct{ form, part, file, want string }{
		{"pprof", "cpu", access, "no CPU profile: "},
		{"pprof", "slow", access, "no requests with known states: "},
		{"pprof", "heap", access, "no heap profile: "},
		{"pprof", "mutex", sick + "/cpu.pb.gz", "no mutex profile with samples: "},
		{"pprof", "block", access, "no block profile with samples: "},
		{"pprof", "goroutine", access, "no goroutine profile: "},
		{"pprof", "allocations", access, "no allocations recorded: "},
		{"speedscope", "", access, "no CPU profile, no requests with known states, no thread stacks and no allocations: "},
		{"perfetto", "", sick + "/cpu.pb.gz", "no events with a time: "},
		{"csv", "requests", sick + "/cpu.pb.gz", "no requests: "},
		{"csv", "intervals", access, "no GC cycles, pauses or other intervals: "},
		{"csv", "series", sick + "/cpu.pb.gz", "no figures over time: "},
	} {
		f := form(t, c.form)
		_, err := f.Prepare(read(t, Options{}, c.file), c.part)
		var missing *Missing
		if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), c.want) || missing.Do == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s of %s: %v, want one line that begins with %q", c.form, c.part, c.file, err, c.want)
		}
	}
	_, err := preparePprof(recorded(t, Options{SLO: time.Hour}), "slow")
	if err == nil || !strings.Contains(err.Error(), "no slow requests: none of ") {
		t.Errorf("nothing slow: %v", err)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ to, file, want string }{
		{"", "x.pb.gz", "pprof"}, {"", "X.SPEEDSCOPE.JSON", "speedscope"}, {"", "a.b.pftrace", "perfetto"}, {"", "dir.pb.gz/x.csv", "csv"},
		{"csv", "x.pb.gz", "csv"}, {"perfetto", "", "perfetto"},
	} {
		if f, err := Choose(c.to, c.file); err != nil || f.Name != c.want {
			t.Errorf("%+v: %s, %v", c, f.Name, err)
		}
	}
	for _, c := range []struct{ to, file, want string }{
		{"", "", "no format given: add --to pprof|speedscope|perfetto|csv|stacks|parquet"},
		{"", "-", "no format given: add --to pprof|speedscope|perfetto|csv|stacks|parquet"},
		{"", "x.json", "-o x.json: the file name gives no format: add --to pprof|speedscope|perfetto|csv|stacks|parquet"},
		{"svg", "x.csv", "--to svg: unknown format: give pprof|speedscope|perfetto|csv|stacks|parquet"},
	} {
		if _, err := Choose(c.to, c.file); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
	f := form(t, "csv")
	if _, err := f.Part("rows"); err == nil || err.Error() != "--table rows: unknown value: give requests|intervals|series" {
		t.Error(err)
	}
}

// A reader that has seen enough ends an export.
func TestWriteError(t *testing.T) {
	s := recorded(t, Options{})
	for _, f := range Forms {
		if f.Many {
			continue // internal/present/export/parquet has its own
		}
		if f.Name == "stacks" {
			s = ofText(t, starving(t))
		}
		part, _ := f.Part("")
		write, err := f.Prepare(s, part)
		if err != nil {
			t.Fatal(err)
		}
		w := &closed{left: 100}
		if err := write(w); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v, want the error of the writer", f.Name, err)
		}
		if w.after > 1 {
			t.Errorf("%s: wrote %d times more after the writer had failed", f.Name, w.after)
		}
	}
}

var errClosed = errors.New("closed")

// closed is a writer that fails after some bytes.
type closed struct{ left, after int }

func (c *closed) Write(p []byte) (int, error) {
	if c.left < 0 {
		c.after++
	}
	if c.left -= len(p); c.left < 0 {
		return 0, errClosed
	}
	return len(p), nil
}

func BenchmarkExport(b *testing.B) {
	s := recorded(b, Options{})
	for _, f := range Forms {
		if f.Many {
			continue // internal/present/export/parquet has its own
		}
		for _, part := range append([]string{}, f.Parts...) {
			bench(b, s, f, part)
		}
		if len(f.Parts) == 0 {
			bench(b, s, f, "")
		}
	}
}

func bench(b *testing.B, s *Source, f Form, part string) {
	if _, err := f.Prepare(s, part); err != nil {
		return // not in the recording
	}
	b.Run(strings.TrimSuffix(f.Name+"/"+part, "/"), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			write, err := f.Prepare(s, part)
			if err != nil {
				b.Fatal(err)
			}
			var n counted
			if err := write(&n); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(n))
		}
	})
}

type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
