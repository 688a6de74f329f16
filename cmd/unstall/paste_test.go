package main

import (
	"testing"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/diagnose"
)

// Commands get the PID and the address. Other text keeps its words.
func TestPasteable(t *testing.T) {
	const curl = "curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'"
	of := func(where string) record.Finding {
		return record.Finding{Targets: []discover.Target{{PID: 4711, Runtime: "go"}}, Accesses: []probe.Access{{Probe: "gopprof", Where: where, SwitchesOn: []string{"trace"}}}}
	}
	for _, c := range []struct {
		found         record.Finding
		command, want string
	}{
		{of("http://10.0.0.7:6060/debug/pprof"), "unstall record PID --for 5m", "unstall record 4711 --for 5m"},
		{of("http://10.0.0.7:6060/debug/pprof"), "cat /proc/PID/stat /proc/[0-9]*/PIDS", "cat /proc/4711/stat /proc/[0-9]*/PIDS"},
		{of("http://10.0.0.7:6060/debug/pprof"), curl, "curl -o trace.out 'http://10.0.0.7:6060/debug/pprof/trace?seconds=5'"},
		{of("https://10.0.0.7:6060/debug/pprof"), curl, "curl -k -o trace.out 'https://10.0.0.7:6060/debug/pprof/trace?seconds=5'"},
		{of("unix:@admin/debug/pprof"), curl, "curl --abstract-unix-socket 'admin' -o trace.out 'http://localhost/debug/pprof/trace?seconds=5'"},
		{record.Finding{Targets: make([]discover.Target, 2)}, "unstall PID", "unstall PID"},
		{record.Finding{Targets: make([]discover.Target, 1)}, "unstall PID", "unstall PID"},
	} {
		const words = "field 10 of /proc/PID/stat at HOST:PORT"
		d := &diagnose.Diagnosis{Verdicts: []diagnose.Verdict{{Needs: []diagnose.Need{{What: words, Command: c.command}}, Fix: []diagnose.Fix{{Code: "main.PID"}}}}}
		if fillCommands(d, c.found); d.Verdicts[0].Needs[0] != (diagnose.Need{What: words, Command: c.want}) || d.Verdicts[0].Fix[0].Code != "main.PID" {
			t.Errorf("%q: %+v", c.command, d.Verdicts[0])
		}
	}
}
