package format

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

func linesOf(text []byte) *Artifact {
	return &Artifact{Name: "x", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

// TestSpread checks that Spread gives the same lines as Lines, in order, with any number of workers.
func TestSpread(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	var long bytes.Buffer
	for i := range 30_000 {
		fmt.Fprintf(&long, "%d %s\n", i, strings.Repeat("x", source.IntN(200)))
		if i%10_000 == 0 {
			long.WriteString(strings.Repeat("y", 2*batchBytes) + "\n\n")
		}
	}
	type seen struct{ kept []byte }
	for name, text := range map[string][]byte{"none": nil, "one": []byte("a\n"), "no end": []byte("a\nb"), "long": long.Bytes(),
		"short": bytes.Repeat([]byte("\r\n"), 40*batchLines+7), "longest": bytes.Repeat([]byte("z"), MaxLine), "as long as kept": append(bytes.Repeat([]byte("z"), MaxLine), "\r\nb\n"...),
		"too long": append(bytes.Repeat([]byte("z"), 3*MaxLine), "\nb"...), "too long at the end": append([]byte("a\n"), bytes.Repeat([]byte("z"), 2*MaxLine)...)} {
		for _, processors := range []int{1, 2, 5} {
			var want, got []string
			one, all := linesOf(text), linesOf(text)
			if err := one.Lines(func(l Line) bool { want = append(want, fmt.Sprint(l.Number, l.Long, string(l.Text))); return true }); err != nil {
				t.Fatal(err)
			}
			was := runtime.GOMAXPROCS(processors)
			err := Spread(all, func() func(Line, *seen) {
				return func(l Line, s *seen) { s.kept = append(s.kept[:0], l.Text...) }
			}, func(l Line, s *seen) bool {
				if !bytes.Equal(s.kept, l.Text) {
					t.Errorf("line %d was taken with what another one is", l.Number)
				}
				got = append(got, fmt.Sprint(l.Number, l.Long, string(l.Text)))
				return true
			})
			runtime.GOMAXPROCS(was)
			if one.unended != all.unended {
				t.Errorf("%s, %d processors: that its last line has no end is %v", name, processors, all.unended)
			}
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s, %d processors: %d lines, want %d; %v", name, processors, len(got), len(want), err)
			}
		}
	}
}

func TestSpreadEnds(t *testing.T) {
	text := bytes.Repeat([]byte("line\n"), 200_000)
	was := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(was)
	worker := func() func(Line, *int) { return func(Line, *int) {} }
	taken := 0
	if err := Spread(linesOf(text), worker, func(Line, *int) bool { taken++; return taken < 5000 }); err != nil || taken != 5000 {
		t.Errorf("%d lines were taken, want 5000; %v", taken, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("what a worker panics with does not come to the caller")
		}
	}()
	_ = Spread(linesOf(text), func() func(Line, *int) {
		return func(l Line, _ *int) {
			if l.Number == 150_000 {
				panic("bad line")
			}
		}
	}, func(Line, *int) bool { return true })
}
