package diagnose

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Collector is how much a process's garbage collector stopped it, whatever for.
type Collector struct {
	Subject   string   `json:"subject"`
	WatchedS  float64  `json:"watched_s"`
	Pauses    int      `json:"pauses"`
	Stopped   *float64 `json:"stopped_share"` // of the time watched, 0…1; null where pauses have no times
	LongestMs *float64 `json:"longest_ms"`    // null where that is not known
	RuledOut  bool     `json:"ruled_out"`     // of its causes each is
}

// summarizeCollectors returns how much its garbage collector stopped each process whose collector
// was watched.
func (r *run) summarizeCollectors() []Collector {
	var all []Collector
	for _, s := range slices.Sorted(maps.Keys(r.name)) {
		read := platform.ByID(r.b.Subjects[s].Runtime).ReadCollector
		if read == nil || r.b.Subjects[s].Kind != evidence.Process {
			continue
		}
		g := read(r.b, s, metrics.Scope{Whole: true})
		if g == nil || g.Span <= 0 {
			continue
		}
		all = append(all, Collector{Subject: r.name[s], WatchedS: g.Span, Pauses: len(g.Pauses),
			Stopped: scaleKnown(g.Stopped, 1), LongestMs: scaleKnown(g.Longest, 1e3), RuledOut: r.ruledOut(s, check.StepCollector)})
	}
	return all
}

// scaleKnown returns a value times a factor, for another unit; nil if the value is not known.
func scaleKnown(v metrics.Value, times float64) *float64 {
	if !v.Known() {
		return nil
	}
	x := v.Number * times
	return &x
}

// ruledOut says whether causes of a step were checked for a subject and all of them are ruled out.
func (r *run) ruledOut(s evidence.SubjectID, step check.Step) bool {
	some := false
	for _, v := range r.d.Verdicts {
		if v.Subject != r.name[s] || v.Step != step {
			continue
		}
		if v.Verdict != check.RuledOut {
			return false
		}
		some = true
	}
	return some
}
