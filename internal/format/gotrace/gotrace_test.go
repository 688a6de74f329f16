package gotrace

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// Traces are cut at 50 places: each piece gives what it holds with a warning, or an
// error of one line.
var suite = formattest.Suite{Format: Format, Name: "trace.out", Cuts: 50,
	More: func(t testing.TB) (in [][]byte) {
		for _, name := range []string{"go1.21.13-plain-unsat", "go1.22.12-plain-unsat", "go1.25.5-tcpdep-unsat", "go1.26.8-tcpdep-unsat"} {
			in = append(in, decompressed(t, "testdata/http/"+name+".trace.gz"))
		}
		return in
	},
	Part: func(t testing.TB, _ []byte, n int, part *evidence.Bundle, err error, _ *evidence.Bundle) {
		if err == nil && (len(part.Warnings) == 0 || !part.Artifacts[0].Tail) {
			t.Error("that it was cut is not said")
		}
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for i := range b.Processors {
			spentBy(t, &b.Processors[i])
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

const corpus = "../../../../shared/corpus/go"

func readFile(t testing.TB, path string) *evidence.Bundle {
	t.Helper()
	b, err := tryFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tryFile(path string) (*evidence.Bundle, error) {
	b := evidence.NewBundle()
	err := format.Read(context.Background(), []format.Format{Format}, format.File(path), b)
	return b, err
}

// decompressed returns a fixture without its compression.
func decompressed(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// truth is what the service itself counted while a fixture was recorded.
type truth struct {
	Trace struct {
		Exact    bool             `json:"exact"`
		Started  map[string]int64 `json:"requests_started"`
		Finished map[string]int64 `json:"requests_finished"`
		UnderWay [2]int64         `json:"requests_under_way"`
		GCs      int64            `json:"gc_cycles"`
	} `json:"trace"`
}

func (t truth) sum(m map[string]int64) (n int64) {
	for path, v := range m {
		if !strings.HasPrefix(path, "/debug/") {
			n += v
		}
	}
	return n
}

// TestRequestsRecovered holds the requests read out of un-annotated traces
// against what the service counted: plain handlers, handlers that talk to a TCP
// or HTTP dependency, at ease and with more clients than processors, Go 1.21 to
// 1.26. The bound is 98 % at ease and 95 % saturated, in both directions.
func TestRequestsRecovered(t *testing.T) {
	data, err := os.ReadFile("testdata/http/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var truths map[string]truth
	if err := json.Unmarshal(data, &truths); err != nil {
		t.Fatal(err)
	}
	if len(truths) < 20 {
		t.Fatalf("only %d fixtures", len(truths))
	}
	for name, want := range truths {
		t.Run(name, func(t *testing.T) {
			b := readFile(t, filepath.Join("testdata/http", name))
			got := map[evidence.Outcome]int64{}
			for _, o := range b.Requests.Outcome.All() {
				got[o]++
			}
			bound := .98
			if strings.Contains(name, "-sat") {
				bound = .95
			}
			finished := want.sum(want.Trace.Finished)
			if want.Trace.Exact {
				if n := float64(got[evidence.OK]); n < bound*float64(finished) || n > (2-bound)*float64(finished) {
					t.Errorf("recovered %.0f complete requests, the service finished %d", n, finished)
				}
				return
			}
			// Cut at both ends: those that lie within, and those under way at either end.
			all := got[evidence.OK] + got[evidence.Unfinished]
			seen := want.Trace.UnderWay[0] + want.sum(want.Trace.Started)
			// Requests the service had not begun with yet are in the trace, not in its count.
			if connections := int64(32); float64(all) < .95*float64(seen) || all > seen+2*connections {
				t.Errorf("recovered %d requests whole or in part, the service saw %d", all, seen)
			}
		})
	}
}

// TestPathsAddUp requires of every traced request that its states sum to its
// latency, and of every runnable state that its shares sum to its duration.
func TestPathsAddUp(t *testing.T) {
	files, _ := filepath.Glob("testdata/http/*.gz")
	more, _ := filepath.Glob(corpus + "/*.trace.gz")
	for _, f := range append(files, more...) {
		b := readFile(t, f)
		for i := range b.Requests.Len() {
			var sum int64
			for s := range b.Requests.Path(i).All {
				sum += s.Dur
				if held := s.Held.Sum(); s.Kind == evidence.Runnable && held != 0 && held != s.Dur {
					t.Fatalf("%s: request %d: runnable for %d ns, held %d", f, i, s.Dur, held)
				}
			}
			if lat := b.Requests.Latency(i); sum != lat {
				t.Fatalf("%s: request %d: states sum to %d ns, latency is %d", f, i, sum, lat)
			}
		}
	}
}

func inspect(b *evidence.Bundle) string {
	var s strings.Builder
	for _, t := range b.Tables {
		fmt.Fprintf(&s, "%s\n", t.Title)
		for _, r := range t.Rows {
			fmt.Fprintf(&s, "  %s\n", strings.TrimRight(strings.Join(r, ": "), " "))
		}
	}
	kinds := map[evidence.Kind]int64{}
	for i := range b.Requests.Len() {
		for p := range b.Requests.Path(i).All {
			kinds[p.Kind] += p.Dur
		}
	}
	fmt.Fprintf(&s, "Time of all requests\n")
	for k := evidence.KindUnknown; k <= evidence.Serves; k++ {
		if kinds[k] > 0 {
			fmt.Fprintf(&s, "  %s: %d µs\n", k, kinds[k]/1000)
		}
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&s, "warning: %s (%d)\n", w.Text, w.Count)
	}
	return s.String()
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"go1.21.13-tcpdep-unsat", "go1.22.12-plain-unsat", "go1.26.8-httpdep-sat", "go1.26.8-tcpdep-middle"} {
		t.Run(name, func(t *testing.T) {
			formattest.Golden(t, "testdata/"+name+".golden", inspect(readFile(t, "testdata/http/"+name+".trace.gz")))
		})
	}
}

// TestCorpus checks the counts that are known of the recorded corpus.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile(corpus + "/EXPECTED.json")
	if err != nil {
		t.Skip("the corpus is not beside this checkout: ", err)
	}
	var expected map[string]struct {
		Tasks, Regions int
		GCs            int
		GCPerS         float64 `json:"gc_per_s"`
		AssistRanges   int     `json:"assist_ranges"`
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	for name, want := range expected {
		if !strings.HasSuffix(name, ".trace.gz") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := readFile(t, filepath.Join(corpus, name))
			w := b.Covered(-1, evidence.CoverGC)[0]
			got := b.Intervals.Select(evidence.GCCycle, -1)
			if want.GCs != 0 && len(got) != want.GCs {
				t.Errorf("%d gc cycles, want %d", len(got), want.GCs)
			}
			if rate := float64(len(got)) / (float64(w.Until-w.From) / 1e9); want.GCPerS != 0 && (rate < .99*want.GCPerS || rate > 1.01*want.GCPerS) {
				t.Errorf("%.2f gc cycles/s, want %.2f", rate, want.GCPerS)
			}
			text := inspect(b)
			for _, line := range []struct {
				want int
				text string
			}{{want.Tasks, fmt.Sprintf("tasks begun, ended: %d, %d\n", want.Tasks, want.Tasks)}, {want.Regions, fmt.Sprintf("regions: %d\n", want.Regions)}, {want.AssistRanges, fmt.Sprintf("assist ranges: %d\n", want.AssistRanges)}} {
				if line.want != 0 && !strings.Contains(text, line.text) {
					t.Errorf("want %q in\n%s", line.text, text)
				}
			}
			if want.Tasks != 0 && b.Requests.Len() != want.Tasks {
				t.Errorf("%d tasks became %d requests", want.Tasks, b.Requests.Len())
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	newer := append([]byte("go 1.99 trace\x00\x00\x00"), make([]byte, 100)...)
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"newer", "Go 1.99", newer},
		{"older", "reads Go 1.11 and later", []byte("go 1.9 trace\x00\x00\x00\x00")},
		{"header only", "execution trace of Go 1.26", []byte("go 1.26 trace\x00\x00\x00")},
	} {
		_, err := suite.Read(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
	if _, err := suite.Read([]byte("go 1.26 race\n")); !errors.Is(err, format.ErrUnknown) {
		t.Errorf("not a trace: %v", err)
	}
}

// BenchmarkRead reads a trace whole; BenchmarkBare is the decoder alone, which
// it is held against.
func BenchmarkRead(b *testing.B) {
	benchmark(b, func(data []byte) error { _, err := suite.Read(data); return err })
}

func BenchmarkBare(b *testing.B) {
	benchmark(b, func(data []byte) error {
		r, err := trace.NewReader(bytes.NewReader(data))
		for err == nil {
			_, err = r.ReadEvent()
		}
		if err == io.EOF {
			err = nil
		}
		return err
	})
}

func benchmark(b *testing.B, read func([]byte) error) {
	data := decompressed(b, "testdata/http/go1.26.8-tcpdep-sat.trace.gz")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := read(data); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMergeKeepsSumsAndEnd gives one request more states than are kept in order:
// its time up to the end of the response, and after it, must not change.
func TestMergeKeepsSumsAndEnd(t *testing.T) {
	sum := func(p evidence.Path) (d int64) {
		for s := range p.All {
			d += s.Dur
		}
		return d
	}
	r := &request{start: 100, upto: 100}
	var end int64
	for i := range int64(60_000) {
		r.addState(&evidence.Segment{Kind: evidence.Running + evidence.Kind(i%3), Dur: 1 + i%1000}, r.upto)
		if i == 40_000 {
			r.end, r.endLen = r.upto, len(r.path)
			end = r.end
		}
	}
	if r.end != end {
		t.Errorf("the response ended at %d, not at %d", end, r.end)
	}
	if len(r.path) > maxPath {
		t.Errorf("%d bytes are kept", len(r.path))
	}
	if got := sum(r.path[:r.endLen]); got != r.end-r.start {
		t.Errorf("states up to the end sum to %d ns of %d", got, r.end-r.start)
	}
	if got := sum(r.path); got != r.upto-r.start {
		t.Errorf("all states sum to %d ns of %d", got, r.upto-r.start)
	}
}
