package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/unstall/unstall/compare"
)

// Options are what the user decides, and whom to tell.
type Options struct {
	Quick    bool   // fewer and shorter blocks
	Keep     string // directory for captures; empty: they are not kept
	Version  string // of the tool
	Pictures bool   // keep what there is to be seen of the sick variant and the fixed one
	Progress func(text string)
}

// Run runs a lab. What the outcome asks for may be missed without an error; an
// error says what kept the lab from being run, and the outcome holds what there
// was.
func Run(ctx context.Context, l *Lab, opt Options) (*Outcome, error) {
	s := &Stand{Lab: l, Sizes: l.Full, ctx: ctx, opt: opt, out: &Outcome{Schema: Schema, ToolVersion: opt.Version, Lab: l.Name,
		Host: Host{CPUs: runtime.NumCPU(), Start: time.Now().UTC()}}}
	if opt.Quick {
		s.Sizes = l.Quick
	}
	s.patience = s.Sizes.Patience
	p := &s.out.Plan
	p.SLOMs, p.Peak, p.Base = float64(l.SLO.Microseconds())/1e3, s.Sizes.Peak, s.Sizes.Peak/s.Sizes.Spike
	p.StormS, p.Blocks, p.Seed = s.Sizes.Storm.Seconds(), s.Sizes.Blocks, rand.Uint64()>>11 // JSON's numbers have 53 bits
	err := s.run()
	s.out.Host.DurationS = time.Since(s.out.Host.Start).Seconds()
	s.out.finish()
	return s.out, err
}

// finish gives lists their empty form and says whether the lab passed.
func (o *Outcome) finish() {
	o.judge()
	if o.Variants == nil {
		o.Variants = []Result{}
	}
	if o.Comparisons == nil {
		o.Comparisons = []*compare.Comparison{}
	}
	if o.Predictions == nil {
		o.Predictions = []Prediction{}
	}
	if o.Checks == nil {
		o.Checks = []Check{}
	}
	if o.Runs == nil {
		o.Runs = []Measured{}
	}
	if o.Warnings == nil {
		o.Warnings = []string{}
	}
}

func (s *Stand) run() (err error) {
	if err := s.enoughMemory(); err != nil {
		return err
	}
	if s.opt.Keep != "" {
		if err := os.MkdirAll(s.opt.Keep, 0o755); err != nil {
			return fmt.Errorf("captures cannot be kept: %w", err)
		}
	}
	bins, err := s.build(s.ctx, func(text string) { s.say("%s", text) })
	if err != nil {
		return fmt.Errorf("lab %s: %w", s.Name, err)
	}
	if version, err := exec.CommandContext(s.ctx, "go", "env", "GOVERSION").Output(); err == nil {
		s.out.Host.Go = strings.TrimSpace(string(version))
	}
	if s.dir, err = os.MkdirTemp("", "unstall-lab-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	defer func() {
		for _, one := range s.Services {
			if e := one.stop(); e != nil && err == nil && s.ctx.Err() == nil {
				err = fmt.Errorf("%s: %w", one.Variant.Name, e)
			}
		}
	}()
	if err := s.startAll(bins); err != nil {
		return err
	}
	return s.measure(bins)
}

// startAll starts every variant but those whose setting must be found first.
func (s *Stand) startAll(bins map[string]string) error {
	for _, v := range s.Variants {
		if needsAdvice(v) {
			continue
		}
		one, err := s.start(v, bins)
		if err != nil {
			return fmt.Errorf("lab %s: %w", s.Name, err)
		}
		s.Services = append(s.Services, one)
	}
	s.say("%d services run, all on loopback ports", len(s.Services))
	return nil
}

func (s *Stand) measure(bins map[string]string) error {
	for _, one := range s.Services {
		s.say("warming up %s: %s", one.Variant.Name, one.Variant.About)
		if err := s.warm(one); err != nil {
			return fmt.Errorf("%s: %w", one.Variant.Name, err)
		}
	}
	if err := s.findKnee(); err != nil {
		return err
	}
	for i := range s.Variants {
		v := s.Variants[i]
		if needsAdvice(v) {
			if err := s.startAdvised(v, bins); err != nil {
				return err
			}
		}
		if one := s.Service(v.Name); one != nil {
			if err := s.diagnose(one); err != nil {
				return err
			}
		}
	}
	if err := s.blocks(); err != nil {
		return err
	}
	for _, v := range s.Variants {
		if v.Predicted {
			s.out.predictions(s.Sick, v.Name)
		}
	}
	s.out.Checks = append(s.out.Checks, s.out.kneeCheck())
	if s.Lab.Checks != nil {
		s.out.Checks = append(s.out.Checks, s.Lab.Checks(s.out)...)
	}
	if s.Moves != nil {
		checks, err := s.Moves(s)
		s.out.Checks = append(s.out.Checks, checks...)
		if err != nil {
			return err
		}
	}
	return nil
}

// findKnee looks how much the fixed variant can do, and moves the peak to where
// its share of that must be.
func (s *Stand) findKnee() error {
	one := s.Service(s.Fixed)
	if one == nil {
		return nil
	}
	s.say("looking for the knee of %s: the highest rate at which its p99 is within %g ms", s.Fixed, s.out.Plan.SLOMs)
	if s.Sizes.Search {
		return s.search(one)
	}
	return s.bracket(one)
}

// rounded is a rate as people would give it.
func rounded(v float64) float64 { return math.Round(v/10) * 10 }
