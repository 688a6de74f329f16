package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestProcess(t *testing.T) {
	x := newProcess("go")
	x.series(x.id, evidence.SeriesProcessCPU, 1, 1, 2, 2, 0)
	x.series(x.id, evidence.SeriesProcessMinorFaults, 100, 500, 500, 100, 0)
	b := x.done()
	p := ProcessOf(b, x.id, Window{epoch + sec, epoch + 3*sec})
	near(t, "CPU", p.CPU.Number, 1.5)
	near(t, "faults", p.MinorFaults.Number, 500)
	near(t, "faults before and after", p.FaultsElse.Number, 100)
	near(t, "resident", p.RSS.Number, nan)
	near(t, "run delay", p.RunDelay.Number, nan)
	if a, ok := p.CPU.Origin.Artifact(); !ok || b.Artifacts[a].Name != "recording" {
		t.Errorf("the CPU is from %s", b.OriginText(p.CPU.Origin))
	}
	near(t, "faults else, of all that was watched", ProcessOf(b, x.id, Whole).FaultsElse.Number, nan)
	near(t, "CPU at another time", ProcessOf(b, x.id, Window{epoch + 60*sec, epoch + 62*sec}).CPU.Number, nan)
	near(t, "CPU of nobody", ProcessOf(b, x.host, Whole).CPU.Number, nan)
	if w := WatchedTime(b, x.id); w != (Window{epoch, epoch + 4*sec}) {
		t.Errorf("watched %v", w)
	}
}

// Of several recordings that counts which watched most of the window.
func TestLongestWatched(t *testing.T) {
	x := newProcess("go")
	x.series(x.id, evidence.SeriesProcessCPU, 1, 1)
	x.series(x.id, evidence.SeriesProcessCPU, 2, 2, 2, 2)
	near(t, "CPU", ProcessOf(x.done(), x.id, Window{epoch, epoch + 3*sec}).CPU.Number, 2)
}

func TestProcessorsUsed(t *testing.T) {
	w := Window{epoch, epoch + 2*sec}
	x := newProcess("dotnet")
	x.series(x.id, evidence.SeriesCPU, 50, 50, 50)
	near(t, "by the runtime", ProcessorsUsed(x.b, x.id, 4, w).Number, 2)
	x.series(x.id, evidence.SeriesProcessCPU, 3, 3, 3)
	near(t, "by the kernel", ProcessorsUsed(x.b, x.id, 4, w).Number, 3)
	near(t, "of a tenth of the window", ProcessorsUsed(x.b, x.id, 4, Window{epoch, epoch + 20*sec}).Number, nan)
}

func TestQuota(t *testing.T) {
	w := Window{epoch, epoch + 2*sec}
	x := newProcess("go")
	near(t, "share of no recording", QuotaOf(x.b, x.id, -1, w).Share(), nan)
	x.series(x.id, evidence.SeriesCgroupCPUPeriods, 10, 10, 0)
	near(t, "share where stops were not counted", QuotaOf(x.b, x.id, -1, w).Share(), nan)
	x.series(x.id, evidence.SeriesCgroupCPUThrottledPeriods, 0, 5, 0)
	q := QuotaOf(x.b, x.id, -1, w)
	near(t, "periods", q.Periods.Number, 20)
	near(t, "stopped", q.Stopped.Number, 5)
	near(t, "share", q.Share(), .25)
	near(t, "quota", q.CPUs.Number, nan)
	near(t, "waiting", q.Waiting.Number, nan)
	x.p.Fact(evidence.Fact{Subject: x.id, Key: evidence.FactContainerCPU, Number: 1.5})
	near(t, "quota", QuotaOf(x.b, x.id, -1, w).CPUs.Number, 1.5)
}
