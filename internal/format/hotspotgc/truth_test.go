//go:build linux

package hotspotgc

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/lab/jvmapp"
)

// churn allocates 600 MB in small pieces, many of which live for a while, and requests two
// collections.
const churn = `
public class App {
    public static void main(String[] args) throws Exception {
        Object[] live = new Object[1 << 15];
        long sum = 0;
        for (int i = 0; i < 1_200_000; i++) {
            byte[] some = new byte[400 + i % 200];
            live[(int) (i * 2654435761L >>> 7) & 0x7fff] = some;
            sum += some.length;
            if (i % 500_000 == 499_999) System.gc();
        }
        Host.say("" + sum);
    }
}`

// everyCollector of each JDK, by the flags that select it. Serial's young collections
// that become full ones are missing in JFR, so no run here is out of memory.
var everyCollector = []struct {
	major int
	flags []string
}{
	{11, []string{"-XX:+UseSerialGC"}},
	{11, []string{"-XX:+UseParallelGC"}},
	{11, []string{"-XX:+UseConcMarkSweepGC"}},
	{11, []string{"-XX:+UseG1GC"}},
	{11, []string{"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"}},
	{17, []string{"-XX:+UseSerialGC"}},
	{17, []string{"-XX:+UseParallelGC"}},
	{17, []string{"-XX:+UseG1GC"}},
	{17, []string{"-XX:+UseZGC"}},
	{17, []string{"-XX:+UseShenandoahGC"}},
	{25, []string{"-XX:+UseSerialGC"}},
	{25, []string{"-XX:+UseParallelGC"}},
	{25, []string{"-XX:+UseG1GC"}},
	{25, []string{"-XX:+UseZGC"}},
	{25, []string{"-XX:+UseShenandoahGC"}},
	{25, []string{"-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"}},
}

// TestPausesAreThoseOfTheFlightRecorder checks that the log of a run agrees with the JVM's own flight recorder: the
// same pauses, with the same lengths. The two begin and end at slightly different points (the log stops
// its watch later), which is a percent of a short pause and more if a thread is preempted
// there. So the median pause must agree within 1 %, or 50 µs, and all but a
// few within 1 ms more.
func TestPausesAreThoseOfTheFlightRecorder(t *testing.T) {
	for _, c := range everyCollector {
		name := fmt.Sprint(c.major, strings.Join(c.flags[len(c.flags)-1:], ""))
		t.Run(name, func(t *testing.T) {
			java := filepath.Join(jvmapp.Home(t, c.major), "bin", "java")
			if out, err := exec.Command(java, append(c.flags, "-version")...).CombinedOutput(); err != nil {
				t.Skipf("this JDK has no such collector: %s", out)
			}
			dir := t.TempDir()
			log, flight := filepath.Join(dir, "gc.log"), filepath.Join(dir, "flight.jfr")
			a := jvmapp.Start(t, c.major, churn, append(c.flags, "-Xms128m", "-Xmx128m",
				"-Xlog:gc*,safepoint:file="+log+":time,uptime,level,tags", "-XX:StartFlightRecording=dumponexit=true,filename="+flight)...)
			a.Line(t)
			if err := a.Stop(); err != nil {
				t.Fatal(err)
			}
			recorded, ended := flown(t, a.Home, flight)
			logged, full := pausesOf(t, log)
			// The log alone has what came before the recording began, or after it ended, and
			// one collection within: the recorder writes a collection's pauses when it ends,
			// and a concurrent one may last over later young ones, and to the end.
			underWay := 0
			ids := slices.Sorted(maps.Keys(recorded))
			first, last := ids[0], ids[len(ids)-1]
			var off []float64
			var sum, want int64
			for id, all := range logged {
				if id < first || id > last {
					continue
				}
				if recorded[id] == nil && full[id+1] { // the recorder drops a young collection that turned into a full one
					continue
				}
				if recorded[id] == nil && !ended[id] {
					underWay++
					continue
				}
				if len(all) != len(recorded[id]) {
					t.Errorf("collection %d: %d pauses in the log, %d in the flight recording", id, len(all), len(recorded[id]))
					continue
				}
				slices.Sort(all)
				slices.Sort(recorded[id])
				for n, d := range all {
					w := recorded[id][n]
					sum, want = sum+d, want+w
					off = append(off, float64(max(d-w, w-d)-50e3)/float64(w))
					if d-w > 1e6+w/100 || w-d > 1e6+w/100 {
						t.Logf("collection %d: %v in the log, %v in the flight recording", id, time.Duration(d), time.Duration(w))
					}
				}
			}
			if underWay > 1 {
				t.Errorf("%d collections of the log never end in the flight recording", underWay)
			}
			for id := range recorded {
				if logged[id] == nil {
					t.Errorf("collection %d is not in the log", id)
				}
			}
			slices.Sort(off)
			if len(off) == 0 || off[len(off)/2] > .01 {
				t.Errorf("the pauses of the log are not those of the flight recording: %v", off)
			}
			t.Logf("%d pauses, %v in the log, %v in the flight recording (%+.2f %%)", len(off), time.Duration(sum), time.Duration(want), 100*(float64(sum)/float64(want)-1))
		})
	}
}

// pausesOf returns the pauses (ns) of each collection of a log, all of whose lines must be
// understood, and says which collections were full ones.
func pausesOf(t *testing.T, log string) (pauses map[int64][]int64, full map[int64]bool) {
	t.Helper()
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, format.File(log), b); err != nil {
		t.Fatal(err)
	}
	for _, f := range b.Facts {
		if f.Key == evidence.FactLinesUnexplained && f.Number != 0 {
			t.Errorf("%v lines were not understood: %v", f.Number, b.Warnings)
		}
	}
	pauses, full = make(map[int64][]int64), make(map[int64]bool)
	for _, i := range b.Intervals.Select(evidence.StopTheWorld, -1) {
		id, ok := b.Intervals.Get(i, evidence.CycleNumber)
		if !ok {
			t.Fatalf("a pause has no number: %s", b.OriginText(b.Intervals.Origin.At(i)))
		}
		pauses[int64(id)] = append(pauses[int64(id)], b.Intervals.End[i]-b.Intervals.Start[i])
		p, _ := b.Intervals.PauseOf(i)
		full[int64(id)] = full[int64(id)] || p == evidence.PauseFull
	}
	return pauses, full
}

// flown returns the pauses (ns) of each collection of a flight recording, and says for which
// the recording has the end.
func flown(t *testing.T, home, recording string) (pauses map[int64][]int64, ended map[int64]bool) {
	t.Helper()
	out, err := exec.Command(filepath.Join(home, "bin", "jfr"), "print", "--json", "--events", "jdk.GCPhasePause,jdk.GarbageCollection", recording).Output()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Recording struct {
			Events []struct {
				Type   string
				Values struct {
					Duration string
					GcID     int64
				}
			}
		}
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	pauses, ended = make(map[int64][]int64), make(map[int64]bool)
	for _, e := range read.Recording.Events {
		if e.Type == "jdk.GarbageCollection" {
			ended[e.Values.GcID] = true
			continue
		}
		d, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(e.Values.Duration, "PT")))
		if err != nil {
			t.Fatal(err)
		}
		pauses[e.Values.GcID] = append(pauses[e.Values.GcID], int64(d))
	}
	if len(pauses) == 0 {
		t.Fatal("the flight recording has no pause")
	}
	return pauses, ended
}
