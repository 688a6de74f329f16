package diagnose_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// A recording of .NET 10 under 125 closed connections to a handler that blocks on a task
// of 500 ms, on 2 processors.
const starving = "../../../shared/corpus/nettrace/starve10.nettrace.gz"

func asked(t *testing.T, sets ...string) (*model.Answer, error) {
	t.Helper()
	if _, err := os.Stat(starving); err != nil {
		t.Skip("the corpus is not beside this checkout")
	}
	return askedOf(t, []string{starving}, sets...)
}

func askedOf(t *testing.T, files []string, sets ...string) (*model.Answer, error) {
	t.Helper()
	b := incident.NewBundle()
	for _, f := range files {
		if err := format.Read(context.Background(), all.Formats, format.File(f), b); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := model.ParseSets(platform.Models(), sets)
	if err != nil {
		t.Fatal(err)
	}
	return diagnose.Predict(b, diagnose.PredictOptions{Wanted: wanted})
}

func of(a *model.Answer) *threadpool.Prediction { return a.Own.(*threadpool.Prediction) }

func TestPredictPool(t *testing.T) {
	p, err := asked(t, "service-time=500ms", "connections=125")
	if err != nil {
		t.Fatal(err)
	}
	c := of(p).Calibration
	if p.Model != threadpool.ID || c.Pattern != threadpool.TaskWait || c.Processors != 2 || c.Connections != 125 || !strings.Contains(c.Waits, ".Result") {
		t.Errorf("%+v", c)
	}
	if len(of(p).Outcomes) != 3 {
		t.Fatalf("%d outcomes: as it is, await and more threads were expected", len(of(p).Outcomes))
	}
	await, more := of(p).Outcomes[1].Outcome, of(p).Outcomes[2].Outcome
	for name, o := range map[string]threadpool.Outcome{"await": await, "more threads": more} { // 243 and 227 to 244 were measured
		if !(math.Abs(o.Rate.Value-243) <= .15*243) {
			t.Errorf("%s: %.0f requests/s", name, o.Rate.Value)
		}
	}
	if await.Threads.Value > 3*2+4 || more.Threads.Value < 100 {
		t.Errorf("threads: %.0f with await, %.0f with more from the start", await.Threads.Value, more.Threads.Value)
	}
}

// Of a recording with light load before the storm nothing needs to be told.
func TestPredictPoolAlone(t *testing.T) {
	files, _ := filepath.Glob("check/testdata/dotnet.threadpool-starvation/sick/*.zst")
	if len(files) == 0 {
		t.Fatal("the recording is not there")
	}
	p, err := askedOf(t, files)
	if err != nil {
		t.Fatal(err)
	}
	c := of(p).Calibration
	if c.Version != "3.1.2" || c.Pattern != threadpool.TaskWait || !(math.Abs(c.Service-.5) <= .03) || c.Connections < 120 || c.Connections > 140 {
		t.Errorf("%+v", c)
	}
	if len(of(p).Outcomes) == 0 {
		t.Fatal("no outcome")
	}
	for _, a := range of(p).Outcomes {
		if want := float64(c.Connections) / c.Service; !(math.Abs(a.Outcome.Rate.Value-want) <= .15*want) {
			t.Errorf("%s: %.0f requests/s, want %.0f", a.Text, a.Outcome.Rate.Value, want)
		}
	}
	if m := of(p).Measured; m.Rate.Value > 20 || !m.Threads.Known() {
		t.Errorf("measured: %+v", m)
	}
}

func TestPredictPoolNeeds(t *testing.T) {
	if _, err := asked(t, "await"); !errors.Is(err, threadpool.ErrServiceTime) {
		t.Errorf("without a service time: %v", err)
	}
	_, err := asked(t, "GOGC=200")
	var which *diagnose.WhichError
	if !errors.As(err, &which) || !strings.Contains(err.Error(), "GOGC=200") {
		t.Errorf("a setting of Go: %v", err)
	}
}
