package parquet

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/export/place"
	"github.com/unstall/unstall/internal/present/json"
)

const (
	sick = "../../../../lab/go-ballast/recorded/sick"
	gcs  = "../../../diagnose/check/testdata"
)

func artifacts(t testing.TB, names ...string) (out []*format.Artifact) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
		out = append(out, format.File(name))
	}
	return out
}

func everything(*evidence.Bundle) (diagnose.Options, error) {
	return diagnose.Options{Version: "test"}, nil
}

func sickRun(t testing.TB) *Run {
	return Diagnose(t.Context(), artifacts(t, sick+"/access.log.gz", sick+"/cpu.pb.gz", sick+"/trace.out.gz"), everything)
}

// written writes runs into a directory and returns it.
func written(t testing.TB, runs ...*Run) string {
	t.Helper()
	dir := t.TempDir()
	to, err := place.Of(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDataset(to)
	for _, r := range runs {
		if err := d.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rowsOf reads the rows of a table from all its files.
func rowsOf[T any](t testing.TB, dir, name string) (rows []T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, name, "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", name, err)
	}
	for _, f := range files {
		more, err := parquet.ReadFile[T](f)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

// jsonOf returns the diagnosis of a run, parsed from its JSON form.
func jsonOf(t testing.TB, r *Run) (d diagnose.Diagnosis) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Report(&b, r.diagnosis); err != nil {
		t.Fatal(err)
	}
	if err := stdjson.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAsJSON compares the tables with the JSON form of the same diagnosis.
func TestAsJSON(t *testing.T) {
	r := sickRun(t)
	want := jsonOf(t, r)
	dir := written(t, r)

	entries := rowsOf[ledgerRow](t, dir, "ledger")
	if len(entries) != len(want.Ledger) || len(entries) < 5 {
		t.Fatalf("%d ledger rows, the JSON has %d", len(entries), len(want.Ledger))
	}
	for i, e := range entries {
		w := want.Ledger[i]
		got := diagnose.Entry{Subject: e.Subject, Mechanism: e.Mechanism, Title: e.Title, Detail: text(e.Detail), SlowMs: e.SlowMs, Low: e.Low, High: e.High, Basis: e.Basis, Method: e.Method}
		if d := cmp.Diff(w, got); d != "" || e.Run != r.ID {
			t.Errorf("row %d of run %s (-json +parquet):\n%s", i, e.Run, d)
		}
	}

	verdicts := rowsOf[verdictRow](t, dir, "verdicts")
	if len(verdicts) != len(want.Verdicts) {
		t.Fatalf("%d verdicts, the JSON has %d", len(verdicts), len(want.Verdicts))
	}
	for i, v := range verdicts {
		w := &want.Verdicts[i]
		if v.Rank != int32(i+1) || v.Cause != w.Cause || v.Verdict != w.Verdict || v.Subject != w.Subject || v.Title != w.Title || text(v.Summary) != w.Summary || v.Step != string(w.Step) {
			t.Errorf("verdict %d: %+v, the JSON has %+v", i, v, w)
		}
		if (v.Saves == nil) != (w.Saves == nil) || w.Saves != nil && (*v.Saves != w.Saves.Value || !reflect.DeepEqual(v.SavesLow, w.Saves.Low) || !reflect.DeepEqual(v.SavesHigh, w.Saves.High)) {
			t.Errorf("%s saves %v, the JSON has %v", v.Cause, v.Saves, w.Saves)
		}
		if len(v.Evidence) != len(w.Evidence) || len(v.Needs) != len(w.Needs) || len(v.Fix) != len(w.Fix) || len(v.Prediction) != len(w.Prediction) {
			t.Fatalf("%s: %d figures, %d needs, %d fixes, %d predictions; the JSON has %d, %d, %d, %d", v.Cause, len(v.Evidence), len(v.Needs), len(v.Fix), len(v.Prediction), len(w.Evidence), len(w.Needs), len(w.Fix), len(w.Prediction))
		}
		for j, e := range v.Evidence {
			if x := w.Evidence[j]; text(e.ID) != x.ID || e.Text != x.Text || !reflect.DeepEqual(e.Value, x.Value) || e.Unit != x.Unit || e.Origin != x.Origin || text(e.Source) != x.Source {
				t.Errorf("%s: %+v, the JSON has %+v", v.Cause, e, x)
			}
		}
		for j, f := range v.Fix {
			if x := w.Fix[j]; f.Text != x.Text || text(f.Setting) != x.Setting || text(f.Code) != x.Code {
				t.Errorf("%s: %+v, the JSON has %+v", v.Cause, f, x)
			}
		}
		for j, p := range v.Prediction {
			x := w.Prediction[j]
			if (p.Fix == nil) != (x.Fix == nil) || p.Fix != nil && int(*p.Fix) != *x.Fix {
				t.Errorf("%s: %+v, the JSON has %+v", v.Cause, p, x)
			}
			if x.Fix = nil; !reflect.DeepEqual(diagnose.Prediction{ID: p.ID, Metric: p.Metric, Unit: p.Unit, Now: p.Now, Then: p.Then, Low: p.Low, High: p.High}, x) {
				t.Errorf("%s: %+v, the JSON has %+v", v.Cause, p, x)
			}
		}
	}

	run := rowsOf[runRow](t, dir, "runs")[0]
	q := want.Requests
	if run.Run != r.ID || run.Error != nil || text(run.Outcome) != want.Outcome || *run.Requests != int64(q.Count) || *run.Slow != int64(q.Slow) || *run.SlowTotal != q.SlowTotalMs || *run.P99 != *q.P99Ms || !run.Start.Equal(want.Window.Start.Truncate(1e3)) || len(run.Targets) != len(want.Targets) {
		t.Errorf("run %+v\nthe JSON has %+v, %+v", run, want.Window, q)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestRequests compares the rows of requests with the ledger: mechanisms sum to the latency, slow
// requests sum to the ledger's slow time, and unknown is null.
func TestRequests(t *testing.T) {
	r := sickRun(t)
	dir := written(t, r)
	files, _ := filepath.Glob(filepath.Join(dir, "requests", "*.parquet"))
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := parquet.NewReader(f)
	defer reader.Close()
	at := make(map[string]int)
	for i, path := range reader.Schema().Columns() {
		at[path[0]] = i
	}
	var slow, bare int
	byMechanism := make(map[string]float64)
	var total float64
	rows := make([]parquet.Row, 64)
	for {
		n, err := reader.ReadRows(rows)
		for _, row := range rows[:n] {
			latency, sum := row[at["latency_ms"]].Double(), 0.
			if row[at["began"]].Int64() != row[at["began_ns"]].Int64()/1e3 {
				t.Fatalf("began %v µs is not %v ns", row[at["began"]], row[at["began_ns"]])
			}
			if row[at["slow"]].IsNull() {
				bare++
			}
			for m := range ledger.NumMechanisms {
				v := row[at[m.String()+"_ms"]]
				if v.IsNull() != row[at["slow"]].IsNull() {
					t.Fatalf("%s is %v of a request whose slow is %v", m, v, row[at["slow"]])
				}
				sum += v.Double()
				if !v.IsNull() && row[at["slow"]].Boolean() {
					byMechanism[m.String()] += v.Double()
				}
			}
			if row[at["slow"]].IsNull() {
				continue
			}
			if math.Abs(sum-latency) > 1e-6 {
				t.Fatalf("mechanisms sum to %g ms, latency is %g", sum, latency)
			}
			if row[at["slow"]].Boolean() {
				slow++
				total += latency
			}
		}
		if err != nil {
			break
		}
	}
	q := r.diagnosis.Requests
	if slow == 0 || bare == 0 || math.Abs(total-q.SlowTotalMs) > 1e-3 {
		t.Errorf("%d slow of %g ms, %d not charged; the diagnosis has %g ms", slow, total, bare, q.SlowTotalMs)
	}
	want := make(map[string]float64)
	for _, e := range r.diagnosis.Ledger {
		want[e.Mechanism] += e.SlowMs
	}
	for m, ms := range want {
		if math.Abs(byMechanism[m]-ms) > 1e-3 {
			t.Errorf("%s: %g ms in the requests, %g in the ledger", m, byMechanism[m], ms)
		}
	}
}

// TestSeveral checks that an unreadable run is a row with the reason, that the same bytes are
// recognized, and that only complete files exist.
func TestSeveral(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(odd, []byte("nothing that any format knows\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := gcs + "/go.gc-rate/sick/gctrace.log"
	names := []string{log, odd}
	var runs []*Run
	for _, n := range names {
		runs = append(runs, Diagnose(t.Context(), artifacts(t, n), everything))
	}
	out := written(t, runs...)
	rows := rowsOf[runRow](t, out, "runs")
	if len(rows) != 2 || rows[0].Error != nil || rows[1].Error == nil || !strings.Contains(*rows[1].Error, "notes.txt") || rows[1].Outcome != nil {
		t.Fatalf("%+v", rows)
	}
	same := filepath.Join(dir, "copy.log")
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(same, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := Diagnose(t.Context(), artifacts(t, same), everything); again.ID != runs[0].ID || again.ID == runs[1].ID {
		t.Errorf("a copy is %s, the file %s", again.ID, runs[0].ID)
	}
	entries, err := os.ReadDir(filepath.Join(out, "runs"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: only the part that is whole should be there", entries, err)
	}
}

// TestReplaced checks that a repeated export replaces its own files.
func TestReplaced(t *testing.T) {
	r := Diagnose(t.Context(), artifacts(t, gcs+"/go.gc-rate/sick/gctrace.log"), everything)
	dir := t.TempDir()
	for range 2 {
		to, _ := place.Of(dir)
		d := NewDataset(to)
		if err := errors.Join(d.Add(t.Context(), r), d.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if rows := rowsOf[runRow](t, dir, "runs"); len(rows) != 1 {
		t.Errorf("%d rows of one run", len(rows))
	}
}

// full is a place that fails from some moment on.
type full struct {
	place.Place
	after int
}

var errFull = errors.New("no space left on device")

func (f *full) Put(ctx context.Context, name string, staged *os.File) error {
	if f.after--; f.after < 0 {
		return errFull
	}
	return f.Place.Put(ctx, name, staged)
}

// TestFull checks that a full place is reported and that no partial file stays.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	to, _ := place.Of(dir)
	d := NewDataset(&full{Place: to, after: 2})
	r := Diagnose(t.Context(), artifacts(t, gcs+"/go.gc-rate/sick/gctrace.log"), everything)
	err := errors.Join(d.Add(t.Context(), r), d.Close(t.Context()))
	if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), dir) {
		t.Errorf("%v", err)
	}
	var left []string
	_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, _ error) error {
		if !e.IsDir() {
			left = append(left, filepath.Base(filepath.Dir(p))+"/"+filepath.Ext(p))
		}
		return nil
	})
	if !slices.Equal(left, []string{"ledger/.parquet", "requests/.parquet"}) {
		t.Errorf("left: %v: no run is told of, and no part of a file", left)
	}
}
