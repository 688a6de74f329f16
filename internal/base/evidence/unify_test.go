package evidence

import (
	"strings"
	"testing"
)

// An artifact about a host lists many processes; what else is known is of one.
func TestUnifyWithAListOfProcesses(t *testing.T) {
	type list []Subject
	trace := Subject{Runtime: "go", CPUs: 2}
	log := Subject{}
	profile := Subject{Runtime: "go", Name: "gateway-with-a-long-name"}
	for _, c := range []struct {
		name   string
		others []Subject
		list   list
		want   int // pid of the one process the others became, 0: none
		last   bool
	}{
		{"first", []Subject{trace, log}, list{{PID: 7, Name: "gateway"}, {PID: 3, Name: "burn"}}, 7, false},
		{"first, list before the rest", []Subject{trace, log}, list{{PID: 7, Name: "gateway"}, {PID: 3, Name: "burn"}}, 7, true},
		{"name", []Subject{trace, log, profile}, list{{PID: 3, Name: "burn"}, {PID: 7, Name: "gateway-with-a-"}, {PID: 8, Name: "gateway-with-a-"}}, 7, false},
		{"name, list before the rest", []Subject{trace, log, profile}, list{{PID: 3, Name: "burn"}, {PID: 7, Name: "gateway-with-a-"}}, 7, true},
		{"another name", []Subject{profile, trace}, list{{PID: 3, Name: "gateway"}}, 0, false},
		{"another name, list before the rest", []Subject{trace, profile}, list{{PID: 3, Name: "gateway"}}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBundle()
			var others []SubjectID
			add := func() {
				for _, s := range c.others {
					format := "format of " + s.Runtime + s.Name
					p := b.Builder(b.AddArtifact(Artifact{Name: format}), format)
					id := p.Subject(s)
					p.Fact(Fact{Subject: id, Key: "other"})
					others = append(others, id)
					p.Close()
				}
			}
			if !c.last {
				add()
			}
			p := b.Builder(b.AddArtifact(Artifact{Name: "host.txt"}), "procfs")
			p.Subject(Subject{Kind: Host})
			for _, s := range c.list {
				id := p.Subject(s)
				p.Series(Series{Subject: id, Name: s.Name})
			}
			p.Close()
			if c.last {
				add()
			}
			b.Unify()
			if len(b.Warnings) > 0 {
				t.Error("warned:", b.Warnings)
			}
			got := b.Facts[0].Subject
			for _, f := range b.Facts {
				if f.Subject != got {
					t.Errorf("what is known otherwise became subjects %d and %d", got, f.Subject)
				}
			}
			if pid := b.Subjects[got].PID; pid != c.want {
				t.Errorf("became pid %d, want %d", pid, c.want)
			}
			for i, s := range c.list {
				of := b.Series[i].Subject
				if (of == got) != (s.PID == c.want) {
					t.Errorf("the series of pid %d is now of %+v", s.PID, b.Subjects[of])
				}
			}
			if b.Subjects[got].Name == "gateway-with-a-" {
				t.Error("the cut name was kept")
			}
		})
	}
}

// With two processes known otherwise, the list is of one of them: which?
func TestUnifyDoesNotGuess(t *testing.T) {
	b := NewBundle()
	for range 2 {
		p := b.Builder(b.AddArtifact(Artifact{Name: "trace"}), "gotrace")
		p.Subject(Subject{Runtime: "go"})
		p.Close()
	}
	p := b.Builder(b.AddArtifact(Artifact{Name: "host.txt"}), "procfs")
	p.Subject(Subject{Kind: Host})
	id := p.Subject(Subject{PID: 7, Name: "gateway"})
	p.Series(Series{Subject: id})
	p.Close()
	b.Unify()
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "which of 2 processes") {
		t.Error("warned:", b.Warnings)
	}
	if b.Series[0].Subject != id {
		t.Error("became one of them")
	}
}

// Two recordings of one process are one, though the boot time moved.
func TestUnifyListsByPID(t *testing.T) {
	b := NewBundle()
	for i := range 2 {
		p := b.Builder(b.AddArtifact(Artifact{Name: "host.txt"}), "procfs")
		p.Subject(Subject{Kind: Host})
		for pid := 7; pid < 9; pid++ {
			id := p.Subject(Subject{PID: pid, Name: "gateway", StartTime: int64(1e18 + i*1e9)})
			p.Series(Series{Subject: id})
		}
		p.Close()
	}
	b.Unify()
	for i := range 2 {
		if x, y := b.Series[i].Subject, b.Series[i+2].Subject; x != y {
			t.Errorf("pid %d is subjects %d and %d", 7+i, x, y)
		}
	}
	if len(b.Warnings) > 0 {
		t.Error("warned:", b.Warnings)
	}
}

// Two class histograms without a PID beside a log are of the log's process: they are
// taken to be compared.
func TestUnifyLooks(t *testing.T) {
	b := NewBundle()
	for _, x := range []struct {
		format string
		of     Subject
	}{{"hotspotgc", Subject{Runtime: "jvm", Version: "17.0.15"}}, {"classhisto", Subject{Runtime: "jvm"}}, {"classhisto", Subject{Runtime: "jvm"}}, {"accesslog", Subject{}}} {
		p := b.Builder(b.AddArtifact(Artifact{Name: x.format}), x.format)
		p.Moments = x.format == "classhisto"
		s := p.Subject(x.of)
		p.Cover(Coverage{Subject: s, Kind: x.format, From: 1, Until: 2})
		p.Close()
	}
	b.Unify()
	for _, c := range b.Coverage {
		if c.Subject != b.Coverage[0].Subject {
			t.Errorf("%s is of another process", c.Kind)
		}
	}
}

// Traces tell of several services, of which a log that names nobody can be any.
func TestUnifyServices(t *testing.T) {
	for _, logFirst := range []bool{true, false} {
		b := NewBundle()
		part := func(format string, subjects ...Subject) {
			p := b.Builder(b.AddArtifact(Artifact{Name: format}), format)
			for _, s := range subjects {
				id := p.Subject(s)
				p.Cover(Coverage{Subject: id, Kind: CoverRequests, From: 1, Until: 2})
			}
			p.Close()
		}
		spans := func() {
			part("spans", Subject{Service: "shop", Runtime: "jvm"}, Subject{Service: "stock", Runtime: "jvm"}, Subject{Service: "mail", Runtime: "go"})
		}
		if !logFirst {
			spans()
		}
		part("hotspotgc", Subject{Runtime: "jvm"})
		if logFirst {
			spans()
		}
		b.Unify()
		titles := make(map[string]bool)
		for _, title := range b.Titles() {
			titles[title] = title != ""
		}
		if !titles["jvm process"] || !titles["shop"] || !titles["stock"] || !titles["mail"] || len(b.Warnings) == 0 {
			t.Errorf("log first %v: %v, %v", logFirst, titles, b.Warnings)
		}
	}
	b := NewBundle()
	p := b.Builder(b.AddArtifact(Artifact{Name: "gc.log"}), "hotspotgc")
	p.Cover(Coverage{Subject: p.Subject(Subject{Runtime: "jvm"}), Kind: CoverGC, From: 1, Until: 2})
	p.Close()
	p = b.Builder(b.AddArtifact(Artifact{Name: "spans.json"}), "spans")
	p.Cover(Coverage{Subject: p.Subject(Subject{Service: "shop", Runtime: "jvm"}), Kind: CoverSpans, From: 1, Until: 2})
	p.Close()
	b.Unify()
	if b.Coverage[0].Subject != b.Coverage[1].Subject || b.Subjects[b.Coverage[0].Subject].Title() != "shop" {
		t.Errorf("one service: %+v, %v", b.Coverage, b.Subjects)
	}
}

// Which of several services' spans are those of a process that is known by its pid, its
// environment tells, else its name.
func TestUnifyServicesOfProcesses(t *testing.T) {
	for _, c := range []struct {
		name   string
		listed []Subject
		spans  []string
		want   string // the service of pid 7
	}{
		{"environment", []Subject{{PID: 7, Name: "java", Service: "shop"}, {PID: 8, Name: "burn"}}, []string{"shop", "mail"}, "shop"},
		{"environment, of code that calls itself otherwise", []Subject{{PID: 7, Name: "java", Service: "shop"}}, []string{"till"}, "till"},
		{"environment, of none that sent", []Subject{{PID: 7, Name: "java", Service: "shop"}}, []string{"till", "mail"}, ""},
		{"name", []Subject{{PID: 7, Name: "mail"}, {PID: 8, Name: "burn"}}, []string{"shop", "mail"}, "mail"},
		{"name of two", []Subject{{PID: 7, Name: "mail"}, {PID: 8, Name: "mail"}}, []string{"shop", "mail"}, ""},
		{"one that is not named", []Subject{{PID: 7, Name: "java"}, {PID: 8, Name: "shop"}}, []string{"shop", "mail"}, ""},
		{"environment before name", []Subject{{PID: 7, Name: "java", Service: "mail"}, {PID: 8, Name: "mail"}}, []string{"shop", "mail"}, "mail"},
	} {
		for _, spansFirst := range []bool{true, false} {
			b := NewBundle()
			b.Launchers = []string{"java"}
			spans := func() {
				p := b.Builder(b.AddArtifact(Artifact{Name: "spans"}), "spans")
				for _, s := range c.spans {
					p.Fact(Fact{Subject: p.Subject(Subject{Service: s}), Key: s})
				}
				p.Close()
			}
			if spansFirst {
				spans()
			}
			p := b.Builder(b.AddArtifact(Artifact{Name: "flight"}), "jfr")
			p.Fact(Fact{Subject: p.Subject(Subject{PID: 7, Runtime: "jvm"}), Key: "flight"})
			p.Close()
			p = b.Builder(b.AddArtifact(Artifact{Name: "host"}), "procfs")
			p.Subject(Subject{Kind: Host})
			for _, s := range c.listed {
				p.Fact(Fact{Subject: p.Subject(s), Key: "listed"})
			}
			p.Close()
			if !spansFirst {
				spans()
			}
			b.Unify()
			of := make(map[string]SubjectID)
			for _, f := range b.Facts {
				if f.Key != "listed" || b.Subjects[f.Subject].PID == 7 {
					of[f.Key] = f.Subject
				}
			}
			if got := b.Subjects[of["listed"]].Service; got != c.want || of["flight"] != of["listed"] {
				t.Errorf("%s, spans first %v: pid 7 is %q of %v, want %q", c.name, spansFirst, got, b.Titles(), c.want)
			}
			for _, s := range c.spans {
				if (of[s] == of["listed"]) != (s == c.want) {
					t.Errorf("%s, spans first %v: spans of %s are of %q", c.name, spansFirst, s, b.Subjects[of[s]].Title())
				}
			}
			if unclear := len(b.Warnings) > 0; unclear != (c.want == "") {
				t.Errorf("%s, spans first %v: warned %v", c.name, spansFirst, b.Warnings)
			}
		}
	}
}

// Streams of one .NET process tell two numbers of its processors, if a quota limits it. It is
// one process all the same, and what the kernel tells of that PID is about it.
func TestUnifyOnePIDWithTwoNumbersOfProcessors(t *testing.T) {
	host := Subject{PID: 7, Runtime: "dotnet", Name: "shop", CPUs: 2}
	quota := host
	quota.CPUs = 1
	for _, order := range [][]Subject{{host, quota}, {quota, host}} {
		b := NewBundle()
		for _, s := range order {
			p := b.Builder(b.AddArtifact(Artifact{Name: "stream"}), "nettrace")
			p.Fact(Fact{Subject: p.Subject(s), Key: "stream"})
			p.Close()
		}
		p := b.Builder(b.AddArtifact(Artifact{Name: "host.txt"}), "procfs")
		p.Subject(Subject{Kind: Host, CPUs: 2})
		p.Fact(Fact{Subject: p.Subject(Subject{PID: 7, Name: "dotnet", StartTime: 1e18}), Key: FactContainerCPU})
		p.Fact(Fact{Subject: p.Subject(Subject{PID: 8, Name: "dotnet", StartTime: 1e18}), Key: FactContainerCPU})
		p.Close()
		b.Launchers = []string{"dotnet"}
		b.Unify()
		if x, y, z := b.Facts[0].Subject, b.Facts[1].Subject, b.Facts[2].Subject; x != y || y != z {
			t.Errorf("one process is subjects %d, %d and %d: %q", x, y, z, b.Titles())
		}
		if got := b.Subjects[b.Facts[0].Subject]; got.CPUs != 1 || got.StartTime != 1e18 {
			t.Errorf("it became %+v, want what its quota leaves and when it was started", got)
		}
		if b.Facts[3].Subject == b.Facts[0].Subject {
			t.Error("its neighbour became it, too")
		}
		if len(b.Warnings) > 0 {
			t.Error("warned:", b.Warnings)
		}
	}
}
