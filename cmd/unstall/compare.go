package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present"
	"github.com/unstall/unstall/internal/present/sentence"
)

type compareCommand struct {
	Runs      []string      `arg:"" optional:"" name:"run" help:"BEFORE and AFTER: captures, load results, diagnoses (JSON), or directories of these; the first run of one directory is paired with the first of the other. Or the URLs of two running services. AFTER may be a running process: it is recorded for as long as BEFORE was."`
	Before    several       `placeholder:"RUN..." help:"Several runs before the change."`
	After     several       `placeholder:"RUN..." help:"As many runs after the change."`
	Level     float64       `default:"0.95" help:"Confidence level of the intervals."`
	MinEffect percentage    `placeholder:"5%" help:"The smallest relative change that counts, with its % (default: each metric has its own)."`
	FailOn    []string      `placeholder:"METRIC" help:"Exit with 1 if one of these metrics regressed: their JSON names, all, or none (default: p50_ms, p99_ms, rate, errors)."`
	SLO       time.Duration `name:"slo" placeholder:"300ms" help:"Also compare the share of requests slower than this."`
	services  `group:"Compare two running services"`
	after     `group:"Record AFTER"`
	elsewhere
	output
}

// after is the load made while the run after a change is recorded. Its other flags are those of [services].
type after struct {
	Load    string   `placeholder:"URL|FILE" help:"AFTER is a running process: send requests to this URL while it is recorded, as when BEFORE was. --rate and the other flags say how."`
	Var     []string `sep:"none" placeholder:"NAME=VALUE" help:"With --load FILE: a value for a name under the file's vars; may be repeated."`
	HTTP2   bool     `name:"http2" help:"With --load: use HTTP/2, as unstall load --http2 does."`
	Streams int      `placeholder:"N" help:"With --load and --http2: concurrent requests on each connection."`
}

// loadOfAfter returns the load requested for the recording of AFTER.
func (c *compareCommand) loadOfAfter() besides {
	if c.Load == "" {
		return besides{}
	}
	v := &c.services
	return besides{Load: c.Load, Var: c.Var, HTTP2: c.HTTP2, Streams: c.Streams, Rate: v.Rate, Connections: v.Connections, Poisson: v.Poisson, Spike: v.Spike,
		Method: v.Method, Header: v.Header, Body: v.Body, Paths: v.Paths, Insecure: v.Insecure}
}

// several is a flag that takes all arguments up to the next flag.
type several []string

func (l *several) Decode(ctx *kong.DecodeContext) error {
	for ctx.Scan.Peek().IsValue() {
		*l = append(*l, ctx.Scan.Pop().String())
	}
	if len(*l) == 0 {
		return errors.New("give at least one run")
	}
	return nil
}

// percentage is a share, given as 5%. The sign is required, because 5 may mean 5 % as well as five times.
type percentage float64

func (p *percentage) UnmarshalText(text []byte) error {
	s, given := strings.CutSuffix(string(text), "%")
	var v float64
	_, err := fmt.Sscanf(s+"\n", "%g\n", &v)
	switch {
	case err != nil || !(v >= 0) || v > 1e6:
		return fmt.Errorf("%q is not a percentage: give one such as 5%%", text)
	case !given && v < 1:
		return fmt.Errorf("%q has no unit: give %s%%", text, units.Num(100*v))
	case !given:
		return fmt.Errorf("%q has no unit: give %s%%", text, s)
	}
	*p = percentage(v / 100)
	return nil
}

func (c *compareCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err != nil {
		return err
	}
	if form.Compare == nil {
		return fmt.Errorf("--format %s: compare writes %s", form.Name, present.NamesOf(", ", canCompare))
	}
	if err := c.checkFlags(); err != nil {
		return err
	}
	if !s.checkOutput(c.Output) {
		return nil
	}
	opt := compare.Options{Level: c.Level, MinEffect: float64(c.MinEffect), FailOn: c.FailOn}
	if c.services.areURLs(c.Runs) {
		return s.compareServices(c, form, opt)
	}
	before, after := c.Before, c.After
	if len(c.Runs) == 2 {
		before, after = several(c.Runs[:1]), several(c.Runs[1:])
		if !s.checkFilesExist(c.Runs[0], c.Runs[1]) || !s.checkBefore(c.Runs[0], c.Runs[1]) {
			return nil // already reported
		}
		path, ok, err := s.recordAfter(before[0], after[0], c.elsewhere, c.loadOfAfter())
		if err != nil || !ok {
			return err // nil if already reported
		}
		after = several{path}
		opt.Before, opt.After = c.Runs[0], path
	}
	measure := compare.MeasureOptions{SLO: c.SLO, Parts: len(before) == 1 && len(after) == 1}
	b, ok := s.readRuns(before, measure)
	a, too := s.readRuns(after, measure)
	if !ok || !too {
		return nil // already reported
	}
	if len(c.Before) > 0 && len(b) != len(a) {
		return fmt.Errorf("--before has %s, --after %s: give as many runs of each side, as they are compared pair by pair", units.Plural(len(b), "run"), units.Plural(len(a), "run"))
	}
	if len(b) == 1 && len(a) == 1 {
		opt.Earlier = s.measureEarlier(before[0], after[0], b[0], measure)
	}
	result, err := compare.Compare(b, a, opt)
	if err != nil {
		return err
	}
	form = form.Repeat(typedCommand())
	if len(b) == 1 && len(a) == 1 && (!result.Refused() || form.Sides != nil) { // a page shows both reports, whether they compare or not
		was, is := s.diagnoseSide(before[0], c.SLO), s.diagnoseSide(after[0], c.SLO)
		result.SetCauses(was, is)
		form = form.WithSides(was, is)
	}
	s.writeComparison(c, form, result, slices.Concat(before, after))
	return nil
}

// canCompare says whether a form is one of comparisons.
func canCompare(f present.Form) bool { return f.Compare != nil }

// writeComparison writes a comparison and sets the exit code.
func (s *session) writeComparison(c *compareCommand, form present.Form, result *compare.Comparison, inputs []string) {
	if s.writeOutput(c.Output, inputs, func(w io.Writer) error { return form.Compare(w, result) }) && c.Output != "" && c.Output != "-" {
		fmt.Fprintln(s.out, sentence.Compared(result))
		s.printWrote(c.Output)
	}
	switch {
	case result.Refused(), len(result.Metrics) == 0:
		s.code = max(s.code, unreadable)
	case len(result.Regressed()) > 0:
		s.code = max(s.code, found)
		s.printNote("%s", formatFailure(result, len(c.FailOn) > 0))
	case len(c.FailOn) == 0 && sentence.IsWorse(result):
		s.printNote("exit 0: what regressed does not count unless --fail-on names it: %s", regressedMetrics(result, func(m *compare.Result) bool { return !m.Gate }))
	}
}

// formatFailure says why the exit code is 1. It is the last line, as the report's first one may be about another metric.
func formatFailure(result *compare.Comparison, named bool) string {
	text := "exit 1: " + regressedMetrics(result, func(m *compare.Result) bool { return m.Gate }) + " regressed"
	if named {
		text += " (--fail-on)"
	}
	return text
}

// regressedMetrics returns the names of the metrics that regressed, of those chosen.
func regressedMetrics(result *compare.Comparison, chosen func(*compare.Result) bool) string {
	var names []string
	for i := range result.Metrics {
		if m := &result.Metrics[i]; m.Result == compare.Regressed && chosen(m) {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

func (c *compareCommand) checkFlags() error {
	switch {
	case len(c.Runs) > 0 && len(c.Before)+len(c.After) > 0:
		return fmt.Errorf("%s: with --before and --after, give all runs behind these flags", c.Runs[0])
	case len(c.Before)+len(c.After) > 0 && (len(c.Before) == 0 || len(c.After) == 0):
		return errors.New("give --before and --after, or two runs")
	case len(c.Before) == 0 && len(c.Runs) != 2:
		return fmt.Errorf("give two runs, BEFORE and AFTER, not %d; for more runs use --before and --after", len(c.Runs))
	case !(c.Level > 0 && c.Level < 1):
		return fmt.Errorf("--level %g: give one between 0 and 1, such as 0.95", c.Level)
	case c.SLO < 0:
		return fmt.Errorf("--slo %s: give a time above zero", c.SLO)
	}
	for _, name := range c.FailOn {
		if _, ok := compare.MetricOf(name); !ok && name != "all" && name != "none" {
			return fmt.Errorf("--fail-on %s: unknown metric: choose from %s, all, none", name, metricNames())
		}
	}
	return nil
}

// checkFilesExist prints an error for each name that is a missing file, before any file is read. It returns false if there is
// one.
func (s *session) checkFilesExist(names ...string) bool {
	ok := true
	for _, name := range names {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && discover.LikeFile(name) {
			s.reportError(unreadable, discover.Explain(fmt.Errorf("%s: %w", name, errors.Unwrap(err))))
			ok = false
		}
	}
	return ok
}

// checkBefore prints an error if the run before a change is no file, and with it one for a run after it that is neither a file nor a
// running process. It returns false if there is no run before.
func (s *session) checkBefore(before, after string) bool {
	if _, err := os.Stat(before); before == "-" || !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	s.reportError(unreadable, fmt.Errorf("%s: no such file: BEFORE is a capture or another file, only AFTER may be a running process", before))
	if _, _, errs := discover.Split(context.Background(), []string{after}, platform.Recognisers()); len(errs) > 0 {
		s.reportUnresolved(errs)
	}
	return false
}

func metricNames() string {
	var names []string
	for _, m := range compare.Metrics {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// readRuns reads and measures the runs of one side; false if one of them could not be read.
func (s *session) readRuns(names []string, opt compare.MeasureOptions) (runs []compare.Run, ok bool) {
	for _, name := range names {
		more, err := compare.Read(name, s.readFiles, opt)
		if err != nil {
			s.reportError(unreadable, err)
		}
		if err != nil || len(more) == 0 {
			return nil, false
		}
		runs = append(runs, more...)
	}
	return runs, true
}
