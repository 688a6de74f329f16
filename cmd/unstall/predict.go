package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/predict"
	"github.com/unstall/unstall/report"
)

type predictCommand struct {
	Files  []string `arg:"" name:"file" help:"What was recorded of a Go, .NET or JVM process under load: a capture, gctrace log, GC log, execution trace, profiles, access log; - for standard input."`
	Set    []string `sep:"none" placeholder:"NAME=VALUE" help:"The setting to predict. For Go: GOMEMLIMIT=800MiB, GOGC=200 or off, ballast=1GiB, under live=120MiB or alloc=800MiB/s. For .NET: await, min-threads=200, max-threads=100, under service-time=500ms or connections=125. For a JVM: Xmn=2g, Xmx=6g, under alloc-rate=×0.5 or rate=80. The same name again is another row; several in one --set, with spaces, go together. Without it: what memory buys and how much is worth it; what becomes of the thread pool and what helps; what a larger young generation gives."`
	Since  moment   `placeholder:"TIME" help:"Calibrate on what happened from this time on: RFC 3339, or 14:02:00 (UTC)."`
	Until  moment   `placeholder:"TIME" help:"Only until this time."`
	Target string   `placeholder:"NAME|PID" help:"The process, if the files are of several."`
	output
}

func (c *predictCommand) Run(s *session) error {
	form, err := report.Choose(c.Format, c.Output, c.Color)
	if err != nil {
		return err
	}
	wanted, err := predict.ParseSets(c.Set)
	if err != nil {
		return err
	}
	bundle := s.read(c.Files)
	if bundle == nil {
		return nil
	}
	opt := diagnose.PredictOptions{Target: c.Target, Wanted: wanted, Since: c.Since.near(bundle), Until: c.Until.near(bundle), Version: version()}
	if !opt.Since.IsZero() && !opt.Until.IsZero() && !opt.Since.Before(opt.Until) {
		return fmt.Errorf("--since %s is not before --until %s", opt.Since.Format(time.RFC3339), opt.Until.Format(time.RFC3339))
	}
	p, err := diagnose.Predict(bundle, opt)
	if err != nil {
		code := wrongUse // a setting that cannot be, or a process that is not there
		var which *diagnose.WhichError
		if p == nil && !errors.As(err, &which) {
			code = unreadable
		}
		s.fail(code, err)
	}
	if p == nil || len(wanted) > 0 && p.Empty() {
		return nil
	}
	s.write(c.Output, c.Files, func(w io.Writer) error { return form.Repeat(typedCommand()).Predict(w, p) })
	return nil
}
