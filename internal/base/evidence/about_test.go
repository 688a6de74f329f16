package evidence

import "testing"

// Whoever records a process says which one it is; an artifact that says
// otherwise is believed.
func TestAbout(t *testing.T) {
	b := NewBundle()
	gateway := Subject{Name: "gateway", PID: 4711, Runtime: "go", Version: "go1.26.8"}
	read := func(format string, s Subject) SubjectID {
		p := b.Builder(b.AddArtifact(Artifact{Name: format, About: gateway}), format)
		defer p.Close()
		return p.Subject(s)
	}
	for _, c := range []struct {
		format string
		said   Subject
		pid    int
		want   string // version
	}{
		{"gotrace", Subject{Runtime: "go", Version: "go1.26"}, 4711, "go1.26.8"},
		{"gotrace", Subject{Runtime: "go", Version: "go1.26"}, 4711, "go1.26.8"},
		{"accesslog", Subject{}, 4711, "go1.26.8"},
		{"procfs", Subject{Name: "stress", PID: 99}, 99, ""},
		{"gotrace", Subject{Runtime: "go", Version: "go1.21"}, 0, "go1.21"},
		{"procfs", Subject{Kind: Host}, 0, ""},
	} {
		s := b.Subjects[read(c.format, c.said)]
		if s.PID != c.pid || s.Version != c.want {
			t.Errorf("%s that says %+v is of %+v", c.format, c.said, s)
		}
	}
	p := b.Builder(b.AddArtifact(Artifact{Name: "rows", About: gateway}), "loadresult")
	p.Request(Request{Subject: p.Subject(Subject{}), Start: 1, End: 2})
	p.Close()
	b.Unify()
	if s := b.Requests.Subject.At(0); s != 0 {
		t.Errorf("four artifacts of one process stay apart: requests are of subject %d", s)
	}
}
