package ballast

import (
	"fmt"
	"io/ioutil"
	"os"
	"strings"
	"testing"
)

// memory is what ps shows of a process (VSZ, RSS, MINFLT), from
// /proc/self/statm and field 10 of /proc/self/stat.
type memory struct{ Virtual, Resident, Faults int }

func (m memory) String() string {
	return fmt.Sprintf("VSZ %d MiB, RSS %.1f MiB, minor faults %d", m.Virtual>>20, float64(m.Resident)/(1<<20), m.Faults)
}

func look() (m memory) {
	statm, err := ioutil.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	stat, err := ioutil.ReadFile("/proc/self/stat")
	if err != nil {
		panic(err)
	}
	if _, err := fmt.Sscan(string(statm), &m.Virtual, &m.Resident); err != nil {
		panic(err)
	}
	m.Virtual, m.Resident = m.Virtual*os.Getpagesize(), m.Resident*os.Getpagesize()
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the third on
	if _, err := fmt.Sscan(fields[7], &m.Faults); err != nil {
		panic(err)
	}
	return m
}

// looks are before New, after it, after half of the ballast was written to, and
// after all of it was.
type looks struct{ Before, Untouched, Half, Whole memory }

func init() {
	tasks["resident"] = func() interface{} {
		var l looks
		l.Before = look()
		b := New(mib256)
		l.Untouched = look()
		touch(b.memory[:mib256/2])
		l.Half = look()
		touch(b.memory)
		l.Whole = look()
		return l
	}
}

func touch(p []byte) {
	for i := 0; i < len(p); i += os.Getpagesize() {
		p[i] = 1
	}
}

func TestNotResidentUntilTouched(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector keeps a shadow of all memory, of this too")
	}
	var l looks
	inProcess(t, "resident", &l)
	t.Logf("\nbefore     %v\nuntouched  %v\nhalf       %v\nwhole      %v", l.Before, l.Untouched, l.Half, l.Whole)

	// The runtime reserves address space 64 MiB at a time, some of it beforehand.
	if grown := l.Untouched.Virtual - l.Before.Virtual; grown < mib256-64<<20 {
		t.Errorf("VSZ grew by %d, want about %d", grown, mib256)
	}
	// The index of pages, a collection, and huge pages at both ends.
	const slack = mib256 / 20
	if grown := l.Untouched.Resident - l.Before.Resident; grown > slack {
		t.Errorf("RSS grew by %d for memory nobody touched", grown)
	}
	if faults := l.Untouched.Faults - l.Before.Faults; faults > slack/os.Getpagesize() {
		t.Errorf("%d minor faults for memory nobody touched", faults)
	}
	for _, c := range []struct {
		what string
		now  memory
		want int
	}{{"half", l.Half, mib256 / 2}, {"all", l.Whole, mib256}} {
		grown := c.now.Resident - l.Untouched.Resident
		if grown < c.want-slack || grown > c.want+slack {
			t.Errorf("RSS grew by %d when %s of it was written to, want %d ± %d", grown, c.what, c.want, slack)
		}
		// With transparent huge pages one fault brings 2 MiB (on arm64 up to 512).
		if c.now.Faults == l.Untouched.Faults {
			t.Errorf("no minor fault when %s of it was written to", c.what)
		}
	}
	if grown := l.Whole.Virtual - l.Untouched.Virtual; grown > slack {
		t.Errorf("VSZ grew by %d when it was written to", grown)
	}
}
