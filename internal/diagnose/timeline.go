package diagnose

import (
	"cmp"
	"slices"
	"sync"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// kept is what a diagnosis was made of, for the timeline.
type kept struct {
	incident *incident.Incident
	threads  []ThreadStacks

	laid     sync.Once
	timeline *timeline.Timeline
}

// Timeline lays out when things happened to the service whose requests head the report; without
// requests, to the process with most evidence. It is built on the first call, and is nil in a
// Diagnosis that was not made by [Run] or whose evidence was dropped by [Diagnosis.Forget].
func (d *Diagnosis) Timeline() *timeline.Timeline {
	k := d.kept
	if k == nil {
		return nil
	}
	k.laid.Do(func() {
		b, ledgers := k.incident.Bundle, k.incident.Ledgers()
		k.timeline = timeline.Of(b, ledgers, chooseTimelineSubject(b, ledgers))
		k.incident = nil
	})
	return k.timeline
}

// Incident returns what the diagnosis was made of. It is nil in a Diagnosis that was not made by
// [Run], after [Diagnosis.Forget], and after [Diagnosis.Timeline] has used it up.
func (d *Diagnosis) Incident() *incident.Incident {
	if d.kept == nil {
		return nil
	}
	return d.kept.incident
}

// Forget drops the evidence that is kept for [Diagnosis.Timeline], the timeline itself, and what
// threads did.
func (d *Diagnosis) Forget() { d.kept = nil }

// mainLedger returns the ledger whose figures head the report: the one with most slow time, else
// with most requests.
func mainLedger(ledgers []*ledger.Ledger) *ledger.Ledger {
	return slices.MaxFunc(ledgers, func(a, b *ledger.Ledger) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.Requests.Count, b.Requests.Count))
	})
}

// chooseTimelineSubject returns the subject that a timeline is about.
func chooseTimelineSubject(b *evidence.Bundle, ledgers []*ledger.Ledger) evidence.SubjectID {
	if len(ledgers) > 0 {
		return mainLedger(ledgers).Subject
	}
	// Prefer the process whose states or collector were watched longest; else any process, else the host.
	longest := make([]int64, len(b.Subjects))
	for _, c := range b.Coverage {
		weight := int64(1)
		if k := c.Kind; k == evidence.CoverStates || k == evidence.CoverGC {
			weight = 1 << 10
		}
		if b.Subjects[c.Subject].Kind == evidence.Process {
			weight <<= 10
		}
		watched := min(max(0, c.Until-c.From), 1<<40)
		longest[c.Subject] = max(longest[c.Subject], (watched+1)*weight)
	}
	best := evidence.SubjectID(-1)
	for i, v := range longest {
		if v > 0 && (best < 0 || v > longest[best]) {
			best = evidence.SubjectID(i)
		}
	}
	if best < 0 && b.Samples.Len() > 0 { // stacks of which nothing says when they were taken
		return b.Samples.Subject[0]
	}
	return best
}
