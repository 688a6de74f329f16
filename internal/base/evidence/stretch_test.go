package evidence

import "testing"

// Pieces of one log are of one process where one goes on with the other, and of two where
// they overlap, begin anew or leave out what lies between.
func TestPiecesOfOneLog(t *testing.T) {
	const second = int64(1e9)
	type piece struct {
		name string
		Stretch
	}
	for _, c := range []struct {
		why    string
		pieces []piece
		want   int // processes
	}{
		{"numbers go on, newest first", []piece{{"gc.log", Stretch{From: 90 * second, Until: 120 * second, First: 41, Last: 60}}, {"gc.log.0", Stretch{From: second, Until: 80 * second, First: 0, Last: 40}}}, 1},
		{"three pieces", []piece{{"c", Stretch{From: 9 * second, Until: 12 * second, First: 9, Last: 12}}, {"a", Stretch{From: 0, Until: 3 * second, First: 0, Last: 3}}, {"b", Stretch{From: 4 * second, Until: 8 * second, First: 4, Last: 8}}}, 1},
		{"numbers are missing", []piece{{"gc.log", Stretch{From: 90 * second, Until: 120 * second, First: 51, Last: 60}}, {"gc.log.0", Stretch{From: second, Until: 80 * second, First: 0, Last: 40}}}, 2},
		{"times overlap", []piece{{"gc.log", Stretch{From: 70 * second, Until: 120 * second, First: 41, Last: 60}}, {"gc.log.0", Stretch{From: second, Until: 80 * second, First: 0, Last: 40}}}, 2},
		{"the same start, numbers missing", []piece{{"a", Stretch{Began: 1e18, From: 90 * second, Until: 120 * second, First: 51, Last: 60}}, {"b", Stretch{Began: 1e18 + 5e6, From: second, Until: 80 * second, First: 0, Last: 40}}}, 1},
		{"another start", []piece{{"a", Stretch{Began: 1e18 + 60*second, From: 90 * second, Until: 120 * second, First: 41, Last: 60}}, {"b", Stretch{Began: 1e18, From: second, Until: 80 * second, First: 0, Last: 40}}}, 2},
		{"no numbers, names of a rotation", []piece{{"gc.log.1.current", Stretch{From: 90 * second, Until: 120 * second, First: -1, Last: -1}}, {"gc.log.0", Stretch{From: second, Until: 80 * second, First: -1, Last: -1}}}, 1},
		{"no numbers, other names", []piece{{"a.log", Stretch{From: 90 * second, Until: 120 * second, First: -1, Last: -1}}, {"b.log", Stretch{From: second, Until: 80 * second, First: -1, Last: -1}}}, 2},
		{"no times", []piece{{"gc.log.1", Stretch{From: -1, Until: -1, First: 5, Last: 9}}, {"gc.log.0", Stretch{From: -1, Until: -1, First: 0, Last: 4}}}, 2},
	} {
		b := NewBundle()
		for _, x := range c.pieces {
			p := b.Builder(b.AddArtifact(Artifact{Name: x.name}), "hotspotgc")
			*p.Clock() = Clock{Name: "since JVM start", Error: Unanchored}
			x.Subject = p.Subject(Subject{Runtime: "jvm"})
			p.Interval(Interval{Subject: x.Subject, Kind: StopTheWorld, Start: x.From, End: x.From + 1})
			p.Stretch(x.Stretch)
			p.Close()
		}
		b.Unify()
		subjects, clocks := make(map[SubjectID]bool), make(map[ClockID]bool)
		for i := range b.Intervals.Len() {
			subjects[b.Intervals.Subject.At(i)], clocks[b.Intervals.Clock.At(i)] = true, true
		}
		if len(subjects) != c.want {
			t.Errorf("%s: %d processes, want %d", c.why, len(subjects), c.want)
		}
		if c.pieces[0].Began == 0 && len(clocks) != c.want {
			t.Errorf("%s: %d clocks, want %d", c.why, len(clocks), c.want)
		}
	}
}

// A log that knows only the time since its process began lies where another log of the
// process, which also has dates, says it began.
func TestLogsBesideADatedOne(t *testing.T) {
	b := NewBundle()
	about := Subject{Runtime: "jvm", PID: 4711}
	log := func(name string, k Clock, pid int, s Stretch) *Builder {
		p := b.Builder(b.AddArtifact(Artifact{Name: name}), "hotspotgc")
		*p.Clock() = k
		about.PID = pid
		s.Subject = p.Subject(about)
		p.Interval(Interval{Subject: s.Subject, Kind: StopTheWorld, Start: s.From, End: s.From + 1})
		p.Stretch(s)
		p.Close()
		return p
	}
	uptime := Clock{Name: "since JVM start", Error: Unanchored, Resolution: 1e6}
	log("safepoints.log", Clock{Name: "dates of the log", Error: 1e6, Resolution: 1e6}, 4711, Stretch{Began: 1e18, From: 3e9, Until: 9e9, First: -1, Last: -1})
	log("own.log", uptime, 4711, Stretch{From: 2e9, Until: 8e9, First: 0, Last: 9})
	log("other.log", uptime, 12, Stretch{From: 2e9, Until: 8e9, First: 0, Last: 9})
	b.Unify()
	own, other := b.Clocks[b.Intervals.Clock.At(1)], b.Clocks[b.Intervals.Clock.At(2)]
	if !own.Anchored() || own.Offset != 1e18 || other.Anchored() {
		t.Errorf("own log %+v, another process's %+v", own, other)
	}
}
