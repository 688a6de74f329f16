package goheap

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]float64{"1": 1, "17B": 17, "800MiB": 800 * mib, "2GiB": 2 << 30, "1TiB": 1 << 40, "4KiB": 4096} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
		if s == "1" {
			continue
		}
		if got := FormatSize(want); got != s {
			t.Errorf("%v is written %q, want %q", want, got, s)
		}
	}
	for _, s := range []string{"", "x", "800MB", "800 MiB", "-5MiB", "+5MiB", "0", "1.5GiB", "9999999999TiB", "MiB", "off"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
	if v, err := ParseLimit("off"); v != 0 || err != nil {
		t.Error(v, err)
	}
	for s, want := range map[string]float64{"": 100, "off": Off, "-1": Off, "200": 200, "0": 0} {
		if got, err := ParseGOGC(s); err != nil || got != want {
			t.Errorf("GOGC=%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"x", "1.5", "+5", "99999999999"} {
		if got, err := ParseGOGC(s); err == nil {
			t.Errorf("GOGC=%q is read as %v", s, got)
		}
	}
}

// What is not known is null, and reads back as such.
func TestOutcomeJSON(t *testing.T) {
	o := Outcome{Setting: Setting{GOGC: Off, Limit: 800 * mib}, Cycles: model.Between(.6, .5, .7), P99: model.Unknown, RSS: model.Exactly(5)}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"gogc_percent":null`, `"gomemlimit_bytes":838860800`, `"gc_cycles_per_s":{"value":0.6,"low":0.5,"high":0.7}`,
		`"p99_ms":{"value":null,"low":null,"high":null}`, `"text":"GOGC=off GOMEMLIMIT=800MiB"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}
