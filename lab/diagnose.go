package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe"
	probes "github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/diagnose"
)

// attempts is how often a disturbed diagnosis is made.
const attempts = 3

// diagnoseVariant records a variant under its load and diagnoses the capture.
func (s *Stand) diagnoseVariant(v Variant) error {
	r := Result{Name: v.Name, About: v.About, Expected: v.Expected}
	for r.Attempts = 1; ; r.Attempts++ {
		if err := s.With(v, func(one *Service) error { return s.attemptDiagnosis(one, &r) }); err != nil {
			return err
		}
		if r.OK || r.Others < others || r.Attempts == attempts {
			break
		}
		s.addWarning("%s: other programs used %.0f %% of the host's CPUs during the diagnosis: trying again", v.Name, 100*r.Others)
	}
	s.out.Variants = append(s.out.Variants, r)
	return nil
}

func (s *Stand) attemptDiagnosis(one *Service, r *Result) error {
	demand, err := s.load.diagnosisDemand(one)
	if err != nil {
		return err
	}
	demand.For = s.Sizes.Record
	s.awaitQuiet()
	before, begin := usageOf(one.allPIDs()...), time.Now()
	if err := s.diagnoseOnce(one, demand, r); err != nil {
		return err
	}
	r.Others = usageOf(one.allPIDs()...).othersShare(before, time.Since(begin).Seconds())
	r.Command, r.Found, r.OK = one.command, Supported(r.Diagnosis), one.Variant.Expected.Met(r.Diagnosis)
	what := demand.String()
	if one.Variant.Journey != "" {
		what = fmt.Sprintf("%.0f users/s", demand.Rate)
	}
	s.reportProgress("%s at %s: %s, %s", r.Name, what, formatFound(r.Found), asExpected(r.OK))
	return nil
}

func formatFound(ids []string) string {
	if len(ids) == 0 {
		return "nothing found"
	}
	return strings.Join(ids, ", ")
}

func asExpected(ok bool) string {
	if ok {
		return "as expected"
	}
	return "not as expected"
}

// diagnoseOnce does what unstall PID --load URL does: it records the process while
// the load runs, and diagnoses the capture.
func (s *Stand) diagnoseOnce(one *Service, demand Demand, r *Result) error {
	targets, err := one.resolveTargets(s.ctx)
	if err != nil {
		return err
	}
	t := targets[0]
	path := filepath.Join(s.dir, one.Variant.Name+".unstall")
	if s.opt.Keep != "" {
		path = filepath.Join(s.opt.Keep, s.Name+"-"+one.Variant.Name+".unstall")
		r.Capture = path
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, err := s.takeState(one)
	if err != nil {
		return err
	}
	asked := probes.Probes
	if s.Kernel {
		asked = slices.Concat(asked, probes.Kernel)
	}
	found := record.Find(s.ctx, asked, targets)
	lasts := demand.leadTime() + s.Sizes.Record + settle
	if demand.Rate == 0 { // clients must still be there when the probes take their last look
		lasts = demand.Before + s.Sizes.Record
		demand.For += lastLook
	}
	_, err = found.Record(s.ctx, record.Options{For: lasts, Path: path, Tool: s.opt.Version, Command: []string{"unstall-lab", "run", s.Name},
		Beside: func(ctx context.Context, sink probe.Sink) error {
			if demand.Rate == 0 && demand.Before > 0 { // other clients use it, too, which are no part of our load
				if err := s.runOneClient(ctx, one, demand.Before); err != nil {
					return err
				}
			}
			rows := &rowsFrom{}
			sum := func(result *load.Result) { r.Served = newServed(rows.sumDelivered(result, demand), demand.SLO) }
			g, err := s.newGenerator(one, demand)
			if err != nil {
				return err
			}
			if err := record.RunGenerator(g, t.Subject(), rows, sum)(ctx, sink); err != nil {
				return err
			}
			return one.handOver(sink)
		}})
	if err != nil {
		return err
	}
	after, err := s.takeState(one)
	if err != nil {
		return err
	}
	c, err := capture.Open(path)
	if err != nil {
		return err
	}
	bundle := incident.NewBundle()
	incident.ReadCapture(s.ctx, c, bundle)
	d, err := diagnose.Run(s.ctx, bundle, diagnose.Options{Version: s.opt.Version, SLO: demand.SLO})
	if err != nil {
		return err
	}
	r.Diagnosis = d
	if name := one.Variant.Name; s.opt.Pictures && (name == s.Sick || name == s.Fixed) {
		d.Timeline() // the timeline is kept; the evidence is not
	} else {
		d.Forget()
	}
	seen := incident.Of(bundle, incident.Options{}).Bundle
	if id, ok := subjectOf(seen, t.PID); ok {
		r.figures = s.Runtime.captureFigures(seen, id, [3]state{one.first, before, after})
	}
	return nil
}

// resolveTargets returns the processes that a user would record of a service; requests are
// attributed to the first.
func (one *Service) resolveTargets(ctx context.Context) (all []discover.Target, err error) {
	pids := one.processes
	if len(pids) == 0 {
		pids = []int{one.PID}
	}
	for _, pid := range pids {
		t, err := discover.Resolve(ctx, strconv.Itoa(pid), platform.Recognisers())
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// handOver adds the output of the dependency's monitor to a capture, as a user adds
// such a file to a diagnosis.
func (one *Service) handOver(sink probe.Sink) error {
	if one.monitor == "" {
		return nil
	}
	text, err := os.ReadFile(one.monitor)
	if err != nil {
		return err
	}
	w, err := sink.Create(capture.Meta{Name: filepath.Base(one.monitor), Probe: "file", Origin: filepath.Base(one.monitor)})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return errors.Join(err, w.Close())
}

// lastLook bounds the time that probes take at the end.
const lastLook = 3 * time.Second

// settle is how long answers may come after the last request of a diagnosis.
const settle = 5 * time.Second

// subjectOf returns the process of a service in the evidence of its capture: of the processes
// that its artifacts name, the one that all others were joined to.
func subjectOf(b *evidence.Bundle, pid int) (evidence.SubjectID, bool) {
	for _, c := range b.Coverage {
		if s := b.Subjects[c.Subject]; s.Kind == evidence.Process && s.PID == pid {
			return c.Subject, true
		}
	}
	return 0, false
}
