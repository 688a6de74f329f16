// Package formattest is what the tests of every format have in common. A format's
// test file says what is its own:
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
// inputs cut in 50 to 128 places; what [Sound] demands of whatever was read, however
// damaged; and that Match and Parse agree.
//
// The package's opinion: an input a test cannot show as text is written in one (see
// Suite.Input), and what came of it is compared whole, not by samples.
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

// Suite is what a format's tests have of their own. Only Format must be there.
type Suite struct {
	Format format.Format
	Others []format.Format // of the same package: they read what Format does not

	Dir      string // of the golden files, testdata if empty
	Name     string // of the artifact, in origins and errors; empty: that of the file in the archive
	Modified int64  // when the artifact was written, ns since the epoch

	// Input makes an artifact of a file in an archive; nil: it is the artifact.
	Input func(t testing.TB, f txtarFile) []byte

	// Render writes what came of an input, nil: [Render], which shows everything.
	// Confidence says that what Match thinks of the input comes before it.
	Render     func(b *evidence.Bundle, err error) string
	Confidence bool

	// Match is what beginnings of artifacts are taken for.
	Match map[string]format.Confidence

	// Certain says that Parse reads all that Match is sure of, however little it is.
	Certain bool

	// More are inputs without a golden text: they are cut, and the fuzzer begins with them.
	More func(t testing.TB) [][]byte

	// Hold is what must be true of whatever was read, beside what is true of all
	// formats ([Sound]). Of the bundle of an error it is asked, too.
	Hold func(t testing.TB, b *evidence.Bundle, err error)

	// Part is what must be true of the first n bytes of an input that was read whole:
	// compared with a bundle of all of it.
	Part func(t testing.TB, data []byte, n int, part *evidence.Bundle, err error, whole *evidence.Bundle)

	// Cuts is how often an input is cut at most; 0: 50 to 128 times, by its length.
	Cuts int
}

// Artifact is an artifact in memory.
func Artifact(name string, data []byte) *format.Artifact {
	return &format.Artifact{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// Artifact is data as an artifact of the suite's name and time.
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

// Read reads data as unstall does: recognised by content, its envelopes taken off.
func (s *Suite) Read(data []byte) (*evidence.Bundle, error) { return s.ReadArtifact(s.Artifact(data)) }

// ReadArtifact is Read for an artifact of which more is known.
func (s *Suite) ReadArtifact(a *format.Artifact) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	return b, format.Read(context.Background(), s.allFormats(), a, b)
}

// MustRead is Read of what has no error.
func (s *Suite) MustRead(t testing.TB, data []byte) *evidence.Bundle {
	t.Helper()
	b, err := s.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Parse gives data to a format whatever it would say to it.
func (s *Suite) Parse(f format.Format, data []byte) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	a := s.Artifact(data)
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: a.Name, Modified: a.Modified}), f.Name)
	defer p.Close()
	return b, f.Parse(context.Background(), a, p)
}

// Test runs all of it.
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

// matchSurest returns what the surest of the suite's formats says of the beginning of an input.
func (s *Suite) matchSurest(head []byte) (most format.Confidence) {
	for _, f := range s.allFormats() {
		most = max(most, f.Match(head))
	}
	return most
}

func confidenceWord(c format.Confidence) string {
	return map[format.Confidence]string{format.No: "no", format.Maybe: "maybe", format.Sure: "sure"}[c]
}

// checkSound checks what must be true of a bundle, and that it holds no more rows than its
// artifact has bytes: what is kept is bounded by what was read.
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

// checkCuts reads beginnings of an input: each must give, without a panic, what is sound or an
// error of one line.
func (s *Suite) checkCuts(t *testing.T, data []byte) {
	whole, failed := s.Read(data)
	s.checkSound(t, data, whole, failed)
	most, step := s.Cuts, 1
	if most == 0 {
		most = min(max(1<<20/(len(data)+1), 50), 128)
	}
	if len(data) > most {
		step = len(data)/most | 1 // odd: not always the same place of a record
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

// Fuzz gives each format whatever the fuzzer makes of the inputs.
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

// isEnveloped says whether the frame takes something off the data, so that Match would see other
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

// oneLine says whether an error is what users are shown: one line that says something.
func oneLine(err error) bool { return err.Error() != "" && !strings.Contains(err.Error(), "\n") }
