package present

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	jsonreport "github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/internal/present/text"
)

// TestSlowSince prints since when requests are slow as text and as JSON, and holds the figures of both equal: for requests that are slow from some moment
// on, and for those that are slow in bursts.
func TestSlowSince(t *testing.T) {
	began := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	log := func(took func(s int) int) string { // ten requests a second for five minutes, ms
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, `{"time":%q,"method":"GET","path":"/orders","status":200,"duration_ms":%d}`+"\n", began.Add(time.Duration(i)*100*time.Millisecond).Format("2006-01-02T15:04:05.000Z"), took(i/10)+i%3)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		log  string
		says string // part of what both say
	}{
		"from a moment on": {log(func(s int) int {
			if s >= 150 {
				return 900
			}
			return 20
		}), "from then on"},
		"in bursts": {log(func(s int) int {
			if s%60 >= 50 {
				return 900
			}
			return 20
		}), "bursts"},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(c.log)
			b := incident.NewBundle()
			a := &format.Artifact{Name: "access.log", Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
			if err := incident.Read(t.Context(), a, b); err != nil {
				t.Fatal(err)
			}
			d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var told, out bytes.Buffer
			if err := (text.Options{Width: 80}).Report(&told, d); err != nil {
				t.Fatal(err)
			}
			if err := jsonreport.Report(&out, d); err != nil {
				t.Fatal(err)
			}
			var report struct {
				Requests struct {
					Since *struct {
						At     *time.Time
						From   float64 `json:"from_s"`
						Before float64
						Since  float64
						Bursts *struct {
							Count   int
							Last    float64 `json:"last_s"`
							Every   float64 `json:"every_s"`
							Slow    float64
							Between float64
						}
					} `json:"slow_since"`
				}
			}
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			since := report.Requests.Since
			if since == nil {
				t.Fatalf("JSON has no slow_since:\n%s", told.String())
			}
			want := ""
			if x := since.Bursts; x != nil {
				want = fmt.Sprintf("in %d bursts of %.3g s, every %.3g s: %.2g %% of requests slow in them, %.2g %% between", x.Count, x.Last, x.Every, 100*x.Slow, 100*x.Between)
			} else {
				want = fmt.Sprintf("%s UTC, %.3g s in: %.2g %% of requests slow from then on, %.2g %% before", since.At.UTC().Format(time.DateTime), since.From, 100*since.Since, 100*since.Before)
			}
			if !strings.Contains(want, c.says) || !strings.Contains(strings.Join(strings.Fields(told.String()), " "), want) {
				t.Errorf("JSON says %q, and the text is\n%s", want, told.String())
			}
		})
	}
}
