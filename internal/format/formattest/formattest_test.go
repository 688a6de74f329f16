package formattest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// Format is the smallest possible format: lines of "tick NS".
var Format = format.Format{Name: "ticks", About: "a service's ticks", Match: match, Parse: parse}

func match(head []byte) format.Confidence {
	if bytes.HasPrefix(head, []byte("tick ")) {
		return format.Sure
	}
	return format.No
}

func parse(_ context.Context, a *format.Artifact, b *evidence.Builder) error {
	s := evidence.Series{Subject: b.Subject(evidence.Subject{Name: "clock"}), Name: "ticks", Unit: "1", Origin: b.Origin(1)}
	err := a.Lines(func(l format.Line) bool {
		at, err := strconv.ParseInt(strings.TrimPrefix(string(l.Text), "tick "), 10, 64)
		if n := len(s.T); err == nil && (n == 0 || at > s.T[n-1]) {
			s.T, s.V = append(s.T, at), append(s.V, float64(n+1))
		} else {
			b.Warnf(l.Number, "no tick: %.20q", l.Text)
		}
		return true
	})
	if err == nil && len(s.T) == 0 {
		err = errors.New("holds no ticks")
	}
	if err == nil {
		b.Series(s)
	}
	return err
}

// These lines are all that a new format's test file needs.
var suite = formattest.Suite{
	Format: Format,
	Match:  map[string]format.Confidence{"tick 1\n": format.Sure, "tock 1\n": format.No},
}

func TestFormat(t *testing.T)     { suite.Test(t) }
func FuzzParse(f *testing.F)      { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) { suite.Benchmark(b, bytes.Repeat([]byte("tick 1\n"), 1000)) }

// unsound is a testing.TB that only records that a check failed.
type unsound struct {
	testing.TB
	said []string
}

func (u *unsound) Helper() {}
func (u *unsound) Errorf(f string, args ...any) {
	u.said = append(u.said, fmt.Sprintf(f, args...))
}

// TestSound gives the checks bundles that a format must not make.
func TestSound(t *testing.T) {
	for want, fill := range map[string]func(p *evidence.Builder) error{
		"ends at 1 before it begins at 2": func(p *evidence.Builder) error {
			p.Interval(evidence.Interval{Subject: p.Subject(evidence.Subject{}), Start: 2, End: 1})
			return nil
		},
		"is about subject 7 of 0": func(p *evidence.Builder) error {
			p.Sample(evidence.Sample{Subject: 7})
			return nil
		},
		"took 5 ns, its states 4": func(p *evidence.Builder) error {
			p.Request(evidence.Request{Subject: p.Subject(evidence.Subject{}), Start: 10, End: 15, Path: evidence.Path{}.Append(evidence.Segment{Kind: evidence.Running, Dur: 4})})
			return nil
		},
		"runs backwards": func(p *evidence.Builder) error {
			p.Series(evidence.Series{Subject: p.Subject(evidence.Subject{}), Name: "x", T: []int64{2, 1}, V: []float64{1, 1}})
			return nil
		},
		"a fact without a name": func(p *evidence.Builder) error {
			p.Fact(evidence.Fact{Subject: p.Subject(evidence.Subject{})})
			return nil
		},
		"not one line": func(*evidence.Builder) error { return errors.New("a\nb") },
		"1 rows and an error": func(p *evidence.Builder) error {
			p.Load(evidence.LoadResult{})
			return errors.New("no")
		},
	} {
		b := evidence.NewBundle()
		err := fill(b.Builder(b.AddArtifact(evidence.Artifact{}), "ticks"))
		u := &unsound{TB: t}
		if formattest.Sound(u, b, err); len(u.said) != 1 || !strings.Contains(u.said[0], want) {
			t.Errorf("want one that %q: %q", want, u.said)
		}
	}
}
