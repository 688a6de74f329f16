package capture

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

var start = time.Date(2020, 11, 21, 14, 2, 10, 0, time.UTC)

var info = Info{Tool: "unstall test", Host: "gw-1", Target: "http://bob:x@gw:6060", Start: start, ExpectedRate: 12.5,
	Command: []string{"unstall", "record", "--token", "x", "gw"}}

var gateway = evidence.Subject{Name: "gateway", PID: 4711, StartTime: 5e18, Runtime: "go", Version: "go1.26.8", CPUs: 2, Container: "c"}

// begin starts a capture in a new directory.
func begin(t testing.TB) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gw.unstall")
	w, err := Create(path, info)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w, path
}

func create(t testing.TB, w *Writer, m Meta) io.WriteCloser {
	t.Helper()
	a, err := w.Create(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func write(t testing.TB, a io.Writer, b []byte) {
	t.Helper()
	if n, err := a.Write(b); n != len(b) || err != nil {
		t.Fatal(n, err)
	}
}

func open(t testing.TB, path string) *Capture {
	t.Helper()
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// contents reads every artifact except those that only claim to be gzip.
func contents(t testing.TB, c *Capture) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, a := range c.Artifacts() {
		if strings.HasSuffix(a.Name, ".gz") {
			continue
		}
		r, err := a.Reader()
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		_ = r.Close()
		all[a.Name] = string(b)
	}
	return all
}

// noise is data that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func TestCapture(t *testing.T) {
	w, path := begin(t)
	log := create(t, w, Meta{Name: "access.log", Probe: "linux", Origin: "/var/log/access.log", About: gateway, Lines: true})
	trace := create(t, w, Meta{Name: "trace-0001.out", Series: "trace", Probe: "gopprof", Origin: "http://h/?token=x", About: gateway})
	zipped := create(t, w, Meta{Name: "cpu-0001.pb.gz", Probe: "gopprof"})
	host := create(t, w, Meta{Name: "procfs.txt", About: evidence.Subject{Kind: evidence.Host, Name: "gw-1"}})
	empty := create(t, w, Meta{Name: "empty.txt"})

	big := bytes.Repeat([]byte("go 1.26 trace\x00\x01\x02 "), 100_000) // several chunks
	write(t, trace, big)
	write(t, log, []byte("GET /a?tok"))
	write(t, log, []byte("en=s3cr3t 200\nGET /b 200\nGET /c"))
	gz := append([]byte("\x1f\x8b"), noise(600<<10)...)
	write(t, zipped, gz)
	write(t, host, []byte("cpu 1 2 3\n"))
	w.Warnf("profiling already in use at %s", "http://h/?token=x")
	w.Warnf("profiling already in use at %s", "http://h/?token=x")
	w.Lack(Lack{"disk waits", "needs root", "sudo unstall 4711"}, Lack{What: "environment", Why: "belongs to app"})
	for _, a := range []io.Closer{log, trace, zipped, host, empty, log} {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Write([]byte("late")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a write after Close: %v", err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Create(Meta{Name: "x"}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("an artifact after Close: %v", err)
	}

	c := open(t, path)
	if !c.Ended || c.End.Before(start) {
		t.Errorf("ended %v at %v", c.Ended, c.End)
	}
	want := map[string]string{
		"access.log":     "GET /a?token=[redacted] 200\nGET /b 200\nGET /c",
		"trace-0001.out": string(big), "procfs.txt": "cpu 1 2 3\n",
	}
	got := make(map[string]string)
	var names []string
	for _, a := range c.Artifacts() {
		names = append(names, a.Name)
		if a.Modified < start.UnixNano() || a.Size <= 0 {
			t.Errorf("%s: %d bytes, modified %d", a.Name, a.Size, a.Modified)
		}
		r, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		stored, err := io.ReadAll(r)
		if err != nil || int64(len(stored)) != a.Size || r.Close() != nil {
			t.Errorf("%s: %d of %d bytes: %v", a.Name, len(stored), a.Size, err)
		}
		if a.Name == "cpu-0001.pb.gz" {
			if !bytes.Equal(stored, gz) {
				t.Error("what was compressed already was changed")
			}
			continue
		}
		z, _ := zstd.NewReader(nil)
		plain, err := z.DecodeAll(stored, nil) // consecutive frames
		z.Close()
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		got[a.Name] = string(plain)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"trace-0001.out", "access.log", "cpu-0001.pb.gz", "procfs.txt"}, names); d != "" {
		t.Error(d)
	}
	if a := c.Artifacts()[0]; a.About != gateway || a.Series != "trace" {
		t.Errorf("%+v, series %q", a.About, a.Series)
	}
	if a := c.Artifacts()[3]; a.About != (evidence.Subject{Kind: evidence.Host, Name: "gw-1"}) {
		t.Errorf("%+v", a.About)
	}
	if m := c.artifacts[0].meta; m.Probe != "gopprof" || m.Origin != "http://h/?token=[redacted]" {
		t.Errorf("%+v", m)
	}
	redacted := info
	redacted.Target, redacted.Command = "http://bob:[redacted]@gw:6060", []string{"unstall", "record", "--token", "[redacted]", "gw"}
	if d := cmp.Diff(redacted, c.Info) +
		cmp.Diff([]string{"profiling already in use at http://h/?token=[redacted]"}, c.Warnings) +
		cmp.Diff([]Lack{{"disk waits", "needs root", "sudo unstall 4711"}, {What: "environment", Why: "belongs to app"}}, c.Lacks); d != "" {
		t.Error(d)
	}
}

// Package format reads the artifacts of a capture.
func TestArtifactsAreFormats(t *testing.T) {
	w, path := begin(t)
	log := create(t, w, Meta{Name: "app.log", Series: "s", About: gateway, Lines: true})
	write(t, log, []byte("one\ntwo\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bundle := evidence.NewBundle()
	lines := format.Format{Name: "lines", Match: func([]byte) format.Confidence { return format.Sure },
		Parse: func(_ context.Context, a *format.Artifact, b *evidence.Builder) error {
			return a.Lines(func(l format.Line) bool { b.Warnf(l.Number, "%s", l.Text); return true })
		}}
	for _, a := range open(t, path).Artifacts() {
		if err := format.Read(t.Context(), []format.Format{lines}, a, bundle); err != nil {
			t.Error(err)
		}
	}
	if a := bundle.Artifacts[0]; a.About != gateway || a.Series != "s" || a.Tail || len(bundle.Warnings) != 2 {
		t.Errorf("%+v, %d lines", a, len(bundle.Warnings))
	}
}

func TestFileIsPrivateAndTar(t *testing.T) {
	w, path := begin(t)
	write(t, create(t, w, Meta{Name: "a.txt"}), []byte("x\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !Is(b) || Is(b[:200]) || Is(bytes.ToUpper(b)) || len(b)%512 != 0 {
		t.Errorf("a capture does not look like one: %v", err)
	}
	var names []string
	r := tar.NewReader(bytes.NewReader(b))
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if d := cmp.Diff([]string{"unstall.json", "a.txt/000001.zst", "events/000001.json"}, names[:min(3, len(names))]); d != "" {
		t.Error(d)
	}
	if _, err := Create(path, info); !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "\n") {
		t.Errorf("over an existing capture: %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(b, after) {
		t.Error("an existing capture was changed")
	}
	if _, err := Create(filepath.Join(path, "x"), info); err == nil {
		t.Error("a capture below a file")
	}
}

func TestNames(t *testing.T) {
	w, path := begin(t)
	var want []string
	for _, c := range []struct{ name, want string }{
		{"access.log", "access.log"}, {"access.log", "access-2.log"}, {"Access.log", "Access-3.log"}, {"access.log", "access-4.log"},
		{"cpu.pb.gz", "cpu.pb.gz"}, {"cpu.pb.gz", "cpu-2.pb.gz"},
		{"../../etc/passwd", ".._.._etc_passwd"}, {"..", "artifact"}, {"", "artifact-2"},
		{"events", "events-2"}, {"unstall.json", "unstall-2.json"}, {"größe\n\xff.log", "größe__.log"},
		{strings.Repeat("ü", 200), strings.Repeat("ü", 40)},
	} {
		write(t, create(t, w, Meta{Name: c.name}), []byte("more than 16 bytes\n"))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		want = append(want, c.want)
	}
	var got []string
	for _, a := range open(t, path).Artifacts() {
		got = append(got, a.Name)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A capture can be read while it is written, up to the last Flush.
func TestOpenWhileWriting(t *testing.T) {
	w, path := begin(t)
	log := create(t, w, Meta{Name: "a.log", Lines: true})
	raw := create(t, w, Meta{Name: "b.out"})
	for i := range 5 {
		write(t, log, fmt.Appendf(nil, "%d\nbegun", i))
		write(t, raw, []byte("more than 16 bytes\n"))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		c := open(t, path)
		if c.Ended || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "the recording still runs") {
			t.Errorf("ended %v, %q", c.Ended, c.Warnings)
		}
		got := contents(t, c)
		if n := strings.Count(got["a.log"], "\n"); n != i+1 || strings.Count(got["b.out"], "\n") != i+1 {
			t.Errorf("after %d: %q", i, got)
		}
	}
}

func TestConcurrentWriters(t *testing.T) {
	w, path := begin(t)
	var all sync.WaitGroup
	want := make(map[string]string)
	for i := range 8 {
		name := fmt.Sprintf("a%d.log", i)
		a := create(t, w, Meta{Name: name, Lines: i%2 == 0})
		line := fmt.Sprintf("line of %d, %s\n", i, strings.Repeat("x", 1000))
		want[name] = strings.Repeat(line, 500)
		all.Go(func() {
			for j := range 500 {
				_, _ = io.WriteString(a, line)
				if j%100 == 0 {
					_ = w.Flush()
					w.Warnf("at %d", j)
				}
			}
			if i%3 == 0 {
				_ = a.Close()
			}
		})
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	if d := cmp.Diff(want, contents(t, c)); d != "" || len(c.Warnings) != 5 {
		t.Errorf("%d warnings, %.1000s", len(c.Warnings), d)
	}
}

func TestLongLinesAreCut(t *testing.T) {
	w, path := begin(t)
	a := create(t, w, Meta{Name: "a.log", Lines: true})
	for range 20 {
		write(t, a, bytes.Repeat([]byte("x"), 100<<10))
	}
	write(t, a, []byte(" password=hunter2\nnext\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, open(t, path))["a.log"]; got != strings.Repeat("x", maxLine)+" [cut]\nnext\n" {
		t.Errorf("%d bytes, ends in %q", len(got), got[len(got)-20:])
	}
}

func TestWarningsAreBounded(t *testing.T) {
	w, path := begin(t)
	for i := range maxEvents + 500 {
		w.Warnf("warning %d", i)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if c := open(t, path); !c.Ended || len(c.Warnings) != maxEvents+1 {
		t.Errorf("ended %v, %d warnings", c.Ended, len(c.Warnings))
	}
}

// A capture that another program packed again lacks the notes, and one line says so.
func TestPackedAgain(t *testing.T) {
	w, path := begin(t)
	write(t, create(t, w, Meta{Name: "a.txt"}), []byte("x\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again.unstall")
	f, err := os.Create(again)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, out := tar.NewReader(bytes.NewReader(b)), tar.NewWriter(f)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = out.WriteHeader(&tar.Header{Name: h.Name, Size: h.Size, Mode: h.Mode, ModTime: h.ModTime, Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = io.Copy(out, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(again); err == nil || !strings.Contains(err.Error(), "packed again") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, %v", c, err)
	}
}
