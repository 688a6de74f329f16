package hotspotgc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// The forms of JDK 9 and later, and of all releases what came in the field; those of JDK
// 1.3 to 8 are in legacy, a file for a collector.
var (
	suite = formattest.Suite{Format: Format, Name: "gc.log", Render: render, Match: heads,
		More: func(testing.TB) [][]byte {
			return [][]byte{g1Log(2), cmsLog(2), []byte(inTurn),
				[]byte("[1.5s][info][gc,phases] GC(2) Y: Pause Mark Start (Major) 0.013ms\n[1.5s][info][gc] GC(2) Major Collection (Warmup) 76M(79%)->86M(90%) 0.010s\n[1.6s][info][gc] Allocation Stall (worker 1) 9.880ms\n"),
				[]byte("GC(1) Pause Full (System.gc()) 31M->2M(96M) 9.8ms\nGC(0) Pause Young (Allocation Failure) 31M->2M(96M) 9.9ms\n"),
				[]byte("1294233.100: [GC (Allocation Failure) 1294233.100: [ParNew: 1770060K->25950K(1922432K), 0.03171450K(19] 2105763K->361653K(4019584K), 0.0323010 secs] [Times: user=0.12 sys=0.00, real=0.04 secs]\n")}
		}}
	legacySuite = formattest.Suite{Format: Format, Name: "gc.log", Dir: "testdata/legacy", Render: rendered}
)

func TestFormat(t *testing.T) { suite.Test(t) }
func TestLegacy(t *testing.T) { legacySuite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }
func FuzzLegacy(f *testing.F) { legacySuite.Fuzz(f) }

var heads = map[string]format.Confidence{
	"[0.016s][info][gc] Using Serial\n": format.Sure,
	"[2026-11-21T13:45:06.064+0000][host-1][4711][info ][gc,heap      ] GC(0) DefNew: 26240K->1092K(29504K)\n":                                  format.Sure,
	"some application says this first\nGC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->3M(256M) 3.405ms\n":                                format.Sure,
	"2020-03-25T16:16:18.390+0800: 1294233.934: [GC (Allocation Failure) 1294233.935: [ParNew: 1K->1K(2K), 0.03 secs] 1K->1K(2K), 0.03 secs]\n": format.Sure,
	"[info] listening on :8080\n[warning] slow\n":  format.No,
	"[2026-11-21T13:45:06.064+0000] GET /gc 200\n": format.No,
	"[0.016s] done\n":     format.No,
	"Using G1000 units\n": format.No,
	"gc 1 @0.1s 1%: 0.1+1+0.1 ms clock, 0.1+0/1/1+0.1 ms cpu, 4->4->1 MB, 5 MB goal, 2 P\n": format.No,
	"": format.No,
}

// The incident's line, to the kilobyte and microsecond.
func TestIncident(t *testing.T) {
	b, err := suite.Read([]byte("2020-03-25T16:16:18.390+0800: 1294233.934: [GC (Allocation Failure) 2020-03-25T16:16:18.391+0800: 1294233.935: [ParNew: 1770060K->25950K(1922432K), 0.0317141 secs] 2105763K->361653K(4019584K), 0.0323010 secs] [Times: user=0.12 sys=0.00, real=0.04 secs]\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := &b.Intervals
	if v.Len() != 1 || v.End[0]-v.Start[0] != 32301e3 || b.Names.Text(v.Cause.At(0)) != "ParNew" || b.Names.Text(v.NameOf(0, evidence.Trigger)) != "Allocation Failure" {
		t.Fatalf("%d rows, %d ns, %q %q", v.Len(), v.End[0]-v.Start[0], b.Names.Text(v.Cause.At(0)), b.Names.Text(v.NameOf(0, evidence.Trigger)))
	}
	for k, want := range map[evidence.Key]float64{
		evidence.YoungBefore: 1770060 << 10, evidence.YoungAfter: 25950 << 10, evidence.YoungCapacity: 1922432 << 10,
		evidence.HeapBefore: 2105763 << 10, evidence.HeapAfter: 361653 << 10, evidence.HeapCapacity: 4019584 << 10,
		evidence.UserCPU: .12e9, evidence.SystemCPU: 0, evidence.RealTime: .04e9, evidence.PauseOf: float64(evidence.PauseYoung),
	} {
		if got, ok := v.Get(0, k); !ok || got != want {
			t.Errorf("%s: %v %v, want %v", k, got, ok, want)
		}
	}
}

func TestNoCollector(t *testing.T) {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "log"}), "hotspotgc")
	err := Format.Parse(context.Background(), formattest.Artifact("log", []byte("hello\nworld\n")), p)
	if err == nil || !strings.Contains(err.Error(), "none of its 2 lines") || b.Intervals.Len() > 0 {
		t.Errorf("%v, %d rows", err, b.Intervals.Len())
	}
}

// Tools that prepare a log put the processor times behind the pause that they are of.
func TestJoinedProcessorTimes(t *testing.T) {
	const apart = "[1.500s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 741M->221M(776M) 11.902ms\n[1.501s][info][gc,cpu] GC(3) User=0.02s Sys=0.01s Real=0.01s\n" +
		"[2.500s][info][gc] GC(4) Pause Full (System.gc()) 221M->120M(776M) 301.5ms\n[2.501s][info][gc,cpu] GC(4) User=0.90s Sys=0.01s Real=0.30s\n"
	const joined = "[1.500s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 741M->221M(776M) 11.902ms User=0.02s Sys=0.01s Real=0.01s\n" +
		"[2.500s][info][gc] GC(4) Pause Full (System.gc()) 221M->120M(776M) 301.5ms User=0.90s Sys=0.01s Real=0.30s\n"
	rows := func(text string) (out []string) {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("gc.log", []byte(text)), b); err != nil {
			t.Fatal(err)
		}
		v := &b.Intervals
		for i := range v.Start {
			line := fmt.Sprint(v.Start[i], v.End[i])
			for _, k := range []evidence.Key{evidence.UserCPU, evidence.SystemCPU, evidence.RealTime} {
				x, _ := v.Get(i, k)
				line += fmt.Sprint(" ", x)
			}
			out = append(out, line)
		}
		return out
	}
	if got, want := rows(joined), rows(apart); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
