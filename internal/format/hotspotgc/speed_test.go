package hotspotgc

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// g1Log returns JDK 17's log of n young collections.
func g1Log(n int) []byte {
	var w bytes.Buffer
	w.WriteString("[2026-11-21T13:45:05.973+0000][0.004s][info][gc] Using G1\n")
	for i := range n {
		p := fmt.Sprintf("[2026-11-21T%02d:%02d:%02d.%03d+0000][%d.%03ds][info][", i/36000%24, i/600%60, i/10%60, i%10*100, i/10, i%10*100)
		for _, l := range []string{
			"gc,start     ] GC(%d) Pause Young (Normal) (G1 Evacuation Pause)",
			"gc,task      ] GC(%d) Using 2 workers of 2 for evacuation",
			"gc,phases    ] GC(%d)   Pre Evacuate Collection Set: 0.1ms",
			"gc,phases    ] GC(%d)   Merge Heap Roots: 0.1ms",
			"gc,phases    ] GC(%d)   Evacuate Collection Set: 2.7ms",
			"gc,phases    ] GC(%d)   Post Evacuate Collection Set: 0.4ms",
			"gc,phases    ] GC(%d)   Other: 0.1ms",
			"gc,heap      ] GC(%d) Eden regions: 24->0(150)",
			"gc,heap      ] GC(%d) Survivor regions: 0->3(3)",
			"gc,heap      ] GC(%d) Old regions: 0->0",
			"gc,heap      ] GC(%d) Archive regions: 2->2",
			"gc,heap      ] GC(%d) Humongous regions: 0->0",
			"gc,metaspace ] GC(%d) Metaspace: 122K(320K)->122K(320K) NonClass: 116K(192K)->116K(192K) Class: 5K(128K)->5K(128K)",
			"gc           ] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) 24M->3M(256M) 3.405ms",
			"gc,cpu       ] GC(%d) User=0.01s Sys=0.00s Real=0.00s",
		} {
			w.WriteString(p)
			fmt.Fprintf(&w, l+"\n", i)
		}
		w.WriteString(p + `safepoint    ] Safepoint "G1CollectForAllocation", Time since last: 104052781 ns, Reaching safepoint: 135 ns, Cleanup: 3211 ns, At safepoint: 3492334 ns, Total: 3495680 ns` + "\n")
	}
	return w.Bytes()
}

// cmsLog returns JDK 8's log of n ParNew collections.
func cmsLog(n int) []byte {
	var w bytes.Buffer
	for i := range n {
		stamp := fmt.Sprintf("2020-03-25T%02d:%02d:%02d.%03d+0800: %d.%03d", i/36000%24, i/600%60, i/10%60, i%10*100, 1294233+i/10, i%10*100)
		fmt.Fprintf(&w, "%s: [GC (Allocation Failure) %s: [ParNew: 1770060K->25950K(1922432K), 0.0317141 secs] 2105763K->361653K(4019584K), 0.0323010 secs] [Times: user=0.12 sys=0.00, real=0.04 secs]\n", stamp, stamp)
	}
	return w.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		log  []byte
	}{{"g1", g1Log(10_000)}, {"cms", cmsLog(50_000)}} {
		a := formattest.Artifact(c.name, c.log)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			b.ReportAllocs()
			for b.Loop() {
				if err := format.Read(context.Background(), []format.Format{Format}, a, evidence.NewBundle()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Reading must not allocate per line: beside its rows, a log of thousands of collections costs
// as much as one of a few.
func TestNoAllocationPerLine(t *testing.T) {
	for name, log := range map[string][]byte{"g1": g1Log(50), "cms": cmsLog(50)} {
		b := evidence.NewBundle()
		o := newOutput(b.Builder(b.AddArtifact(evidence.Artifact{Name: name}), "hotspotgc"))
		o.b.RoomForIntervals(1 << 16)
		r := reader{o: o, unified: newUnified(o), legacy: newLegacy(o)}
		var s looked
		var k looker
		lines := bytes.Split(log, []byte("\n"))
		read := func() {
			for i, l := range lines {
				k.examineLine(l, &s)
				r.parseLine(format.Line{Text: l, Number: int64(i + 1)}, &s)
			}
		}
		for range 100 { // until columns have the room of a block
			read()
		}
		if n := testing.AllocsPerRun(20, read); n > 3 { // the blocks of figures
			t.Errorf("%s: %v allocations for %d lines", name, n, len(lines))
		}
	}
}
