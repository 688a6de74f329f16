package diagnose_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// A time line is of the service that heads the report, is made once, and changes
// nothing of what is written as JSON.
func TestTimeline(t *testing.T) {
	if (&diagnose.Diagnosis{}).Timeline() != nil {
		t.Error("a diagnosis of nothing has a time line")
	}
	files, _ := filepath.Glob("check/testdata/go.lock-contention/sick/*.gz")
	d := run(t, files...)
	before, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	x := d.Timeline()
	if x == nil || len(x.Requests) == 0 || x.Requests[0].Source != d.Requests.Source || x.Requests[0].Count != d.Requests.Count {
		t.Fatalf("a time line of %+v, requests of %s", x, d.Requests.Source)
	}
	if d.Timeline() != x {
		t.Error("it was made twice")
	}
	after, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the JSON changed")
	}
	d.Forget()
	if d.Timeline() != nil {
		t.Error("it was not forgotten")
	}
}

// Without requests it is of the process whose collector was watched.
func TestTimelineWithoutRequests(t *testing.T) {
	x := run(t, "check/testdata/linux.page-faults/sick/gctrace.log", "check/testdata/linux.page-faults/sick/procfs.txtar.gz").Timeline()
	if x.Subject == "" || len(x.Requests) != 0 || x.Threshold != 0 || len(x.Charts) == 0 {
		t.Errorf("of %q: %d sources, %d charts", x.Subject, len(x.Requests), len(x.Charts))
	}
}
