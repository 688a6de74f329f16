package gctrace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/formattest"
)

func TestStamps(t *testing.T) {
	for _, c := range []struct {
		line     string
		want     string // "": none
		res      time.Duration
		zoneless bool
	}{
		{"2026/11/20 22:49:44 ready", "2026-11-20T22:49:44Z", time.Second, true},
		{"2026/11/20 22:49:44.123456 main.go:7: ready", "2026-11-20T22:49:44.123456Z", time.Microsecond, true},
		{"2026-11-20 22:49:44,123 INFO", "2026-11-20T22:49:44.123Z", time.Millisecond, true},
		{"2026-11-20T22:49:44+01:00 ready", "2026-11-20T21:49:44Z", time.Second, false},
		{"2026-11-20 22:49:44.5 -0730 ready", "2026-11-21T06:19:44.5Z", 100 * time.Millisecond, false},
		{`time="2026-11-20T22:49:44Z" level=info`, "2026-11-20T22:49:44Z", time.Second, false},
		{`{"level":"info","ts":1795214984.25,"msg":"x"}`, "2026-11-20T22:49:44.25Z", 10 * time.Millisecond, false},
		{`::1 - bob [20/Nov/2026:22:49:44 +0100] "GET /"`, "2026-11-20T21:49:44Z", time.Second, false},
		{"2026-13-20 22:49:44 no such month", "", 0, false},
		{"2026-11-20", "", 0, false},
		{"20/Nix/2026:22:49:44 +0100", "", 0, false},
		{`{"id":1795214984,"msg":"x"}`, "", 0, false},
		{strings.Repeat("x", maxStampAt) + "2026/11/20 22:49:44 ready", "", 0, false},
	} {
		var f stampFinder
		s, ok := f.findStamp([]byte(c.line))
		if !ok || c.want == "" {
			if ok != (c.want != "") {
				t.Errorf("%.40q: found %v", c.line, ok)
			}
			continue
		}
		if got := time.Unix(0, s.at).UTC().Format(time.RFC3339Nano); got != c.want || s.res != int64(c.res) || s.zoneless != c.zoneless {
			t.Errorf("%.40q: %s ± %v zoneless %v", c.line, got, time.Duration(s.res), s.zoneless)
		}
	}
}

// At any resolution of the stamps, the true offset must lie within the
// reported error, and the error within what the stamps allow.
func TestAnchorHoldsTheTruth(t *testing.T) {
	const start = 1795214984_123456789
	for _, c := range []struct {
		name  string
		cut   int64 // resolution of the stamps
		delay int64 // at most, from the cycle's end to its stamp
		most  int64 // error allowed
		lines func(at time.Time, gc string) string
	}{
		{"cri", 1, 1e6, 3e6, func(at time.Time, gc string) string {
			return at.Format("2006-01-02T15:04:05.000000000Z") + " stderr F " + gc + "\n"
		}},
		{"slow collector", 1, 40e6, 40e6, func(at time.Time, gc string) string {
			return at.Format("2006-01-02T15:04:05.000000000Z") + " stderr F " + gc + "\n"
		}},
		{"seconds", 1e9, 1e6, 30e6, func(at time.Time, gc string) string {
			return at.Format("2006-01-02T15:04:05+0000") + " host srv[1]: " + gc + "\n"
		}},
		{"milliseconds in the line", 1e6, 1e6, 4e6, func(at time.Time, gc string) string {
			return at.Format("2006-01-02 15:04:05.000") + " " + gc + "\n"
		}},
		{"log lines between", 1e9, 1e6, 40e6, func(at time.Time, gc string) string {
			return gc + "\n" + at.Add(5*time.Millisecond).Format("2006/01/02 15:04:05") + " GET /\n"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var w strings.Builder
			at := int64(7_400_000)
			for i := range 400 {
				mark := int64(3e6) + r.Int64N(6e6)
				end := start + at + 100e3 + mark + 20e3
				stamp := end + r.Int64N(c.delay)
				gc := fmt.Sprintf("gc %d @%d.%03ds 1%%: 0.10+%.1f+0.020 ms clock, 0.2+0/1.0/1.0+0.04 ms cpu, 4->4->4 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P",
					i+1, at/1e9, at/1e6%1e3, float64(mark/1e5)/10)
				w.WriteString(c.lines(time.Unix(0, stamp-stamp%c.cut).UTC(), gc))
				at += mark + 50e6 + r.Int64N(300e6)
			}
			b, err := suite.Read([]byte(w.String()))
			if err != nil {
				t.Fatal(err)
			}
			k := b.Clocks[0]
			if !k.Anchored() {
				t.Fatal("not anchored")
			}
			if off := k.Offset - start; off > k.Error || -off > k.Error {
				t.Errorf("off by %v, more than ± %v", time.Duration(off), time.Duration(k.Error))
			}
			if k.Error > c.most {
				t.Errorf("error ± %v, want at most %v", time.Duration(k.Error), time.Duration(c.most))
			}
		})
	}
}

func TestNothingWhole(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"hello\n", "it holds no gc line"},
		{modern[:60] + "\nhello\n", "none of its 1 gc lines is complete"},
		{modern[:60], "none of its 1 gc lines is complete"},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "log"}), "gctrace")
		err := Format.Parse(context.Background(), formattest.Artifact("log", []byte(c.log)), p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %q", c.log, err, c.want)
		}
		if b.Intervals.Len() > 0 {
			t.Errorf("%.20q: rows beside an error", c.log)
		}
	}
}

// TestManyRestarts checks that a log of thousands of processes keeps only what it may, and says so.
func TestManyRestarts(t *testing.T) {
	line, _, _ := strings.Cut(modern, "\n")
	var w strings.Builder
	for i := range 2 * maxRuns {
		w.WriteString(strings.Replace(line, "+14+", fmt.Sprintf("+%d+", 14+i), 1) + "\n")
	}
	b, err := suite.Read([]byte(w.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Subjects); n != maxRuns {
		t.Errorf("%d processes", n)
	}
	said := false
	for _, w := range b.Warnings {
		said = said || strings.Contains(w.Text, "1000 cycles were not kept")
	}
	if !said {
		t.Errorf("not said: %v", b.Warnings)
	}
	last := int64(0)
	for _, c := range b.Coverage {
		if c.From < last {
			t.Fatal("processes overlap that follow each other")
		}
		last = c.Until
	}
}
