package diagnose

import (
	"context"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// diagnoseStretches diagnoses the worst stretches of the evidence by themselves. Where nothing was
// found over all of it, the first stretch with a supported cause becomes the answer, and says so;
// the part that processes were looked at closely in is tried before the others. Where something
// was found over all of it, what is found in a stretch is added.
func diagnoseStretches(ctx context.Context, read *evidence.Bundle, opt Options, d *Diagnosis) (*Diagnosis, error) {
	i := d.kept.incident
	worst := metrics.Stretches(i.Bundle)
	closely, closer := metrics.CloselyWatched(i.Bundle)
	if closer && d.Outcome != Found {
		worst = append([]metrics.Window{closely}, worst...)
	}
	for _, x := range worst {
		part := opt
		part.Since, part.Until = time.Unix(0, x.From), time.Unix(0, x.Until)
		w, err := diagnoseWindow(ctx, read, part)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case err != nil || w.Outcome != Found:
			continue // a single stretch may have too little to judge
		case d.Outcome != Found:
			w.Worst = &Worst{Window: d.Window, Outcome: d.Outcome, From: secondsIntoEvidence(i, x.From), Until: secondsIntoEvidence(i, x.Until), Closely: closer && x == closely}
			return w, nil
		}
		v, again := chooseStretchVerdict(d, w)
		d.Stretches = append(d.Stretches, Stretch{
			Window: w.Window, From: secondsIntoEvidence(i, x.From), Until: secondsIntoEvidence(i, x.Until),
			Cause: v.Cause, Subject: v.Subject, Title: v.Title, Of: w.Share(v), Again: again,
		})
	}
	return d, nil
}

// chooseStretchVerdict returns the first supported verdict of a stretch that is not supported over
// all of the evidence; if there is none, the first verdict of the stretch, and again is true.
func chooseStretchVerdict(all, stretch *Diagnosis) (v *Verdict, again bool) {
	for k := range stretch.Verdicts {
		v := &stretch.Verdicts[k]
		if v.Verdict == check.Supported && !slices.ContainsFunc(all.Verdicts, func(o Verdict) bool {
			return o.Verdict == check.Supported && o.Cause == v.Cause && o.Subject == v.Subject
		}) {
			return v, false
		}
	}
	return &stretch.Verdicts[0], true
}

// Share returns the part of the slow time that a cause accounts for, nil where there is no such
// figure.
func (d *Diagnosis) Share(v *Verdict) *float64 {
	if v.Saves == nil || d.Requests == nil || d.Requests.SlowTotalMs <= 0 {
		return nil
	}
	share := v.Saves.Value / d.Requests.SlowTotalMs
	return &share
}

// secondsIntoEvidence returns how long after the beginning of the evidence a moment is, in
// seconds.
func secondsIntoEvidence(i *incident.Incident, at int64) float64 {
	return float64(at-i.Whole.From) / 1e9
}
