package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/capture"
	"github.com/unstall/unstall/cause/golang"
	"github.com/unstall/unstall/diagnose"
	"github.com/unstall/unstall/evidence"
	probes "github.com/unstall/unstall/probe/all"
	"github.com/unstall/unstall/record"
	"github.com/unstall/unstall/target"
)

// attempts is how often a spoilt diagnosis is made.
const attempts = 3

// diagnose records a variant under its load and diagnoses the capture.
func (s *Stand) diagnose(one *Service) error {
	v := one.Variant
	rate := s.rate(one)
	if v.Overload > 0 {
		most, err := s.Drive(s.ctx, one, Demand{For: s.Sizes.Hold})
		if err != nil {
			return err
		}
		rate = v.Overload * most.Achieved
		s.say("%s serves %.0f requests/s at most", v.Name, most.Achieved)
	}
	r := Result{Name: v.Name, About: v.About, Command: one.command, Expected: v.Expected}
	for r.Attempts = 1; ; r.Attempts++ {
		s.quiet()
		before := usageOf(one.pids()...)
		begin := time.Now()
		if err := s.diagnoseOnce(one, rate, &r); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		r.Others = usageOf(one.pids()...).others(before, time.Since(begin).Seconds())
		r.Found = Supported(r.Diagnosis)
		r.OK = v.Expected.Met(r.Diagnosis)
		s.say("%s at %.0f requests/s: %s, %s", v.Name, rate, found(r.Found), asExpected(r.OK))
		if r.OK || r.Others < others || r.Attempts == attempts {
			break
		}
		s.warnf("%s: other programs used %.0f %% of the host's processors while it was diagnosed: once more", v.Name, 100*r.Others)
	}
	s.out.Variants = append(s.out.Variants, r)
	return nil
}

func found(ids []string) string {
	if len(ids) == 0 {
		return "nothing found"
	}
	return strings.Join(ids, ", ")
}

func asExpected(ok bool) string {
	if ok {
		return "as expected"
	}
	return "which is not what was expected"
}

// diagnoseOnce does what unstall PID --load URL does: it records the process while
// the load runs, and diagnoses the capture.
func (s *Stand) diagnoseOnce(one *Service, rate float64, r *Result) error {
	t, err := target.Resolve(s.ctx, strconv.Itoa(one.PID))
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, one.Variant.Name+".unstall")
	if s.opt.Keep != "" {
		path = filepath.Join(s.opt.Keep, s.Name+"-"+one.Variant.Name+".unstall")
		r.Capture = path
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, err := one.look()
	if err != nil {
		return err
	}
	found := record.Find(s.ctx, probes.Probes, []target.Target{t})
	_, err = found.Record(s.ctx, record.Options{For: s.Sizes.Record + settle, Path: path, Tool: s.opt.Version, Command: []string{"unstall", "lab", "run", s.Name},
		Beside: record.Load(s.plan(one, Demand{Rate: rate, For: s.Sizes.Record}), t.Subject(), nil, nil)})
	if err != nil {
		return err
	}
	after, err := one.look()
	if err != nil {
		return err
	}
	c, err := capture.Open(path)
	if err != nil {
		return err
	}
	bundle := evidence.NewBundle()
	record.Evidence(s.ctx, c, bundle)
	d, err := diagnose.Run(s.ctx, bundle, diagnose.Options{Version: s.opt.Version})
	if err != nil {
		return err
	}
	r.Diagnosis = d
	r.figures = figuresOf(bundle, one.PID)
	if name := one.Variant.Name; s.opt.Pictures && (name == s.Sick || name == s.Fixed) {
		d.Timeline() // is kept; the evidence is not
	} else {
		d.Forget()
	}
	r.figures.cycles = cyclesPerSecond(one.first, before, after)
	return nil
}

// cyclesPerSecond is how often the collector ran under the load of a diagnosis. A
// few cycles are too few to count, so those since the first load count, by what
// was allocated.
func cyclesPerSecond(first, before, after state) float64 {
	rate := float64(after.AllocBytes-before.AllocBytes) / (float64(after.Time-before.Time) / 1e9)
	return float64(after.GCCycles-first.GCCycles) / float64(max(after.AllocBytes-first.AllocBytes, 1)) * rate
}

// settle is how long answers may come after the last request of a diagnosis.
const settle = 5 * time.Second

// figuresOf reads what a capture holds and the diagnosis does not give.
func figuresOf(b *evidence.Bundle, pid int) *figures {
	for i, subject := range b.Subjects {
		id := evidence.SubjectID(i)
		if subject.Kind != evidence.Process || subject.PID != 0 && subject.PID != pid {
			continue
		}
		g, ok := golang.FiguresOf(b, id)
		if !ok {
			continue
		}
		f := &figures{heapPeak: g.Goal}
		if cpu, ok := golang.CPUOf(b, id); ok {
			f.collectorShare = float64(cpu.GC) / float64(cpu.All)
		}
		return f
	}
	return &figures{}
}
