package present

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/operate/calibrate"
	"github.com/unstall/unstall/internal/operate/host"
	"github.com/unstall/unstall/internal/present/text"
)

func value(v float64) *float64 { return &v }

// machine returns a report with long names, and with figures that are not known.
func machine() *host.Report {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return &host.Report{Schema: host.Schema, Host: "a-host-with-a-long-name.example", Window: host.Window{Start: at, End: at.Add(10 * time.Second)}, CPUs: 64,
		CPU: host.CPU{Busy: value(60), User: value(40), System: value(20)}, Pressure: host.Pressure{CPU: value(.5)},
		Findings: []host.Finding{{Cause: "linux.noisy-neighbour", Title: "All 64 CPUs are busy: a-very-long-service-name 4194303 (120 processes) uses 45.1 CPUs, and another 17 waits.",
			Takes: []string{"a-very-long-service-name 4194303 (120 processes)"}, Pays: []string{"another 17", "one\x1b[31m more 18"}, Next: []string{"unstall 17 --kernel"},
			Evidence: []host.Evidence{{Text: "CPUs that a-very-long-service-name 4194303 (120 processes) used", Value: 45.1, Unit: "CPUs"}}}},
		Services: []host.Service{
			{Kind: "service", Name: "a-very-long-service-name", PID: 4194303, Processes: 120, CPU: value(45.1), System: value(.1), Waits: value(.998), Class: workload.System, ClassShare: value(.999)},
			{Kind: "unlisted", Name: "short-lived processes", CPU: value(3)},
			{Kind: "service", Name: "another", PID: 17, Processes: 1, CPU: value(.2), Class: workload.Saturation, ClassShare: value(.999)},
		},
		NotSeen: []host.Lack{{What: "processes outside this container", Why: "it has its own PID namespace", Do: "run unstall on the host, or with --pid=host"}}}
}

func TestHost(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		var b bytes.Buffer
		if err := (text.Options{Width: 80, ASCII: ascii}).Host(&b, machine()); err != nil {
			t.Fatal(err)
		}
		within(t, b.String())
		for _, want := range []string{"linux.noisy-neighbour\n", "  Slowed by it: another 17, one?[31m more 18\n", "\n  unstall 17 --kernel\n", "another 17", "NOT SEEN"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("there is no %q in\n%s", want, b.String())
			}
		}
	}
	r := machine()
	r.Findings = nil
	var b bytes.Buffer
	if err := (text.Options{}).Host(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\nHEALTHY    nothing found: the CPUs were busy 94 % of the time") {
		t.Error(b.String())
	}
	b.Reset()
	if err := hostJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if _, isList := out["findings"].([]any); !isList || out["cpu"].(map[string]any)["steal"] != nil {
		t.Errorf("findings %v, steal %v", out["findings"], out["cpu"])
	}
}

// within checks that a text fits a screen of 80 columns.
func within(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestCalibrate(t *testing.T) {
	near := "malloc"
	row := func(name string, class workload.Class, distance float64) calibrate.Row {
		return calibrate.Row{Name: name, About: "work", PID: 4194303, Known: class, Class: class, Share: value(.93), By: "samples", Distance: value(distance), CPU: value(12.5), System: value(1),
			MinorFaults: value(1234567), Voluntary: value(234567), Involuntary: value(45678), Segments: value(1234567), Dirtied: value(882345)}
	}
	target := row("a-very-long-service-name", workload.PageFault, 0)
	r := &calibrate.Result{Schema: calibrate.Schema, Target: &target, Nearest: &near, Loads: []calibrate.Row{row("sqrt", workload.User, 1), row("malloc", workload.PageFault, .02)}}
	var b bytes.Buffer
	if err := (text.Options{Width: 80}).Calibrate(&b, r); err != nil {
		t.Fatal(err)
	}
	within(t, b.String())
	if first, _, _ := strings.Cut(b.String(), "\n\n"); strings.ReplaceAll(first, "\n", " ") != `93 % of the CPU time of a-very-long-service-name 4194303 is page faults; the most similar load is "malloc" (work).` {
		t.Error(first)
	}
}
