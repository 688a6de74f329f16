package jvm

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// At 60 requests/s of 26 ms on two processors work takes 78 % of them, pauses 13 %: what
// comes waits behind them, and the sum is far more than the pauses.
func TestYoungCollectionsNearTheKnee(t *testing.T) {
	c := service{collector: "ParNew+CMS", cores: 2, rate: 60, demand: 26 * ms, pauses: every(450*ms, parnew(60*ms)), facts: map[string]float64{"NewSize": 768 * mib, "MaxNewSize": 768 * mib, "MaxHeapSize": 1536 * mib, "SurvivorRatio": 10}}.build()
	v := only(t, c, YoungGCRate.ID)
	if v.Saves == nil || v.Saves.Value < .6*float64(c.Ledger.Total)/1e6 {
		t.Errorf("saves %v of %d ms: without a pause %.0f %% of the slow time is gone", v.Saves, c.Ledger.Total/ms, 100*.73)
	}
	if len(v.Fix) == 0 || v.Fix[0].Setting != "-Xmn3g -Xms3840m -Xmx3840m" {
		t.Errorf("%+v", v.Fix)
	}
	if len(v.Prediction) == 0 || v.Prediction[0].Metric != "young collections" || !near(*v.Prediction[0].Then, 133./4, .02) {
		t.Errorf("%+v", v.Prediction)
	}
	if !strings.Contains(v.Summary, "the CPUs can serve about") {
		t.Errorf("no knee: %s", v.Summary)
	}
}

// The same collections at a third of the load: nobody is slow.
func TestYoungCollectionsAtLowLoad(t *testing.T) {
	only(t, service{collector: "ParNew+CMS", cores: 2, rate: 20, demand: 26 * ms, pauses: every(1350*ms, parnew(60*ms))}.build(), "")
}

// Above what the processors do without any collection, the work is it.
func TestTooMuchWorkIsNotTheCollectors(t *testing.T) {
	c := service{collector: "ParNew+CMS", cores: 2, rate: 90, demand: 26 * ms, pauses: every(1350*ms, parnew(30*ms))}.build()
	v := judged(t, c, YoungGCRate)
	t.Logf("%s: %s", v.State, v.Summary)
	if v.State == check.Supported || !strings.Contains(v.Summary, "over-capacity") {
		t.Errorf("%s: %s", v.State, v.Summary)
	}
}

// Seldom and long: what matters is how much survives, not how often eden fills.
func TestYoungCollectionsThatCopyMuch(t *testing.T) {
	copies := parnew(300 * ms)
	copies.youngAfter, copies.after = 350, 650
	v := only(t, service{collector: "ParNew+CMS", cores: 2, rate: 60, demand: 26 * ms, pauses: every(3000*ms, copies)}.build(), YoungGCRate.ID)
	if !strings.Contains(v.Title, "for 300 ms each time, 19 times per minute, because 350 MiB survive each and are copied") {
		t.Error(v.Title)
	}
	if len(v.Fix) == 0 || v.Fix[0] != fewerSurvive {
		t.Errorf("%+v", v.Fix)
	}
}

// A log alone says how much of the time is stopped, and no more.
func TestYoungCollectionsOfALogAlone(t *testing.T) {
	often := service{collector: "ParNew+CMS", pauses: every(450*ms, parnew(60*ms)), alone: true}.build()
	if v := only(t, often, YoungGCRate.ID); v.Saves != nil || v.Weight < .1 || len(v.Needs) == 0 {
		t.Errorf("%+v", v)
	}
	only(t, service{collector: "ParNew+CMS", pauses: every(5000*ms, parnew(60*ms)), alone: true}.build(), "")

	one := parnew(40 * ms)
	line := service{collector: "ParNew+CMS", pauses: []stop{one}, alone: true, watched: one.took}.build()
	if v := judged(t, line, YoungGCRate); v.State != check.Inconclusive || !strings.Contains(v.Summary, "too few young collections (1)") {
		t.Errorf("a log of one line: %s, %s", v.State, v.Summary)
	}
}

// A service that counts its requests from when a thread takes one up does not see those that wait for that: on full
// CPUs, where every tenth of a second is stopped, quick rows of its own do not acquit the collections.
func TestYoungCollectionsWithRowsOfTheServiceItself(t *testing.T) {
	of := func(took int64, busy float64) *check.Case {
		return service{collector: "ParNew+CMS", cores: 2, rate: 20, demand: 20 * ms, pauses: every(450*ms, parnew(took)), series: map[string]float64{"host.cpu.busy": busy}}.build()
	}
	if v := only(t, of(60*ms, 1.96), YoungGCRate.ID); len(v.Needs) == 0 || v.Saves != nil {
		t.Errorf("full: %+v", v)
	}
	only(t, of(60*ms, 1.2), "")
	only(t, of(20*ms, 1.96), "")
	clients := of(60*ms, 1.96)
	clients.Bundle.Loads = []evidence.LoadResult{{Origin: evidence.NewOrigin(clients.Ledger.Source, 1)}}
	only(t, clients, "")
}
