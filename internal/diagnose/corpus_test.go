package diagnose_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

const corpus = "../../../shared/corpus/go"

func run(t *testing.T, files ...string) *diagnose.Diagnosis {
	t.Helper()
	b := incident.NewBundle()
	for _, f := range files {
		if err := format.Read(context.Background(), all.Formats, format.File(f), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func supported(d *diagnose.Diagnosis) (ids []string) {
	for _, v := range d.Verdicts {
		if v.Verdict == check.Supported {
			ids = append(ids, v.Cause)
		}
	}
	return ids
}

// TestCorpusVerdicts holds the diagnoses of the recorded corpus against what is
// known of it, and the ledger against the rule that it adds up.
func TestCorpusVerdicts(t *testing.T) {
	data, err := os.ReadFile(corpus + "/EXPECTED.json")
	if err != nil {
		t.Skip("the corpus is not beside this checkout: ", err)
	}
	var expected map[string]struct {
		Verdict string
		Not     []string
		With    string
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			files := []string{filepath.Join(corpus, name)}
			if want.With != "" {
				files = append(files, filepath.Join(corpus, want.With))
			}
			d := run(t, files...)
			ids := supported(d)
			switch want.Verdict {
			case "":
			case "none":
				if len(ids) > 0 {
					t.Errorf("supported are %v, want none", ids)
				}
			default:
				if len(ids) == 0 || ids[0] != want.Verdict {
					t.Errorf("supported are %v, want %s first", ids, want.Verdict)
				}
			}
			for _, id := range want.Not {
				if slices.Contains(ids, id) {
					t.Errorf("%s is supported", id)
				}
			}
			addsUp(t, d)
		})
	}
}

// addsUp checks that the ledger sums to the slow time and that no more than a
// tenth of it is unobserved or unexplained.
func addsUp(t *testing.T, d *diagnose.Diagnosis) {
	t.Helper()
	if d.Requests == nil {
		return
	}
	var sum, unknown float64
	for _, e := range d.Ledger {
		sum += e.SlowMs
		if e.Mechanism == "unobserved" || e.Mechanism == "unexplained" {
			unknown += e.SlowMs
		}
	}
	if total := d.Requests.SlowTotalMs; math.Abs(sum-total) > .001*total {
		t.Errorf("the ledger sums to %.3f ms of %.3f", sum, total)
	} else if unknown > .1*total {
		t.Errorf("%.1f of %.1f ms are unobserved or unexplained", unknown, total)
	}
}

// TestTwoLogsOfDifferentHours must say that they have nothing to do with each
// other.
func TestTwoLogsOfDifferentHours(t *testing.T) {
	dir := t.TempDir()
	write := func(name, hour string) string {
		var s strings.Builder
		for i := range 30 {
			s.WriteString(`{"ts":"2026-11-20T` + hour + `:00:` + []string{"0", "1", "2"}[i/10] + string(rune('0'+i%10)) + `Z","method":"GET","path":"/a","status":200,"duration_ms":12.5}` + "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d := run(t, write("a.log", "10"), write("b.log", "14"))
	if !slices.ContainsFunc(d.Warnings, func(w diagnose.Warning) bool { return strings.Contains(w.Text, "do not overlap in time") }) {
		t.Errorf("no warning that the logs do not overlap: %+v", d.Warnings)
	}
}

// TestTraceAgreesWithItsLog places the gctrace log of the same run on the
// trace's clock by its cycles, and requires that both show the same ones.
func TestTraceAgreesWithItsLog(t *testing.T) {
	logs, _ := filepath.Glob(corpus + "/g-*.log")
	if len(logs) == 0 {
		t.Skip("the corpus is not beside this checkout")
	}
	for _, log := range logs {
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(log), "g-"), ".log")
		t.Run(version, func(t *testing.T) {
			b := incident.NewBundle()
			for _, f := range []string{filepath.Join(corpus, "t-"+version+".trace.gz"), log} {
				if err := format.Read(context.Background(), all.Formats, format.File(f), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Targets) != 1 {
				t.Errorf("%d targets, want one process", len(d.Targets))
			}
			starts := map[evidence.ArtifactID][]int64{}
			b = incident.Of(b, incident.Options{}).Bundle
			for i, k := range b.Intervals.Kind {
				if k == evidence.GCMark && b.Intervals.Cause.At(i) == 0 { // whole within the trace
					a, _ := b.Intervals.Origin.At(i).Artifact()
					starts[a] = append(starts[a], b.Intervals.Start[i])
				}
			}
			inTrace, inLog := starts[0], starts[1]
			if len(inTrace) == 0 || len(inLog) < len(inTrace) {
				t.Fatalf("%d cycles in the trace, %d in the log of the whole run", len(inTrace), len(inLog))
			}
			for _, at := range inTrace {
				if !slices.ContainsFunc(inLog, func(l int64) bool { return max(l-at, at-l) < 5e6 }) {
					t.Errorf("the log has no cycle at %d", at)
				}
			}
		})
	}
}

// TestStarvedPoolFromTheTraceAlone: the recording of a .NET 10 service under 125
// connections, which holds no request, names the code that blocks its pool.
func TestStarvedPoolFromTheTraceAlone(t *testing.T) {
	const file = "../../../shared/corpus/nettrace/starve10.nettrace.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skip("the corpus is not beside this checkout: ", err)
	}
	d := run(t, file)
	if ids := supported(d); !slices.Equal(ids, []string{"dotnet.threadpool-starvation"}) {
		t.Fatalf("supported are %v, want the pool's starvation alone", ids)
	}
	v := d.Verdicts[0]
	if want := "Startup.Configure.lambda_0_2 blocks 32 of 50 pool threads on .Result: the pool starves."; v.Title != want {
		t.Errorf("%q, want %q", v.Title, want)
	}
	figures := make(map[string]float64)
	for _, e := range v.Evidence {
		if e.Value != nil {
			figures[e.Text] = *e.Value
		}
		if e.Origin == "" {
			t.Errorf("%q is from nowhere", e.Text)
		}
	}
	if cpu := figures["share of 2 CPUs in use"]; cpu <= 0 || cpu > .2 {
		t.Errorf("%g of the CPUs in use, want the little that the counters say", cpu)
	}
	if grows := figures["growth of the pool"]; grows < 3 || grows > 5 {
		t.Errorf("the pool grows by %g a second, want four: one each 250 ms", grows)
	}
	if !slices.ContainsFunc(v.Fix, func(f diagnose.Fix) bool {
		return strings.HasPrefix(f.Setting, "DOTNET_ThreadPool_ForceMinWorkerThreads=")
	}) {
		t.Errorf("no stopgap: %+v", v.Fix)
	}
}
