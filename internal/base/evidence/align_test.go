package evidence

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// marks adds the same irregular mark phases to a builder, moved by d.
func addMarks(b *Builder, s SubjectID, d int64) {
	at := int64(1e9)
	for i := range int64(12) {
		b.Interval(Interval{Subject: s, Kind: GCMark, Start: at + d, End: at + d + 10e6 + i*i*1e6, Request: NoRequest})
		at += 300e6 + i*i*17e6
	}
}

func TestAlignPlacesUnanchoredClocksByCycles(t *testing.T) {
	for _, c := range []struct {
		name        string
		clock       Clock
		wantError   int64
		wantAligned bool
	}{
		{"unanchored", Clock{Error: Unanchored}, 100e3, true},
		{"roughly anchored", Clock{Offset: 1e18 - 5e9 + 3e8, Error: 1e9}, 100e3, true},
		{"anchored elsewhere", Clock{Offset: 2e18, Error: 1e9}, 1e9, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBundle()
			// A dump without cycles comes first: it must not become the reference.
			none := b.Builder(b.AddArtifact(Artifact{Name: "dump"}), "gopprof")
			none.Subject(Subject{Runtime: "go"})
			none.Close()
			exact := b.Builder(b.AddArtifact(Artifact{Name: "trace"}), "gotrace")
			s := exact.Subject(Subject{Runtime: "go"})
			exact.Clock().Offset, exact.Clock().Error = 1e18, 100e3
			addMarks(exact, s, 0)
			exact.Close()
			log := b.Builder(b.AddArtifact(Artifact{Name: "log"}), "gctrace")
			s = log.Subject(Subject{Runtime: "go"})
			*log.Clock() = c.clock
			addMarks(log, s, 5e9) // its process started 5 s before the trace's zero
			log.Close()
			b.Unify()
			b.Align()
			first, second := b.Intervals.Start[0], b.Intervals.Start[12]
			if aligned := first == second; aligned != c.wantAligned {
				t.Errorf("first marks at %d and %d, aligned %v, want %v", first, second, aligned, c.wantAligned)
			}
			if got := b.Clocks[2].Error; got != c.wantError {
				t.Errorf("error %d, want %d", got, c.wantError)
			}
		})
	}
}

// A log of an hour, of which a trace saw the last seconds; and one of another
// process, whose cycles come as often.
func TestAlignPlacesALongLogByTheFewCyclesOfATrace(t *testing.T) {
	for _, c := range []struct {
		name string
		same bool
	}{{"of the same process", true}, {"of another", false}} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			draw := func(n int) (marks [][2]int64) {
				at := int64(1e9)
				for range n {
					at += 100e6 + r.Int64N(20e6)
					marks = append(marks, [2]int64{at, 30e6 + r.Int64N(8e6)})
				}
				return marks
			}
			hour := draw(30_000)
			seen := hour[len(hour)-20:]
			if !c.same {
				seen = draw(20)
			}
			b := NewBundle()
			add := func(name string, marks [][2]int64, d int64) *Clock {
				p := b.Builder(b.AddArtifact(Artifact{Name: name}), name)
				s := p.Subject(Subject{Runtime: "go"})
				p.Clock().Error = Unanchored
				for _, m := range marks {
					p.Interval(Interval{Subject: s, Kind: GCMark, Start: m[0] + d, End: m[0] + m[1] + d})
				}
				p.Close()
				return p.Clock()
			}
			add("gotrace", seen, 7e9)
			trace := &b.Clocks[0]
			trace.Offset, trace.Error = 1e18, 1e3
			add("gctrace", hour, 0)
			b.Align()
			log := b.Clocks[len(b.Clocks)-1]
			if log.Anchored() != c.same || c.same && log.Offset != 1e18+7e9 {
				t.Errorf("the log's clock is %+v", log)
			}
		})
	}
}

// TestUnifyLauncher has a program that is called after its launcher by the kernel.
func TestUnifyLauncher(t *testing.T) {
	shop, kernel, other := Subject{Name: "Shop", PID: 7}, Subject{Name: "dotnet", PID: 7}, Subject{Name: "dotnet", PID: 8}
	b := NewBundle()
	b.Launchers = []string{"dotnet"}
	if !b.Agree(shop, kernel) || !b.Agree(kernel, shop) || b.Agree(shop, other) || b.Agree(shop, Subject{Name: "dotnet"}) || b.Agree(shop, Subject{Name: "bash", PID: 7}) {
		t.Error("which names agree")
	}
	for _, order := range [][]Subject{{shop, kernel, other}, {kernel, shop, other}} {
		b := NewBundle()
		b.Launchers = []string{"dotnet"}
		for i, s := range order {
			p := b.Builder(b.AddArtifact(Artifact{Name: fmt.Sprint(i)}), fmt.Sprint(i))
			p.Fact(Fact{Subject: p.Subject(s)})
			p.Close()
		}
		b.Unify()
		if s := b.Subjects[b.Facts[0].Subject]; b.Facts[1].Subject != b.Facts[0].Subject || b.Facts[2].Subject == b.Facts[0].Subject || s.Name != "Shop" {
			t.Errorf("%+v became %+v", order, b.Facts)
		}
	}
}

// Loads on one address are on one service, and so on the process recorded beside them.
func TestUnifyAddress(t *testing.T) {
	b := NewBundle()
	for i, s := range []Subject{{Address: "127.0.0.1:80"}, {Address: "127.0.0.1:80"}, {Name: "srv", PID: 7}} {
		p := b.Builder(b.AddArtifact(Artifact{Name: fmt.Sprint(i)}), []string{"rows", "rows", "procfs"}[i])
		p.Fact(Fact{Subject: p.Subject(s)})
		p.Close()
	}
	b.Unify()
	if s := b.Subjects[b.Facts[0].Subject]; b.Facts[1].Subject != b.Facts[0].Subject || b.Facts[2].Subject != b.Facts[0].Subject || s.PID != 7 || s.Address != "127.0.0.1:80" {
		t.Errorf("they became %+v of %+v", b.Facts, b.Subjects)
	}
}

func TestUnify(t *testing.T) {
	b := NewBundle()
	open := func(format string, s Subject) SubjectID {
		p := b.Builder(b.AddArtifact(Artifact{Name: format}), format)
		id := p.Subject(s)
		p.Fact(Fact{Subject: id, Key: format})
		p.Close()
		return id
	}
	open("gotrace", Subject{Runtime: "go", CPUs: 2})
	open("gctrace", Subject{Runtime: "go", CPUs: 2})
	open("gopprof", Subject{Runtime: "go", Name: "srv"})
	open("accesslog", Subject{})
	other := open("gctrace", Subject{Runtime: "go", CPUs: 8})
	b.Unify()
	for i, f := range b.Facts[:4] {
		if f.Subject != 0 {
			t.Errorf("%s is of subject %d, want 0", b.Facts[i].Key, f.Subject)
		}
	}
	if b.Facts[4].Subject != other {
		t.Errorf("a second gctrace log became subject %d", b.Facts[4].Subject)
	}
	if s := b.Subjects[0]; s.Name != "srv" || s.CPUs != 2 {
		t.Errorf("merged to %+v", s)
	}
}
