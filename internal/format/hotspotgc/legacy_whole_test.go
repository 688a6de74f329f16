package hotspotgc

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// readWhole reads a log line by line, with or without the workers' reading of whole pauses.
func readWhole(log []byte, with bool) (read string, whole int) {
	b := evidence.NewBundle()
	o := newOutput(b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log"}), "hotspotgc"))
	r := reader{o: o, unified: newUnified(o), legacy: newLegacy(o)}
	var seen [3]looked // used in turn, as slots of a batch are
	look := newLook()
	for i, text := range bytes.Split(log, []byte("\n")) {
		l, s := format.Line{Text: text, Number: int64(i + 1)}, &seen[i%len(seen)]
		look(l, s)
		if s.whole {
			whole++
		}
		s.whole = s.whole && with
		r.parseLine(l, s)
	}
	r.unified.close()
	r.legacy.close()
	o.rows.close()
	o.emitSummary(r.number)
	return render(b, nil) + rendered(b, nil) + fmt.Sprintln(r.legacy.pauseEnd, r.legacy.seen, o.unexplained, o.ignored, o.clock), whole
}

// wholeLines are pauses on one line, and lines that look like them.
var wholeLines = []string{
	"2020-03-25T16:16:18.390+0800: 1294233.934: [GC (Allocation Failure) 2020-03-25T16:16:18.391+0800: 1294233.935: [ParNew: 1770060K->25950K(1922432K), 0.0317141 secs] 2105763K->361653K(4019584K), 0.0323010 secs] [Times: user=0.12 sys=0.00, real=0.04 secs] \n",
	"12.891: [GC 12.891: [DefNew: 26240K->1092K(29504K), 0.0010000 secs] 30M->5M(1G), 0.0012 secs]\n12.990: Total time for which application threads were stopped: 0.0013 seconds\n",
	"1.5: [GC [PSYoungGen: 1024K->512K(2048K)] 4096K->3584K(8192K), 0,0023 secs] [Times: user=0,01 sys=0,00, real=0,01 secs]\n",
	"1.500: [Full GC (Ergonomics) [PSYoungGen: 1024K->0K(2048K)] [ParOldGen: 3072K->900K(8192K)] 4096K->900K(10240K), [Metaspace: 2700K->2700K(1056768K)], 0.0223 secs] [Times: user=0.01 sys=0.00, real=0.01 secs]\n",
	"2.500: [GC (Allocation Failure) 2.500: [ParNew: 10K->2K(20K), 0.001 secs]2.501: [CMS: 30K->20K(80K), 0.05 secs] 40K->22K(100K), [CMS Perm : 5K->5K(10K)], 0.0521 secs]\n",
	"3.500: [GC (System.gc()) 30K->22K(100K), 0.0021 secs]\n3.600: [GC (System) 30K->22K(100K), 0.0021 secs]\n3.700: [GC (promotion failed) 30K->22K(100K), 0.0021 secs]\n",
	"4.500: [GC (CMS Final Remark) 4.500: [ParNew: 10K->2K(20K), 0.001 secs] 30K->22K(100K), 0.0021 secs]\n4.600: [GC-- 30K->22K(100K), 0.0021 secs]\n",
	"5.500: 5.600: [GC 30K->22K(100K), 0.0021 secs] trailing\n1234567890.5: [GC 30K->22K(100K), 0.0021 secs]\n6.500: [GC 12345678901K->22K(100K), 0.0021 secs]\n",
	"7.500: [GC 7.500: [ParNew7.510: [GC 30K->22K(100K), 0.0021 secs]\n: 10K->2K(20K), 0.001 secs] 30K->22K(100K), 0.0021 secs]\n",
	"8.500: \n8.600: [GC 30K->22K(100K), 0.0021 secs]\n   [Eden: 14.0M(14.0M)->0.0B(12.0M) Survivors: 3072.0K->3072.0K Heap: 54.8M(77.0M)->54.8M(88.0M)]\n8.700: [GC 30K->22K(100K), 8.701: 0.0021 secs]\n",
	"2020-03-25T16:16:18.390+0800: [GC (Allocation Failure) [ParNew: 10.5K->2K(20K), 0.001 secs] 30K->22K(100K), 0.0021 secs] [Times: user=0.12 sys=0.00, real=0.04 secs\n",
	"{Heap before GC invocations=0 (full 0):\n9.500: [GC 9.500: [ParNew: 10K->2K(20K), 0.001 secs] 30K->22K(100K), 0.0021 secs] [Times: user=0.12 sys=0.00, real=0.04 secs]\nHeap after GC invocations=1 (full 0):\n",
}

// TestWhole checks that whole pauses are read like the same lines as brackets.
func TestWhole(t *testing.T) {
	logs := [][]byte{cmsLog(100)}
	for _, l := range wholeLines {
		logs = append(logs, []byte(l))
	}
	more, _ := filepath.Glob("testdata/legacy/*.txtar")
	others, _ := filepath.Glob(filepath.Join(corpus, "*"))
	for _, name := range append(more, others...) {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log)
	}
	least := math.MaxInt
	for i, log := range logs {
		sameWhole(t, log)
		if _, n := readWhole(log, true); i == 0 {
			least = n
		}
	}
	if least < 100 {
		t.Errorf("%d of 100 pauses are read as whole ones", least)
	}
}

func FuzzWhole(f *testing.F) {
	for _, l := range wholeLines {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, log []byte) { sameWhole(t, log) })
}

func sameWhole(t *testing.T, log []byte) {
	t.Helper()
	got, _ := readWhole(log, true)
	if want, _ := readWhole(log, false); got != want {
		t.Errorf("%.300q\nis read as\n%s\nas brackets it is\n%s", log, got, want)
	}
}
