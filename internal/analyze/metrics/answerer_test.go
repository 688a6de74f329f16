package metrics_test

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// TestAnswererAt has a database whose postmaster listens and whose backends work, beside a program that listens elsewhere.
func TestAnswererAt(t *testing.T) {
	b := evidence.NewBundle()
	file := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	*file.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	process := func(name string, pid int) evidence.SubjectID {
		return file.Subject(evidence.Subject{Kind: evidence.Process, Name: name, PID: pid})
	}
	series := func(s evidence.SubjectID, name string, v float64) {
		x := evidence.Series{Subject: s, Name: name, Unit: "1"}
		for k := range int64(11) {
			x.T, x.V = append(x.T, k*1e9), append(x.V, v)
		}
		file.Series(x)
	}
	master, backend, another := process("postgres", 10), process("postgres", 11), process("web", 20)
	series(master, evidence.SeriesListenQueue+":0.0.0.0:5432", 0)
	series(backend, evidence.SeriesProcessRunDelay, .6)
	series(backend, evidence.SeriesProcessCPU, .2)
	series(another, evidence.SeriesListenQueue+":127.0.0.1:80", 0)
	file.Fact(evidence.Fact{Subject: backend, Key: evidence.FactParent, Number: 10})
	file.Close()
	w := metrics.Window{From: 0, Until: 10e9}
	if a, ok := metrics.AnswererAt(b, "127.0.0.1:5432", w); !ok || a.Name != "postgres" || a.Ready != .6 || a.Ran != .2 {
		t.Errorf("at the database's port: %+v, %v", a, ok)
	}
	for _, address := range []string{"127.0.0.1:80", "127.0.0.1:81", "10.0.0.7:80", "db:5432"} { // nobody counted, or nobody is there
		if a, ok := metrics.AnswererAt(b, address, w); ok {
			t.Errorf("at %s: %+v", address, a)
		}
	}
}
