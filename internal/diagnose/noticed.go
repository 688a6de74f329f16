package diagnose

import (
	"context"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// noticed is the latency from which people notice a single request: below about 0.1 s an answer seems immediate (J. Nielsen,
// Usability Engineering, 1993, chapter 5).
const noticed = 100 * time.Millisecond

// diagnoseNoticed diagnoses again with every request above [noticed] as slow, where no objective is set, half of the requests take longer than that,
// and nothing was found: where each takes as long, none is slow beside the others. It returns that diagnosis, and the options that it
// was made with, if it finds a cause that takes most of the slow time; else what it was given.
func diagnoseNoticed(ctx context.Context, read *evidence.Bundle, opt Options, d *Diagnosis) (*Diagnosis, Options, error) {
	r := d.Requests
	if d.Outcome == Found || opt.SLO > 0 || opt.Baseline != nil || r == nil || r.SlowRule != ledger.RuleFloor ||
		r.Count < ledger.MinRequests || r.P50Ms == nil || *r.P50Ms < noticed.Seconds()*1e3 {
		return d, opt, nil
	}
	then := opt
	then.noticed = noticed
	of, err := diagnoseWindow(ctx, read, then)
	if err != nil || !of.mostlyExplained() {
		return d, opt, err
	}
	return of, then, nil
}

// NoticedIn returns the latency above which the diagnosis of an incident takes every request for slow; 0 where it does not.
func NoticedIn(ctx context.Context, i *incident.Incident, read *evidence.Bundle, opt Options) (time.Duration, error) {
	ledgers := i.Counted()
	if len(ledgers) == 0 || mainLedger(ledgers).Rule != ledger.RuleFloor || mainLedger(ledgers).Requests.P50 < noticed.Nanoseconds() {
		return 0, nil
	}
	d, err := Run(ctx, read, opt)
	if err != nil || d.Requests == nil || d.Requests.SlowRule != ledger.RuleNoticed {
		return 0, err
	}
	return noticed, nil
}

// mostlyExplained says whether the first cause found takes most of the slow time.
func (d *Diagnosis) mostlyExplained() bool {
	if d.Outcome != Found {
		return false
	}
	share := d.Share(&d.Verdicts[0])
	return share != nil && *share >= mostlyThere
}
