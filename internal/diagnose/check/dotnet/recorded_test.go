package dotnet_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/dotnet"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// recorded diagnoses the files of a fixture that have one of the names.
func recorded(t *testing.T, dir string, names ...string) *diagnose.Diagnosis {
	t.Helper()
	b := incident.NewBundle()
	for _, n := range names {
		files, _ := filepath.Glob(filepath.Join("../testdata", dir, n))
		if len(files) == 0 {
			t.Fatalf("%s has no %s", dir, n)
		}
		for _, f := range files {
			if err := format.Read(context.Background(), all.Formats, format.File(f), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRecordedStarvation: whatever part of the recording is there, starvation comes
// first; with stacks the method is named, with requests its cost.
func TestRecordedStarvation(t *testing.T) {
	const sick = "dotnet.threadpool-starvation/sick"
	const named = "DiagScenarioController.TaskWait blocks "
	for _, tt := range []struct {
		files []string
		title string
		saves bool
	}{
		{[]string{"events-*", "threads-*", "procfs*", "requests*"}, named, true},
		{[]string{"events-*", "threads-*"}, named, true},
		{[]string{"events-*"}, "Pool threads are blocked: the pool adds ", true},
		{[]string{"threads-*"}, named, false},
		{[]string{"threads-*", "procfs*"}, named, false},
	} {
		t.Run(strings.Join(tt.files, " "), func(t *testing.T) {
			d := recorded(t, sick, tt.files...)
			v := d.Verdicts[0]
			if v.Cause != dotnet.ThreadPoolStarvation.ID || v.Verdict != check.Supported {
				t.Fatalf("%s is %s first: %s", v.Cause, v.Verdict, v.Summary)
			}
			if !strings.HasPrefix(v.Title, tt.title) {
				t.Errorf("%q, want %q", v.Title, tt.title)
			}
			if d.Verdicts[1].Verdict == check.Supported {
				t.Errorf("%s is supported, too", d.Verdicts[1].Cause)
			}
			switch {
			case !tt.saves:
				if v.Saves != nil {
					t.Errorf("it saves %+v of no requests", v.Saves)
				}
			case v.Saves == nil || v.Saves.Value <= .5*d.Requests.SlowTotalMs || v.Saves.Value > d.Requests.SlowTotalMs:
				t.Errorf("it saves %+v of %g ms", v.Saves, d.Requests.SlowTotalMs)
			}
		})
	}
}

// TestRecordedNeed: the one client that came before the others tells what the query
// takes, and so what awaiting it brings: 125 requests every half a second.
func TestRecordedNeed(t *testing.T) {
	d := recorded(t, "dotnet.threadpool-starvation/sick", "*.zst")
	if d.Requests.SlowRule != "unfinished" || d.Requests.Slow != d.Requests.Count {
		t.Errorf("%d of %d are slow (%s), want all: none was answered", d.Requests.Slow, d.Requests.Count, d.Requests.SlowRule)
	}
	for _, p := range d.Verdicts[0].Prediction {
		if p.Metric == "requests finished" && p.Then != nil && *p.Then > 200 && *p.Then < 300 && p.Now != nil && *p.Now == 0 {
			return
		}
	}
	t.Errorf("%+v does not predict some 250 requests a second where there are none", d.Verdicts[0].Prediction)
}

// TestRecordedLock: contention events alone name it, too.
func TestRecordedLock(t *testing.T) {
	for _, files := range [][]string{{"*.zst"}, {"events-*"}} {
		d := recorded(t, "dotnet.lock-contention/sick", files...)
		v := d.Verdicts[0]
		if v.Cause != dotnet.LockContention.ID || v.Verdict != check.Supported || !strings.Contains(v.Title, "wait for a lock in Ledger.Append") {
			t.Errorf("%v: %s %s: %s", files, v.Verdict, v.Cause, v.Title)
		}
	}
}
