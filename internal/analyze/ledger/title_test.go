package ledger

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Where counters show that ready threads waited for a CPU, the title says no more than these tell: not that requests had it, and that a quota
// withheld it where that stopped the process at the time.
func TestTitlesOfWaitsForCPUs(t *testing.T) {
	for name, of := range map[string]struct {
		throttled   []float64 // of the quota, for each 100 ms in turn; nil: not watched
		behind      string    // what a wait behind the process's own threads is called, "" there is none
		host, alone string    // what a wait for the host is called: of all requests, and of the first slow one
	}{
		"no quota":                       {nil, behindOwn, HostCPU.Title(), HostCPU.Title()},
		"a quota that stops nothing":     {[]float64{0}, behindOwn, HostCPU.Title(), HostCPU.Title()},
		"a quota that stops it":          {[]float64{1}, "", byQuota, byQuota},
		"a quota that stops it at times": {[]float64{0, 0, 0, 0, 1, 1, 1, 1}, behindOwn, HostCPU.Title(), HostCPU.Title()},
	} {
		b := newBundle(evidence.Subject{Kind: evidence.Process, Runtime: "go", CPUs: 2})
		p := newSource(b, "exchanges.txt", exact, 0)
		p.SeenFrom(evidence.FromKernel)
		p.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverExchanges, From: epoch, Until: epoch + 80*100*ms, Sampled: 20 * ms})
		for i := range int64(80) {
			r := evidence.Request{Start: epoch + i*100*ms, Path: path(state(evidence.Unobserved, ms))}
			if i%8 == 0 {
				r.Path = path(state(evidence.Running, 40*ms), state(evidence.Unobserved, ms))
			}
			r.End = r.Start
			for s := range r.Path.All {
				r.End += s.Dur
			}
			p.Request(r)
		}
		host := p.Builder.Subject(evidence.Subject{Runtime: "linux", Name: "host", CPUs: 2})
		for _, x := range []struct {
			of   evidence.SubjectID
			name string
			v    []float64
		}{{p.subject, evidence.SeriesProcessCPU, []float64{1}}, {p.subject, evidence.SeriesProcessRunDelay, []float64{1}}, {host, evidence.SeriesHostCPUBusy, []float64{2}},
			{p.subject, evidence.SeriesCgroupCPUThrottled, of.throttled}} {
			if x.v == nil {
				continue
			}
			s := evidence.Series{Subject: x.of, Name: x.name}
			for i := range int64(82) {
				s.T, s.V = append(s.T, epoch+(i-1)*100*ms), append(s.V, x.v[(i+7)%int64(len(x.v))])
			}
			p.Builder.Series(s)
		}
		l := one(t, b, Options{})
		if behind := l.Charges[RequestsCPU]; (behind > 0) != (of.behind != "") {
			t.Errorf("%s: %d ms behind its own threads", name, behind/ms)
		}
		if of.behind != "" && l.TitleOf(RequestsCPU, "goroutine") != of.behind {
			t.Errorf("%s: %q", name, l.TitleOf(RequestsCPU, "goroutine"))
		}
		if got, alone := l.TitleOf(HostCPU, "goroutine"), l.TitleFor(l.Slow[0], HostCPU, "goroutine"); l.Charges[HostCPU] == 0 || got != of.host || alone != of.alone {
			t.Errorf("%s: %d ms, %q, of the first %q", name, l.Charges[HostCPU]/ms, got, alone)
		}
	}
}
