package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/unstall/unstall/lab"
	labs "github.com/unstall/unstall/lab/all"
)

// runLabs runs the labs that have a chosen variant, and judges the diagnoses of
// their variants.
func runLabs(ctx context.Context, o options, run int) (cases []Case, err error) {
	for _, l := range labs.Labs {
		wanted := func(v lab.Variant) bool { return o.only.MatchString(l.Name + "/" + v.Name) }
		if !slices.ContainsFunc(l.Variants, wanted) {
			continue
		}
		began := time.Now()
		outcome, err := lab.Run(ctx, l, lab.Options{Keep: o.keep, Version: "accuracy", Progress: func(text string) { logLine("%s: %s", l.Name, text) }})
		switch {
		case ctx.Err() != nil:
			return nil, errors.New("interrupted: what was started has ended")
		case err != nil:
			cases = append(cases, Case{Service: l.Name, Run: run, About: l.About, Found: []string{}, Expected: []string{}, Error: err.Error()})
			continue
		}
		seconds := time.Since(began).Seconds() / float64(max(1, len(outcome.Variants)))
		for _, r := range outcome.Variants {
			if r.Diagnosis == nil || !o.only.MatchString(l.Name+"/"+r.Name) {
				continue
			}
			k := &Kept{Service: l.Name + "/" + r.Name, Run: run, Lab: &r.Expected, About: r.About, Runtime: "lab", Others: r.Others, Seconds: seconds, Recorded: began.UTC()}
			if q := r.Diagnosis.Requests; q != nil && q.SlowRule == "slo" && q.SlowThresholdMs != nil {
				k.SLO.Duration = time.Duration(*q.SlowThresholdMs * 1e6)
			}
			k.Capture = fileStem(k.Service, run) + ".unstall"
			if err := errors.Join(os.Rename(r.Capture, filepath.Join(o.keep, k.Capture)), k.writeFile(o.keep)); err != nil {
				return nil, err
			}
			c := judgeRun(ctx, o, o.keep, k)
			if err := k.saidOf(ctx, o, &c); err != nil {
				return nil, err
			}
			logLine("%s", c)
			cases = append(cases, c)
		}
	}
	return cases, nil
}
