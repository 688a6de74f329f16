package metrics

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// near says whether a figure is what it should be; NaN is NaN.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

var nan = math.NaN()

func TestHost(t *testing.T) {
	w := Window{epoch, epoch + 4*sec}
	for _, tt := range []struct {
		name                                  string
		own, busy, steal                      []float64
		apart                                 bool // the host in another recording
		hosts                                 int  // further ones
		window                                Window
		busyIs, stealIs, peak, others, cpusIs float64
		most                                  bool
	}{
		{name: "nothing", window: w, busyIs: nan, stealIs: nan, peak: nan, others: nan, cpusIs: nan},
		{name: "the host alone", busy: []float64{2, 3, 3, 2, 0}, window: w, busyIs: 2.5, stealIs: 0, peak: 3, others: nan, cpusIs: 4, most: true},
		{name: "both", own: []float64{1, 1, 1, 1, 0}, busy: []float64{2, 3, 3, 2, 0}, window: w, busyIs: 2.5, stealIs: 0, peak: 3, others: 1.5, cpusIs: 4, most: true},
		{name: "stolen", own: []float64{1, 1, 1, 1, 0}, busy: []float64{2, 3, 3, 2, 0}, steal: []float64{0, 1, 0, 1, 0}, window: w, busyIs: 2.5, stealIs: .5, peak: 4, others: 2, cpusIs: 4, most: true},
		{name: "less than the process", own: []float64{3, 3, 3, 3, 0}, busy: []float64{2, 3, 3, 2, 0}, window: w, busyIs: 2.5, stealIs: 0, peak: 3, others: 0, cpusIs: 4, most: true},
		{name: "a third of the window", own: []float64{1, 1, 1, 1, 0}, busy: []float64{2, 3, 3, 2, 0}, window: Window{epoch, epoch + 12*sec}, busyIs: 2.5, stealIs: 0, peak: 3, others: 1.5, cpusIs: 4},
		{name: "another time", own: []float64{1, 1}, busy: []float64{2, 3}, window: Window{epoch + 60*sec, epoch + 64*sec}, busyIs: nan, stealIs: nan, peak: nan, others: nan, cpusIs: 4},
		{name: "the only host, recorded apart", own: []float64{1, 1, 1, 1, 0}, busy: []float64{2, 3, 3, 2, 0}, apart: true, window: w, busyIs: 2.5, stealIs: 0, peak: 3, others: 1.5, cpusIs: 4, most: true},
		{name: "one of two hosts, recorded apart", own: []float64{1, 1, 1, 1, 0}, busy: []float64{2, 3, 3, 2, 0}, apart: true, hosts: 1, window: w, busyIs: nan, stealIs: nan, peak: nan, others: nan, cpusIs: nan},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newProcess("go")
			put := func(of evidence.SubjectID, name string, v []float64) {
				if v != nil {
					x.series(of, name, v...)
				}
			}
			put(x.id, evidence.SeriesProcessCPU, tt.own)
			if tt.apart {
				x.p.Close()
				x.p = x.b.Builder(x.b.AddArtifact(evidence.Artifact{Name: "host.txt"}), "test")
			}
			put(x.host, evidence.SeriesHostCPUBusy, tt.busy)
			put(x.host, evidence.SeriesHostCPUSteal, tt.steal)
			for range tt.hosts {
				put(x.p.Subject(evidence.Subject{Kind: evidence.Host, Name: "other", CPUs: 64}), evidence.SeriesHostCPUBusy, tt.busy)
			}
			h := HostOf(x.done(), x.id, tt.window)
			near(t, "busy", h.Busy.Number, tt.busyIs)
			near(t, "stolen", h.Steal.Number, tt.stealIs)
			near(t, "others", h.Others.Number, tt.others)
			near(t, "CPUs", h.CPUs, tt.cpusIs)
			near(t, "pressure", h.Pressure.Number, nan)
			if h.Busy.Known() {
				near(t, "peak", h.Peak, tt.peak)
			}
			if h.Busy.MostlyKnown() != tt.most {
				t.Errorf("of most of the window: %v", h.Busy.MostlyKnown())
			}
		})
	}
}

func TestLeft(t *testing.T) {
	w := Window{epoch, epoch + 4*sec}
	x := newProcess("go")
	near(t, "left where nobody watched", HostOf(x.b, x.id, w).Left(2, w), 2)
	x.series(x.id, evidence.SeriesProcessCPU, 1, 1, 1, 1, 0)
	x.series(x.host, evidence.SeriesHostCPUBusy, 1, 2, 4, 4, 0)
	h := HostOf(x.done(), x.id, w)
	near(t, "left in all", h.Left(4, w), 4-1.75)
	near(t, "left in the first second", h.Left(4, Window{epoch, epoch + sec}), 4)
	near(t, "left of two while others use three", h.Left(2, Window{epoch + 2*sec, epoch + 4*sec}), .25)
}

func TestNeighbours(t *testing.T) {
	x := newProcess("go")
	x.series(x.id, evidence.SeriesProcessCPU, 1, 1, 0)
	x.series(x.host, evidence.SeriesHostCPUBusy, 4, 4, 0)
	for _, cores := range []float64{.5, 1.5} {
		x.series(x.p.Subject(evidence.Subject{Name: "stress", PID: 5000 + int(cores)}), evidence.SeriesProcessCPU, cores, cores, 0)
	}
	x.p.Close()
	x.p = x.b.Builder(x.b.AddArtifact(evidence.Artifact{Name: "elsewhere.txt"}), "test")
	x.series(x.p.Subject(evidence.Subject{Name: "stranger", PID: 6000}), evidence.SeriesProcessCPU, 4, 4, 0)
	all := HostOf(x.done(), x.id, Window{epoch, epoch + 2*sec}).Neighbours()
	if len(all) != 1 || all[0] != (Neighbour{Name: "stress", Count: 2, Cores: 2, Largest: 1.5}) || all[0].String() != "stress (2 processes)" {
		t.Errorf("%+v", all)
	}
}

func TestHostMemory(t *testing.T) {
	x := newProcess("jvm")
	x.series(x.host, evidence.SeriesHostSwapIn, 10, 30, 0)
	m := HostMemoryOf(x.done(), Window{epoch, epoch + 2*sec})
	near(t, "swapped in", m.SwapIn.Number, 20)
	near(t, "huge pages", m.HugeFaults.Number, nan)
}
