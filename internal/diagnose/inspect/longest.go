package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// Longest is one of the longest pauses, with the collector's own facts. Unknown is null or absent.
type Longest struct {
	At      *time.Time `json:"at"`                // null: the log has no time of day
	ClockS  *float64   `json:"clock_s,omitempty"` // the time on the log's own clock then, mostly since the JVM's start
	Kind    string     `json:"kind"`
	Cause   string     `json:"cause,omitempty"`
	Failure string     `json:"failure,omitempty"` // what went wrong in the pause
	PauseS  float64    `json:"pause_s"`
	YoungS  *float64   `json:"young_s,omitempty"` // the part for the young generation
	Young   *Change    `json:"young_bytes,omitempty"`
	Heap    *Change    `json:"heap_bytes,omitempty"`
	UserS   *float64   `json:"user_s,omitempty"`
	SystemS *float64   `json:"sys_s,omitempty"`
	RealS   *float64   `json:"real_s,omitempty"`
	Origin  string     `json:"origin"`
}

// Change is the use before and after a collection, and the capacity.
type Change struct {
	Before   float64  `json:"before"`
	After    float64  `json:"after"`
	Capacity *float64 `json:"capacity,omitempty"`
}

// mostLongest is how many pauses are listed one by one.
const mostLongest = 5

// longestPauses returns the longest pauses of a JVM, the longest first.
func longestPauses(b *evidence.Bundle, pauses []int) (out []Longest) {
	v := &b.Intervals
	length := func(i int) int64 { return (v.End[i] - v.Start[i]) / v.Repeats(i) }
	var most [mostLongest + 1]int
	n := 0
	for _, i := range pauses {
		at := n
		for at > 0 && length(i) > length(most[at-1]) {
			most[at] = most[at-1]
			at--
		}
		most[at] = i
		n = min(n+1, mostLongest)
	}
	for _, i := range most[:n] {
		out = append(out, newLongest(b, i))
	}
	return out
}

// newLongest describes a pause.
func newLongest(b *evidence.Bundle, i int) Longest {
	v := &b.Intervals
	l := Longest{Kind: causeOf(b, i), Cause: b.Names.Text(v.NameOf(i, evidence.Trigger)),
		Failure: b.Names.Text(v.NameOf(i, evidence.Failure)), PauseS: float64((v.End[i]-v.Start[i])/v.Repeats(i)) / 1e9, Origin: b.OriginText(v.Origin.At(i))}
	switch c := &b.Clocks[v.Clock.At(i)]; {
	case c.Anchored():
		l.At = utcTime(v.Start[i])
	case c.Resolution > 0: // otherwise there are no stamps
		l.ClockS = secondsOf(v.Start[i])
	}
	l.Young = changeOf(v, i, evidence.YoungBefore, evidence.YoungAfter, evidence.YoungCapacity)
	l.Heap = changeOf(v, i, evidence.HeapBefore, evidence.HeapAfter, evidence.HeapCapacity)
	rows := []int{i}
	l.YoungS, l.UserS, l.SystemS, l.RealS = sumSeconds(v, rows, evidence.YoungTime), sumSeconds(v, rows, evidence.UserCPU), sumSeconds(v, rows, evidence.SystemCPU), sumSeconds(v, rows, evidence.RealTime)
	return l
}

func changeOf(v *evidence.Intervals, i int, before, after, capacity evidence.Key) *Change {
	x, ok1 := v.Get(i, before)
	y, ok2 := v.Get(i, after)
	if !ok1 || !ok2 {
		return nil
	}
	c := &Change{Before: x, After: y}
	if z, ok := v.Get(i, capacity); ok {
		c.Capacity = &z
	}
	return c
}

// longestTable writes the longest pauses in the form of logs, so that users find the line again.
func longestTable(all []Longest) Table {
	t := Table{Title: "Longest pauses", Columns: []string{"when", "kind", "cause", "pause", "young generation", "heap", "user, sys, real"}}
	for _, l := range all {
		when := ""
		switch {
		case l.At != nil:
			when = l.At.Format("2006-01-02 15:04:05.000")
		case l.ClockS != nil:
			when = fmt.Sprintf("%.3f s", *l.ClockS)
		}
		why := strings.TrimPrefix(l.Cause+", "+l.Failure, ", ")
		young := l.Young.String()
		if l.YoungS != nil {
			young += " in " + units.Time(*l.YoungS*1e9)
		}
		t.Rows = append(t.Rows, []string{when, l.Kind, strings.TrimSuffix(why, ", "), units.Time(l.PauseS * 1e9), strings.TrimSpace(young), l.Heap.String(), l.formatTimes()})
	}
	return t
}

// String writes a change as "1770060K→25950K(1922432K)": in KiB, or MiB where that is exact; ""
// for nil.
func (c *Change) String() string {
	if c == nil {
		return ""
	}
	unit, letter := float64(1<<20), "M"
	all := []float64{c.Before, c.After}
	if c.Capacity != nil {
		all = append(all, *c.Capacity)
	}
	for _, x := range all {
		if x != unit*float64(int64(x/unit)) {
			unit, letter = 1<<10, "K"
			break
		}
	}
	text := fmt.Sprintf("%.0f%s→%.0f%[2]s", c.Before/unit, letter, c.After/unit)
	if c.Capacity != nil {
		text += fmt.Sprintf("(%.0f%s)", *c.Capacity/unit, letter)
	}
	return text
}

func (l *Longest) formatTimes() string {
	if l.UserS == nil || l.SystemS == nil || l.RealS == nil {
		return ""
	}
	return fmt.Sprintf("%.2f %.2f %.2f s", *l.UserS, *l.SystemS, *l.RealS)
}
