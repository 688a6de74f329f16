// Package formattest has what the tests of all formats share. A format's
// test file has only its own parts:
//
//	var suite = formattest.Suite{
//		Format: Format,
//		Match:  map[string]format.Confidence{"first line of one\n": format.Sure, "of another": format.No},
//	}
//
//	func TestFormat(t *testing.T)       { suite.Test(t) }
//	func FuzzParse(f *testing.F)        { suite.Fuzz(f) }
//	func BenchmarkParse(b *testing.B)   { suite.Benchmark(b, large) }
//
// and has: golden texts of all inputs in testdata, rewritten by -update; the same
// inputs cut in 50 to 128 places; the checks of [Sound] on everything that is read, even if
// damaged; and a check that Match and Parse agree.
//
// The package's opinion: an input that cannot be shown as text is written in a text notation (see
// Suite.Input), and results are compared as a whole, not by samples.
package formattest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Suite is a format's own part of its tests. Only Format is required.
type Suite struct {
	Format format.Format
	Others []format.Format // of the same package: they read what Format does not read

	Dir      string // of the golden files, testdata if empty
	Name     string // of the artifact, in origins and errors; empty: the file's name in the archive
	Modified int64  // when the artifact was written, ns since the epoch

	// Input makes an artifact from a file in an archive; nil: the file is the artifact.
	Input func(t testing.TB, f txtarFile) []byte

	// Render writes the result of an input, nil: [Render], which shows everything.
	// Confidence puts the answer of Match in front of the result.
	Render     func(b *evidence.Bundle, err error) string
	Confidence bool

	// Match maps beginnings of artifacts to the expected answers.
	Match map[string]format.Confidence

	// Certain says that Parse reads everything that Match is sure of, even the shortest.
	Certain bool

	// More are inputs without a golden text: they are cut, and the fuzzer starts with them.
	More func(t testing.TB) [][]byte

	// Hold checks every bundle beyond the checks for all
	// formats ([Sound]). It also checks the bundle of a failed read.
	Hold func(t testing.TB, b *evidence.Bundle, err error)

	// Part checks the bundle of the first n bytes of a complete input against the
	// bundle of the whole input.
	Part func(t testing.TB, data []byte, n int, part *evidence.Bundle, err error, whole *evidence.Bundle)

	// Cuts is the greatest number of cuts of an input; 0: 50 to 128, by its length.
	Cuts int
}

// Artifact returns an artifact in memory.
func Artifact(name string, data []byte) *format.Artifact {
	return &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// Artifact returns data as an artifact with the suite's name and time.
func (s *Suite) Artifact(data []byte) *format.Artifact {
	name := s.Name
	if name == "" {
		name = s.Format.Name
	}
	a := Artifact(name, data)
	a.Modified = s.Modified
	return a
}

func (s *Suite) allFormats() []format.Format { return append([]format.Format{s.Format}, s.Others...) }

// Read reads data as unstall does: it recognises the content and removes envelopes.
func (s *Suite) Read(data []byte) (*evidence.Bundle, error) { return s.ReadArtifact(s.Artifact(data)) }

// ReadArtifact is Read for an artifact with further attributes.
func (s *Suite) ReadArtifact(a *format.Artifact) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	return b, format.Read(context.Background(), s.allFormats(), a, b)
}

// MustRead is Read without an error.
func (s *Suite) MustRead(t testing.TB, data []byte) *evidence.Bundle {
	t.Helper()
	b, err := s.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Parse gives data to a format without asking Match.
func (s *Suite) Parse(f format.Format, data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	a := s.Artifact(data)
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: a.Name, Modified: a.Modified}), f.Name)
	defer p.Close()
	return b, f.Parse(context.Background(), a, p)
}

// Test runs all checks.
func (s *Suite) Test(t *testing.T) {
	inputs := s.collectInputs(t)
	if len(inputs) == 0 {
		t.Fatal("no inputs: neither archives in testdata nor More")
	}
	t.Run("golden", s.checkGolden)
	t.Run("match", func(t *testing.T) {
		for head, want := range s.Match {
			if got := s.matchSurest([]byte(head)); got != want {
				t.Errorf("%.80q: %s, want %s", head, confidenceWord(got), confidenceWord(want))
			}
		}
	})
	t.Run("cut", func(t *testing.T) {
		for _, data := range inputs {
			s.checkCuts(t, data)
		}
	})
}

// matchSurest returns the surest answer of the suite's formats to the beginning of an input.
func (s *Suite) matchSurest(head []byte) (most format.Confidence) {
	for _, f := range s.allFormats() {
		most = max(most, f.Match(head))
	}
	return most
}

func confidenceWord(c format.Confidence) string {
	return map[format.Confidence]string{format.No: "no", format.Maybe: "maybe", format.Sure: "sure"}[c]
}

// checkSound checks a bundle by [Sound], and that it has no more rows than its
// artifact has bytes: the input bounds what is kept.
func (s *Suite) checkSound(t testing.TB, data []byte, b *evidence.Bundle, err error) {
	t.Helper()
	Sound(t, b, err)
	if compressed := bytes.HasPrefix(data, []byte("\x1f\x8b")) || bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")); !compressed && countRows(b) > len(data) {
		t.Errorf("%d rows of %d bytes", countRows(b), len(data))
	}
	if s.Hold != nil {
		s.Hold(t, b, err)
	}
}

// checkCuts reads beginnings of an input: each must give, without a panic, a sound bundle or an
// error of one line.
func (s *Suite) checkCuts(t *testing.T, data []byte) {
	whole, failed := s.Read(data)
	s.checkSound(t, data, whole, failed)
	most, step := s.Cuts, 1
	if most == 0 {
		most = min(max(1<<20/(len(data)+1), 50), 128)
	}
	if len(data) > most {
		step = len(data)/most | 1 // odd: a different place in each record
	}
	for n := 0; n < len(data) && !t.Failed(); n += step {
		s.matchSurest(data[:n])
		part, err := s.Read(data[:n:n])
		s.checkSound(t, data[:n], part, err)
		if failed == nil && s.Part != nil {
			s.Part(t, data, n, part, err, whole)
		}
		if t.Failed() {
			t.Logf("cut at %d of %d: …%q", n, len(data), data[max(0, n-60):n])
		}
	}
}

// Fuzz gives each format the fuzzer's variations of the inputs.
func (s *Suite) Fuzz(f *testing.F) {
	for _, data := range s.collectInputs(f) {
		f.Add(data[:min(len(data), 64<<10)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, x := range s.allFormats() {
			sure := x.Match(data) == format.Sure
			b, err := s.Parse(x, data)
			if s.Certain && sure && err != nil && len(data) < format.HeadSize && !isEnveloped(data) {
				t.Fatalf("sure of it, then %v", err)
			}
			s.checkSound(t, data, b, err)
			b.Unify()
			b.Align()
		}
	})
}

// isEnveloped says whether the frame removes an envelope from the data, so that Match would see other
// bytes.
func isEnveloped(data []byte) bool {
	a := Artifact("", data)
	_ = a.Lines(func(format.Line) bool { return false })
	return len(a.Envelopes()) > 0
}

// Benchmark reads data whole, as often as asked; its figure is MB/s of the artifact.
func (s *Suite) Benchmark(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(data); err != nil {
			b.Fatal(err)
		}
	}
}

// oneLine says whether an error has the form that users see: one line with text.
func oneLine(err error) bool { return err.Error() != "" && !strings.Contains(err.Error(), "\n") }
