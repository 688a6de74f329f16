package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/unstall/unstall/internal/diagnose"
)

// IsDiagnosis says whether a file that begins with head is a diagnosis as JSON.
func IsDiagnosis(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head[:min(len(head), 512)], []byte(`"`+diagnose.Schema+`"`))
}

// ReadDiagnosis reads a run from a diagnosis as JSON (unstall.diagnosis/v1), which has fewer
// figures than the evidence it was made of.
func ReadDiagnosis(r io.Reader, name string) (Run, error) {
	var d diagnose.Diagnosis
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return Run{}, fmt.Errorf("%s: not a readable diagnosis: %w", name, err)
	}
	if d.Schema != diagnose.Schema {
		return Run{}, fmt.Errorf("%s: schema %q: read is %s", name, d.Schema, diagnose.Schema)
	}
	m := newMeasurement(nil, name)
	if d.Window.Start != nil {
		m.run.Start = *d.Window.Start
	}
	maybe := func(metric string, v *float64) {
		if v != nil {
			m.setMetric(metric, *v)
		}
	}
	load := &m.run.Load
	if d.Window.Duration != nil && (d.Requests != nil || len(d.Loads) > 0) {
		load.Duration = time.Duration(*d.Window.Duration * 1e9)
	}
	if q := d.Requests; q != nil {
		load.LatencyFrom, load.Arrivals = "server", true
		maybe("p50_ms", q.P50Ms)
		maybe("p99_ms", q.P99Ms)
		maybe("p999_ms", q.P999Ms)
		maybe("rate", q.Rate)
		if q.Rate != nil {
			load.Rate = *q.Rate
		}
		if q.SlowRule == "slo" && q.Count > 0 && q.Slow <= q.Count {
			m.setMetric("slow_share", float64(q.Slow)/float64(q.Count))
		}
	}
	if len(d.Loads) > 0 {
		l := d.Loads[0]
		load.Mode, load.LatencyFrom, load.Arrivals = l.Mode, l.LatencyFrom, false
		delete(m.run.Metrics, "p999_ms")
		maybe("p50_ms", l.P50Ms)
		maybe("p99_ms", l.P99Ms)
		maybe("rate", l.Rate)
		if l.Rate != nil {
			load.Rate = *l.Rate
		}
	}
	return m.run, nil
}
