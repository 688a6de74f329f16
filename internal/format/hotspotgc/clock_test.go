package hotspotgc

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Lines of two JVMs in turn: what a line tells is of the JVM that wrote it, though it is
// complete only when the other one's next line is read.
const inTurn = `2014-04-16T09:48:09.968+0900: 189.025: [GC pause (G1 Evacuation Pause) (mixed), 0.1177985 secs]
2014-04-16T09:48:10.138+0900: 9.195: [GC pause (G1 Humongous Allocation) (young), 0.0459942 secs]
2014-04-16T09:48:11.525+0900: 190.581: [GC concurrent-cleanup-start]
`

func TestJVMsInTurn(t *testing.T) {
	b := suite.MustRead(t, []byte(inTurn))
	v := &b.Intervals
	if v.Len() != 2 || v.Subject.At(0) == v.Subject.At(1) {
		t.Fatalf("%d pauses of subjects %v, want 2 of two", v.Len(), []evidence.SubjectID{v.Subject.At(0), v.Subject.At(1)})
	}
	for i := range v.Len() {
		if n := len(b.Covered(v.Subject.At(i), evidence.CoverGC)); n == 0 {
			t.Errorf("subject %d is not covered", v.Subject.At(i))
		}
	}
}

// What has no stamp ends at the first stamp after it, in whatever way that is written: no
// log covers the time from the epoch, or from the start of a JVM that it tells nothing of.
func TestUndatedBeforeDated(t *testing.T) {
	const (
		pause = "[GC [PSYoungGen: 90240K->15018K(105280K)] 90240K->31468K(225664K), 0.0334340 secs] [Times: user=0.04 sys=0.02, real=0.04 secs] \n"
		stop  = "Total time for which application threads were stopped: 0.5003160 seconds\n"
		row   = "4.250: ParallelGCFailedAllocation [ 9 0 0 ] [ 0 0 0 0 33 ] 0\n"
		mark  = "[GC concurrent-mark-start]\n"
		died  = "[GC concurrent-mark-abort]\n"

		date, later = "2016-12-29T15:29:01.404+0100: ", "2016-12-29T15:29:02.404+0100: "
		dated       = int64(1483021741404) * 1e6
	)
	for name, c := range map[string]struct {
		log         string
		from, until int64
	}{
		"stop, date and uptime": {stop + date + "4.364: " + pause + later + "5.364: " + pause, dated - 500316e3, dated + 1e9 + 33434e3},
		"stop, date":            {stop + date + pause + later + pause, dated - 500316e3, dated + 1e9 + 33434e3},
		"stop, uptime":          {stop + "94.364: " + pause + "95.364: " + pause, 94364e6 - 500316e3, 95364e6 + 33434e3},
		"pause held":            {pause + date + "4.364: " + mark + later + "5.364: " + pause, dated - 33434e3, dated + 1e9 + 33434e3},
		"phase open":            {mark + stop + date + "4.364: " + died, dated - 500316e3, dated},
		"row, date":             {date + pause + row + later + pause, dated, dated + 1e9 + 33434e3},
		"row first, date":       {row + date + pause + later + pause, dated - 33e6, dated + 1e9 + 33434e3},
		"row first, both":       {row + date + "4.364: " + pause + later + "5.364: " + pause, dated - 114e6, dated + 1e9 + 33434e3},
		"row first, uptime":     {row + "4.364: " + pause + "5.364: " + pause, 4250e6, 5364e6 + 33434e3},
		"unified": {"GC(0) Pause Young (Allocation Failure) 31M->2M(96M) 500.316ms\n[2016-12-29T15:29:01.404+0100] GC(1) Pause Young (Allocation Failure) 31M->2M(96M) 9.8ms\n",
			dated - 9.8e6 - 500316e3, dated},
	} {
		b, err := suite.Parse(Format, []byte(c.log))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, x := range b.Coverage {
			if x.Kind == evidence.CoverGC && (x.From < c.from-50e6 || x.From > c.from+50e6 || x.Until != c.until) {
				t.Errorf("%s: covers %d to %d, want %d to %d", name, x.From, x.Until, c.from, c.until)
			}
		}
		for i := range b.Intervals.Len() {
			if s := b.Intervals.Start[i]; s < c.from-50e6 || b.Intervals.End[i] > c.until {
				t.Errorf("%s: line %d is at %d, want %d to %d", name, b.Intervals.Origin.At(i).Position(), s, c.from, c.until)
			}
		}
	}
}
