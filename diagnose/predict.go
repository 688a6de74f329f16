package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/golang"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
	"github.com/unstall/unstall/predict"
)

// WhichError says that the question is not about this evidence, or not clear: that is
// for whoever asked to change.
type WhichError struct{ Why string }

func (e *WhichError) Error() string { return e.Why }

func which(format string, args ...any) error { return &WhichError{fmt.Sprintf(format, args...)} }

// PredictOptions are what is asked of [Predict].
type PredictOptions struct {
	Target  string // a process by its name or PID; "": the only one
	Wanted  []predict.Wanted
	Since   time.Time // zero: all there is
	Until   time.Time
	Version string // of the tool
}

// Predict says what settings would do to the Go process a bundle is of. It aligns the
// bundle's clocks; run it once. What cannot be is an error beside the rest.
func Predict(b *evidence.Bundle, opt PredictOptions) (*predict.Prediction, error) {
	b.Unify()
	b.Align()
	if !opt.Since.IsZero() || !opt.Until.IsZero() {
		from, until := b.Window()
		b.Clip(nanos(opt.Since), nanos(opt.Until))
		if len(b.Coverage) == 0 {
			return nil, which("nothing of the evidence lies in the time asked for: it is of %s UTC", between(window{from: from, until: until}))
		}
	}
	ledgers := ledger.Build(b, ledger.Options{})
	r := &run{b: b, d: &Diagnosis{}, ledgers: ledgers}
	r.names()
	id, err := r.goProcess(opt.Target)
	if err != nil {
		return nil, err
	}
	c := &cause.Case{Bundle: b, Subject: id, Ledger: r.ledgerOf(id)}
	h, err := golang.HeapOf(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name[id], err)
	}
	latency, why := golang.LatencyOf(c)
	p, err := h.Ask(r.name[id], opt.Wanted, latency)
	if p == nil {
		return nil, fmt.Errorf("%s: %w", r.name[id], err)
	}
	p.ToolVersion = opt.Version
	p.Calibration.Go = r.goVersion(id)
	p.Calibration.Source = golang.SourceOf(c)
	if quota, ok := golang.QuotaOf(c); ok {
		p.Notes = append(p.Notes, fmt.Sprintf("a quota of %.3g CPUs is below GOMAXPROCS=%.0f: the kernel's stops under it are not modelled, and the collector uses the quota up, too", quota, p.Calibration.Processors))
	}
	switch {
	case why != nil && latency == nil:
		p.Notes = append(p.Notes, "p99 is not predicted: "+why.Error())
	case why == nil:
		p.Notes = append(p.Notes, "p99 is that of the recorded requests, run once more beside the predicted cycles; now is what that gives for the cycles as they were")
	default:
		p.Notes = append(p.Notes, "p99 is that of the traced requests, with what the collector cost them scaled: "+why.Error())
	}
	return p, err
}

// goProcess finds the process that is meant.
func (r *run) goProcess(target string) (evidence.SubjectID, error) {
	var of, watched []evidence.SubjectID
	others := 0
	for i, s := range r.b.Subjects {
		id := evidence.SubjectID(i)
		if _, ok := r.name[id]; !ok || s.Kind != evidence.Process {
			continue
		}
		if target != "" && target != s.Name && target != strconv.Itoa(s.PID) && target != r.name[id] {
			continue
		}
		if s.Runtime != "go" {
			others++
			continue
		}
		of = append(of, id)
		if len(r.b.Covered(id, evidence.CoverGC)) > 0 {
			watched = append(watched, id)
		}
	}
	if len(watched) > 0 {
		of = watched
	}
	var names []string
	for _, id := range of {
		names = append(names, r.name[id])
	}
	switch {
	case len(of) == 1:
		return of[0], nil
	case len(of) > 1:
		return 0, which("these are of %d Go processes: choose one with --target: %s", len(of), strings.Join(names, ", "))
	case target != "":
		return 0, which("--target %s: nothing here is of a Go process of that name or PID", target)
	case others > 0:
		return 0, which("what was recorded is of no Go process, or does not say so: the model is of Go's heap; its gctrace log, an execution trace or a capture of it will do")
	default:
		return 0, which("nothing was recorded of a process: give a capture of a Go process under load, or the log of a run with GODEBUG=gctrace=1")
	}
}

func (r *run) goVersion(id evidence.SubjectID) string {
	if v := r.b.Subjects[id].Version; v != "" {
		return v
	}
	if release, ok := r.b.VersionAtLeast(id); ok {
		return release + " or later"
	}
	return ""
}
