package present

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/present/text"
)

// fleetOf has long names, characters from outside, and figures that are not known.
func fleetOf() *fleet.Report {
	end := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	long := "a-service-with-a-very-long-name-that-no-column-has-room-for"
	requests := int64(2_400_000_000)
	return &fleet.Report{Schema: fleet.Schema, Store: "http://metrics.example:8428", Window: fleet.Window{Start: end.Add(-24 * time.Hour), End: end}, Hosts: 10_000, SlowS: 86_400, Requests: &requests,
		Causes:     []fleet.Cause{{Cause: "jvm.young-gc-rate", Title: "young collections", SlowS: 50_000, Services: []string{long, "pay"}, Hosts: 4321}, {Cause: "go.gc-rate", SlowS: 12, Services: []string{"pay"}, Hosts: 1}},
		Mechanisms: []fleet.Mechanism{{Mechanism: "stop_the_world", Title: "paused by GC", SlowS: 86_400}},
		Services: []fleet.Service{{Service: long, Hosts: 9000, SlowS: 80_000, Requests: &requests, Rate: value(.033), Cause: "jvm.young-gc-rate", CauseS: 49_000},
			{Service: "pay\x1b[31m", Hosts: 12, SlowS: 6400, Cause: "go.gc-rate"}, {Hosts: 1}},
		Slowest: []fleet.Host{{Host: "web-04711.rack-17.row-3.eu-north-1.datacenter.example", Service: long, SlowS: 812, Cause: "jvm.young-gc-rate"}},
		Unlike: []fleet.Unlike{{Host: "web-04711", Service: long, SlowS: 812, Rate: 3.1, Peers: .03, Per: "s_per_1000_requests", Of: 9000, Score: 9, Bound: 4.4, Mechanism: "stop_the_world", Title: "paused by GC", Share: .93},
			{Host: "pay-3", Service: "pay", Rate: 375, Peers: 0, Per: "s_per_hour", Of: 12}},
		Versions: []fleet.Version{{Service: long, Version: "1.4.2", Before: "1.4.1", Factor: value(2.51), Low: value(2.3), High: value(2.8), Pairs: 120, Of: "hosts", Result: "worse"},
			{Service: "pay", Version: "2", Before: "1", Factor: value(1.9), Pairs: 3, Of: "moments", Result: "unclear"}, {Service: "pay", Version: "3", Before: "2", Result: "unclear"}},
		Changes:  []fleet.Change{{Service: long, At: end.Add(-time.Hour), Before: .03, After: .09, Per: "s_per_1000_requests", Version: "1.4.2"}},
		Warnings: []string{"web-2: two hosts seem to use one name"}}
}

func TestFleet(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		var b bytes.Buffer
		if err := (text.Options{Width: 80, ASCII: ascii}).Fleet(&b, fleetOf()); err != nil {
			t.Fatal(err)
		}
		within(t, b.String())
		for _, want := range []string{"fleet  10,000 hosts", "(no name)", "pay?[31m", "UNLIKE", "VERSIONS", "CHANGED", "WARNINGS"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("there is no %q in\n%s", want, b.String())
			}
		}
		if !ascii {
			for _, want := range []string{"jvm.young-gc-rate accounts for 58 % of it, on 4,321 hosts.", "93 % of it is paused by GC", "worse: 2.51 ×", "unclear: 1.9 ×"} {
				if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
					t.Errorf("there is no %q in\n%s", want, b.String())
				}
			}
		}
	}
	var b bytes.Buffer
	healthy := &fleet.Report{Hosts: 2}
	if err := (text.Options{}).Fleet(&b, healthy); err != nil || !strings.Contains(b.String(), "Healthy: no request was slow in this time.") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := fleetJSON(&b, fleetOf()); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v\n%s", err, b.String())
	}
}
