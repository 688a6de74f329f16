package loadresult

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Render: render, Part: partOf,
	Match: map[string]format.Confidence{ // none of these is a load generator's
		"Summary:\n  Tests: 12 passed\n":                                            format.No,
		"gc 1 @0.012s 2%: 0.1+1.2+0.1 ms clock\n":                                   format.No,
		`127.0.0.1 - - [20/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12` + "\n": format.No,
		`{"level":"info","msg":"started","latency":12,"code":200}` + "\n":           format.No,
		`{"metrics":{"heap":{"value":1}}}` + "\n":                                   format.No,
		"\x00\x00\x00\x00\x063.13.1\x00\x00\x00\x00\x10computerdatabase":            format.Sure, // of Gatling, to be refused
		"1,2,3,4,5,6,7,8\n": format.No, "Requests per second are fine\n": format.No, "{": format.No, "[]": format.No, "null\n": format.No, "\x00\x01": format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for i := 1; i < b.Requests.Len(); i++ {
			if b.Requests.End.At(i) < b.Requests.End.At(i-1) {
				t.Fatal("requests do not end one after the other")
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func render(b *evidence.Bundle, err error) string {
	var s strings.Builder
	if err != nil {
		fmt.Fprintf(&s, "error: %v\n", err)
	}
	for _, l := range b.Loads {
		fmt.Fprintf(&s, "load %s mode=%q from_send=%v origin=%s\n", l.Tool, l.Mode, l.FromSend, b.OriginText(l.Origin))
		fmt.Fprintf(&s, "  duration=%v offered=%.2f rate=%.2f sent=%d completed=%d errors=%d timeouts=%d connections=%d bytes_s=%.0f\n",
			time.Duration(l.Duration), l.Offered, l.Rate, l.Sent, l.Completed, l.Errors, l.Timeouts, l.Connection, l.BytesPerS)
		fmt.Fprintf(&s, "  mean=%v stdev=%v max=%v codes=%v\n", time.Duration(l.Mean), time.Duration(l.Stdev), time.Duration(l.Max), l.Codes)
		for _, q := range l.Quantiles {
			fmt.Fprintf(&s, "  %g %v\n", q.Q, time.Duration(q.Ns))
		}
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&s, "table %s\n", t.Title)
		for _, r := range t.Rows {
			fmt.Fprintf(&s, "  %-22s %s\n", r[0], r[1])
		}
	}
	for i := range b.Requests.Len() {
		if i == 8 {
			fmt.Fprintf(&s, "… %d requests\n", b.Requests.Len())
			break
		}
		r := b.Requests.Row(i)
		fmt.Fprintf(&s, "request %d %v %q %v %s", r.Start, time.Duration(r.Latency()), b.Names.Text(r.Route), r.Outcome, b.OriginText(r.Origin))
		if r.Step != 0 {
			fmt.Fprintf(&s, " step %q", b.Names.Text(r.Step))
		}
		s.WriteByte('\n')
	}
	for _, c := range b.Coverage {
		fmt.Fprintf(&s, "covered %s %d…%d lost %d, clock anchored %v\n", c.Kind, c.From, c.Until, c.Lost, b.Clocks[0].Anchored())
	}
	for _, w := range b.Warnings {
		fmt.Fprintf(&s, "warning ×%d %s: %s\n", w.Count, b.OriginText(w.Origin), w.Text)
	}
	for _, a := range b.Artifacts {
		if a.Tail {
			s.WriteString("cut\n")
		}
	}
	return s.String()
}

// partOf checks that the whole has everything that a part has, and that a cut goes unnoticed only where it
// takes nothing from the figures: tools print no end mark.
func partOf(t testing.TB, data []byte, n int, part *evidence.Bundle, err error, whole *evidence.Bundle) {
	switch {
	case err != nil || n >= len(bytes.TrimRight(data, "\n ")):
		return
	case len(part.Loads) == 0:
		t.Error("no result and no error")
		return
	case whole.Requests.Len() > 0:
		rowsOf(t, part, whole)
		return
	}
	for i := range part.Loads {
		figuresOf(t, part.Loads[i], whole.Loads[i])
	}
	p, w := part.Loads[0], whole.Loads[0]
	if p.Tool == "ab" && len(p.Quantiles) == 0 || part.Artifacts[0].Tail || len(whole.Loads) > 1 {
		return // ab -d prints no more than that
	}
	if p.Tool == "hey" {
		p.Completed = w.Completed // errors come last, and only where there are any
	}
	if !slices.Equal(p.Quantiles, w.Quantiles) || p.Mean != w.Mean || p.Max != w.Max || p.Rate != w.Rate || p.Completed != w.Completed {
		t.Errorf("went unnoticed: %+v", p)
	}
}

// figuresOf checks that a latency of a part equals the whole's or is unknown.
func figuresOf(t testing.TB, part, whole evidence.LoadResult) {
	for _, q := range part.Quantiles {
		if !slices.Contains(whole.Quantiles, q) {
			t.Errorf("quantile %v is not in the whole", q)
		}
	}
	for _, f := range [][2]int64{{part.Mean, whole.Mean}, {part.Max, whole.Max}} {
		if f[0] != 0 && f[0] != f[1] {
			t.Errorf("%v for %v", f[0], f[1])
		}
	}
}

// rowsOf checks that the requests of a part are requests of the whole.
func rowsOf(t testing.TB, part, whole *evidence.Bundle) {
	known := make(map[[2]int64]bool)
	for i := range whole.Requests.Len() {
		known[[2]int64{whole.Requests.Start.At(i), whole.Requests.End.At(i)}] = true
	}
	for i := range part.Requests.Len() {
		if !known[[2]int64{part.Requests.Start.At(i), part.Requests.End.At(i)}] {
			t.Errorf("request %+v is not in the whole", part.Requests.Row(i))
		}
	}
}

func TestGatlingBinary(t *testing.T) {
	_, err := suite.Read([]byte("\x00\x00\x00\x00\x063.13.1\x00\x00\x00\x00\x10computerdatabase"))
	if err == nil || !strings.Contains(err.Error(), "it is the binary simulation.log of Gatling 3.12 or later") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	content := bytes.Repeat([]byte(k6Sample+"\n"), 5000)
	if err := format.Read(ctx, []format.Format{Format}, formattest.Artifact("k6.json", content), evidence.NewBundle()); err == nil {
		t.Error("read on after it was cancelled")
	}
}
