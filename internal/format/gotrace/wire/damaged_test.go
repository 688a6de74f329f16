package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/gotrace/wire"
	"github.com/unstall/unstall/internal/format/gotrace/wire/wiretest"
)

// samples are a trace of each version.
func samples(t testing.TB) (all [][]byte) {
	for _, name := range []string{"go1.22.12-plain-unsat", "go1.24.11-tcpdep-unsat", "go1.25.5-tcpdep-unsat", "go1.26.8-plain-unsat"} {
		all = append(all, content(t, "../testdata/http/"+name+".trace.gz"))
	}
	return all
}

// read reads a trace to its end.
func read(t testing.TB, data []byte) (events int, err error) {
	r, err := wire.NewReader(bytes.NewReader(data))
	b := wire.NewBatch(wire.Few)
	var last int64
	for err == nil {
		if err = r.Read(b); err != nil {
			break
		}
		events += len(b.Events)
		for i := range b.Events {
			e := &b.Events[i]
			if e.Time <= last && events > len(b.Events) {
				t.Fatalf("an event at %d after one at %d", e.Time, last)
			}
			last = e.Time
			if g := b.Generation; g != nil {
				b.Text(e.Text)
				b.Text(e.Text2)
				for _, s := range [2]uint32{e.Stack, e.By} {
					for _, f := range g.Stack(s) {
						g.Text(g.Frame(f).Func)
						g.Text(g.Frame(f).File)
					}
				}
			}
		}
	}
	if err == io.EOF {
		return events, nil
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of several lines: %q", err)
	}
	return events, err
}

// TestCut cuts a short trace at every byte: what was decoded before is kept, and a trace that
// ends within something does not seem whole.
func TestCut(t *testing.T) {
	short, err := wiretest.Record(7, 0)
	if err != nil {
		t.Skip(err)
	}
	for n := range len(short) {
		events, err := read(t, short[:n])
		if n > wire.HeaderSize && err == nil {
			t.Fatalf("cut at %d of %d it seems whole, with %d events", n, len(short), events)
		}
	}
	for _, data := range samples(t) {
		whole, err := read(t, data)
		if err != nil {
			t.Fatal(err)
		}
		before := 0
		for n := 0; n < len(data); n += len(data)/40 | 1 {
			events, err := read(t, data[:n])
			if err == nil && events == whole {
				t.Fatalf("cut at %d of %d it seems whole", n, len(data))
			}
			if err == nil && version(data) == 26 && n > wire.HeaderSize {
				t.Fatalf("cut at %d of %d it seems to end there", n, len(data))
			}
			if events < before && version(data) == 26 { // before, the part of a generation may be decoded as far as its stacks are not asked for
				t.Fatalf("cut at %d there are %d events, cut before it %d", n, events, before)
			}
			before = events
		}
	}
}

func TestSameAsCut(t *testing.T) {
	for _, data := range samples(t) {
		for n := wire.HeaderSize; n < len(data); n += len(data)/20 | 1 {
			same(t, data[:n], true)
		}
	}
}

func TestSameAsFlipped(t *testing.T) {
	for _, data := range samples(t) {
		rng := rand.New(rand.NewPCG(1, uint64(len(data))))
		for range 40 {
			damaged := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				damaged[wire.HeaderSize+rng.IntN(len(damaged)-wire.HeaderSize)] ^= 1 << rng.IntN(8)
			}
			same(t, damaged, true)
		}
	}
}

// slowly gives a trace a few bytes at a time, and an error where it ends.
type slowly struct {
	data []byte
	err  error
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, s.err
	}
	n := copy(p[:min(len(p), 7)], s.data)
	s.data = s.data[n:]
	return n, nil
}

func TestStream(t *testing.T) {
	data := samples(t)[3]
	want, err := read(t, data)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the connection is gone")
	for _, end := range []error{io.EOF, broken} {
		r, err := wire.NewReader(&slowly{data, end})
		events := 0
		for b := wire.NewBatch(wire.Few); err == nil; {
			if err = r.Read(b); err == nil {
				events += len(b.Events)
			}
		}
		if events < want || !errors.Is(err, end) {
			t.Errorf("%d events of %d, then %v, want %v", events, want, err, end)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, head := range []string{"", "go 1.26 trace\x00\x00", "go 1.21 trace\x00\x00\x00", "go 1.24 trace\x00\x00\x00", "go 1.99 trace\x00\x00\x00", "go 1.26 trace\n\x00\x00"} {
		if _, err := wire.NewReader(strings.NewReader(head)); err == nil {
			t.Errorf("%q is taken for a header", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	for seed := range uint64(4) {
		if data, err := wiretest.Record(seed, 0); err == nil {
			f.Add(data[:min(len(data), 64<<10)])
		}
	}
	for _, data := range samples(f) {
		f.Add(data[:16<<10])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if events, _ := read(t, data); events > len(data)+2 {
			t.Errorf("%d events of %d bytes", events, len(data))
		}
		if _, err := wiretest.Same(data, true); err != nil {
			t.Error(err)
		}
	})
}

// TestSaysThatCut requires of a trace that ends within its only generation that this is the error,
// whatever is missing because of it.
func TestSaysThatCut(t *testing.T) {
	for _, data := range samples(t) {
		for n := 1000; n < 20_000; n += 997 {
			if _, err := read(t, data[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("Go 1.%d, cut at %d: %v", version(data), n, err)
			}
		}
	}
}
