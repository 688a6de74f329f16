package linux_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/kernelstacks"
)

// interrupted is a service of which a part of the CPU time is softirq: a thousand requests in 10 s, of which one in ten computes for so long (ns).
func interrupted(t *testing.T, part float64, slow int64) *check.Case {
	t.Helper()
	return interruptedIn(t, part, slow, evidence.Running, 0)
}

// interruptedIn is [interrupted] with requests that are in a state all the time, and a process that uses so many CPUs; 0: not watched.
func interruptedIn(t *testing.T, part float64, slow int64, in evidence.Kind, used float64) *check.Case {
	t.Helper()
	running, waiting := kernelTexts([]thread{{ran: part, in: "softirq"}, {ran: 1 - part}})
	b := incident.NewBundle()
	dir := t.TempDir()
	for name, text := range map[string]string{"oncpu.txt": running, "offcpu.txt": waiting} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := format.Read(context.Background(), []format.Format{kernelstacks.Format}, format.File(name), b); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	p.Clock().Name = "unix"
	s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", PID: 4711, CPUs: 2})
	for i := range int64(1000) {
		took := int64(1e6)
		if i%10 == 9 {
			took = slow
		}
		r := evidence.Request{Subject: s, Lane: evidence.LaneID(1000 + i), Route: p.Name("GET /"), Start: began + i*tenth/10, End: began + i*tenth/10 + took}
		r.Path = r.Path.Append(evidence.Segment{Kind: in, Dur: took})
		p.Request(r)
	}
	if used > 0 {
		cpu := evidence.Series{Subject: s, Name: evidence.SeriesProcessCPU}
		for at := began; at <= began+tenths*tenth; at += tenth {
			cpu.T, cpu.V = append(cpu.T, at), append(cpu.V, used)
		}
		p.Series(cpu)
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: began, Until: began + tenths*tenth, Origin: p.Origin(1)})
	}
	p.Close()
	i := incident.Of(b, incident.Options{})
	for _, l := range i.Ledgers() {
		if len(l.Rows) > 0 {
			return &check.Case{Bundle: i.Bundle, Subject: l.Subject, Ledger: l}
		}
	}
	t.Fatal("no requests")
	return nil
}

// Softirq takes its part of what requests run: from a quarter of slow time on it is found. It explains what requests do in the kernel only where most
// of the CPU time is softirq: else other causes may name a place there.
func TestSoftirqOfRequests(t *testing.T) {
	for _, x := range []struct {
		part     float64
		slow     int64
		want     string
		explains bool
	}{
		{.1, 60e6, check.RuledOut, false},
		{.2, 60e6, check.Inconclusive, false},
		{.3, 60e6, check.Supported, false},
		{.45, 60e6, check.Supported, false},
		{.6, 60e6, check.Supported, true},
		{.6, 12e6, check.Inconclusive, false}, // over in milliseconds
		{.6, 1e6, check.RuledOut, false},      // none is slow
	} {
		c := interrupted(t, x.part, x.slow)
		v := linux.Softirq.Judge(c)
		if v.State != x.want {
			t.Errorf("%.0f %%, %d ms: %s, want %s: %s %s", 100*x.part, x.slow/1e6, v.State, x.want, v.Title, v.Summary)
			continue
		}
		if !v.Supported() {
			continue
		}
		if got := v.Explains != nil && v.Explains(&ledger.Place{Mechanism: ledger.Kernel}); got != x.explains {
			t.Errorf("%.0f %%: explains a place in the kernel: %v, want %v", 100*x.part, got, x.explains)
		}
		if v.Explains(&ledger.Place{Mechanism: ledger.Lock}) || v.Explains(&ledger.Place{Mechanism: ledger.Dependency}) {
			t.Errorf("%.0f %%: explains a lock, or a dependency", 100*x.part)
		}
		if saved, all := v.Saves.Value, float64(c.Ledger.Total)/1e6; saved < (x.part-.05)*all || saved > (x.part+.05)*all {
			t.Errorf("%.0f %%: saves %.0f of %.0f ms", 100*x.part, saved, all)
		}
		if !strings.Contains(v.Title, "receiving packets") {
			t.Errorf("%.0f %%: does not say what it does: %s", 100*x.part, v.Title)
		}
	}
}

// Calls of requests that wait use no CPU: softirq has a part of them only as far as the process ran.
func TestSoftirqOfCallsThatWait(t *testing.T) {
	for _, x := range []struct {
		used float64 // CPUs; some 6.9 s of 10 are slow requests' calls
		want string
	}{{.9, check.Supported}, {.05, check.RuledOut}, {0, check.Supported}} {
		if v := linux.Softirq.Judge(interruptedIn(t, .45, 60e6, evidence.Syscall, x.used)); v.State != x.want {
			t.Errorf("%v CPUs: %s, want %s: %s", x.used, v.State, x.want, v.Summary)
		}
	}
}
