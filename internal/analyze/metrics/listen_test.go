package metrics_test

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// The sockets on which a runtime answers tools are not the service's: what waits there is the recorder.
func TestListenQueuesAreTheServices(t *testing.T) {
	b := evidence.NewBundle()
	file := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
	*file.Clock() = evidence.Clock{Name: "unix", Error: 1e5}
	s := file.Subject(evidence.Subject{Kind: evidence.Process, PID: 4711})
	for _, address := range []string{"unix:/tmp/dotnet-diagnostic-4711-981-socket", "unix:/tmp/.java_pid4711", "unix:/run/app.sock"} {
		file.Series(evidence.Series{Subject: s, Name: evidence.SeriesListenQueue + ":" + address, Unit: "1", T: []int64{1, 2}, V: []float64{3, 3}})
	}
	file.Close()
	all := metrics.ListenQueues(b, s)
	if len(all) != 1 || all[0].Address != "unix:/run/app.sock" {
		t.Errorf("%+v", all)
	}
}
