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

// stretches asks the worst stretches of what was diagnosed by themselves. Where nothing was found over all of it, the first in
// which something is found is the answer, and says that it is of that stretch; before those comes the part that was looked at
// closely, where there is more from before it. Where something was found, what is found in a stretch stands beside it.
func stretches(ctx context.Context, read *evidence.Bundle, opt Options, d *Diagnosis) (*Diagnosis, error) {
	i := d.kept.incident
	worst := metrics.Stretches(i.Bundle)
	closely, closer := metrics.CloselyWatched(i.Bundle)
	if closer && d.Outcome != Found {
		worst = append([]metrics.Window{closely}, worst...)
	}
	for _, x := range worst {
		part := opt
		part.Since, part.Until = time.Unix(0, x.From), time.Unix(0, x.Until)
		w, err := once(ctx, read, part)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case err != nil || w.Outcome != Found:
			continue // of a stretch on its own there may be too little to judge
		case d.Outcome != Found:
			w.Worst = &Worst{Window: d.Window, Outcome: d.Outcome, From: offset(i, x.From), Until: offset(i, x.Until), Closely: closer && x == closely}
			return w, nil
		}
		v, again := besides(d, w)
		d.Stretches = append(d.Stretches, Stretch{
			Window: w.Window, From: offset(i, x.From), Until: offset(i, x.Until),
			Cause: v.Cause, Subject: v.Subject, Title: v.Title, Of: w.Share(v), Again: again,
		})
	}
	return d, nil
}

// besides is the first that is found in a stretch and not in all of the evidence; where all of it is, the first.
func besides(all, stretch *Diagnosis) (v *Verdict, again bool) {
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

// Share is the part of the slow time that a cause accounts for, nil where there is no such figure.
func (d *Diagnosis) Share(v *Verdict) *float64 {
	if v.Saves == nil || d.Requests == nil || d.Requests.SlowTotalMs <= 0 {
		return nil
	}
	share := v.Saves.Value / d.Requests.SlowTotalMs
	return &share
}

// offset is where a moment lies in the evidence, s since that begins.
func offset(i *incident.Incident, at int64) float64 { return float64(at-i.Whole.From) / 1e9 }
