package present

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/present/text"
)

// The life of a request fits ten lines of 80 columns.
func TestLifeGolden(t *testing.T) {
	ms := func(v float64) int64 { return int64(v * 1e6) }
	begin := at("14:02:11.234").UnixNano()
	life := &timeline.Life{Process: "gateway", Anchored: true, Followed: true, Limit: ms(9.6), Usual: ms(3.2), Rank: 1, Of: 14514,
		Request: timeline.Request{Route: "GET /play/{id}", Origin: "trace.out:4711", At: begin, Latency: ms(4711), Outcome: "failed", Slow: true, States: []timeline.State{
			{At: begin, Dur: ms(1.2), Kind: "running", Mechanism: "own", Where: "store.Get (store.go:41)"},
			{At: begin + ms(1.2), Dur: ms(4500), Kind: "lock", Mechanism: "lock", What: "futex mutex at 0x55e0c3a1", Holder: "goroutine 71: system call fsync", Where: "example.com/gateway/internal/store.(*Log).Append (log.go:88)"},
			{At: begin + ms(4501.2), Dur: ms(200), Kind: "runnable", Mechanism: "requests_cpu", Holder: "CPUs: other requests 80 %, GC 20 %"},
			{At: begin + ms(4701.2), Dur: ms(9.8), Number: 41, Kind: "running", Mechanism: "own"},
		}},
		Charges: []timeline.Charge{{Mechanism: "lock", Title: "lock wait", Dur: ms(4500)}, {Mechanism: "requests_cpu", Title: "runnable, CPU busy with other requests", Dur: ms(200)}, {Mechanism: "own", Title: "own work", Dur: ms(11)}}}
	for name, o := range map[string]text.Options{"life.txt": {}, "life.ascii.txt": {Width: 60, ASCII: true}, "life.verbose.txt": {Verbose: true}} {
		var b bytes.Buffer
		if err := o.Life(&b, life); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if n := strings.Count(b.String(), "\n"); n > 10 && o.Width == 0 && !o.Verbose {
			t.Errorf("%s: %d lines", name, n)
		}
		for line := range strings.Lines(b.String()) {
			if w := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); w > max(80, o.Width) && !o.Verbose {
				t.Errorf("%s: %d columns: %q", name, w, line)
			}
		}
	}
}
