package jfr

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// logged is a pause in a log: its collection, and its length.
var logged = regexp.MustCompile(`GC\((\d+)\) Pause .* ([0-9.]+)ms`)

// TestPauses compares pauses with the GC log of the same run: the same pauses for each collection within the recording, with the same length. The
// JVM takes the two times at slightly different points: the median must agree within 50 µs, each within a millisecond
// and 2 %, as a thread may be preempted there.
func TestPauses(t *testing.T) {
	for _, n := range releases {
		log, err := os.ReadFile(fmt.Sprintf("testdata/jdk%d.gc.log", n))
		if err != nil {
			t.Fatal(err)
		}
		told := make(map[int][]float64)
		for _, m := range logged.FindAllStringSubmatch(string(log), -1) {
			id, _ := strconv.Atoi(m[1])
			ms, _ := strconv.ParseFloat(m[2], 64)
			told[id] = append(told[id], ms)
		}
		b := suite.MustRead(t, sample(t, n))
		v := &b.Intervals
		var off []float64
		first, last := -1, 0
		for _, i := range v.Select(evidence.StopTheWorld, 0) {
			number, _ := v.Get(i, evidence.CycleNumber)
			id, ms := int(number), float64(v.End[i]-v.Start[i])/1e6
			if first < 0 {
				first = id
			}
			last = max(last, id)
			if len(told[id]) == 0 {
				t.Errorf("JDK %d: collection %d paused for %v ms, of which the log has nothing", n, id, ms)
				continue
			}
			d := max(ms-told[id][0], told[id][0]-ms)
			if told[id] = told[id][1:]; d > 1+.02*ms {
				t.Errorf("JDK %d: collection %d paused for %v ms, the log is %v off", n, id, ms, d)
			}
			off = append(off, d)
		}
		for id, left := range told {
			if id > first && id < last && len(left) > 0 {
				t.Errorf("JDK %d: collection %d has pauses in the log alone: %v ms", n, id, left)
			}
		}
		slices.Sort(off)
		if len(off) < 5 || off[len(off)/2] > .05 {
			t.Errorf("JDK %d: off by %v ms", n, off)
		}
	}
}
