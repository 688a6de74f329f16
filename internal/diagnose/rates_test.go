package diagnose_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
)

// TestRateOfFewRequests tells no rate of a single request, whose own time is all that was watched, nor of a few; of more it does.
func TestRateOfFewRequests(t *testing.T) {
	spans := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"traceId":"a%02d","id":"b%02d","kind":"SERVER","name":"get /route","timestamp":%d,"duration":132000,"localEndpoint":{"serviceName":"router"}}`, i, i, 1_700_000_000_000_000+int64(i)*500_000))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"time":"2026-11-21T14:00:%02d.%03dZ","method":"GET","path":"/route","status":200,"duration_ms":132}`+"\n", i/2, 500*(i%2))
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		file, text string
		rate       float64 // 0: none
	}{
		"one trace":     {"trace.json", spans(1), 0},
		"three traces":  {"trace.json", spans(3), 0},
		"twenty traces": {"trace.json", spans(20), 2},
		"one line":      {"access.log", lines(1), 0},
		"four lines":    {"access.log", lines(4), 0},
		"forty lines":   {"access.log", lines(40), 2},
	} {
		b := incident.NewBundle()
		a := &format.Artifact{Name: c.file, Size: int64(len(c.text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte(c.text))), nil }}
		if err := incident.Read(t.Context(), a, b); err != nil {
			t.Fatal(err)
		}
		d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rates := []*float64{d.Requests.Rate}
		for _, r := range d.Routes {
			rates = append(rates, r.Rate)
		}
		for _, r := range rates {
			if (r != nil) != (c.rate > 0) || r != nil && (*r < .9*c.rate || *r > 1.1*c.rate) {
				t.Errorf("%s: %v, want %g/s", name, r, c.rate)
			}
		}
	}
}
