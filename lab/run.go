package lab

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/operate/compare"
)

// Options are the user's choices, and the receiver of progress.
type Options struct {
	Quick    bool     // fewer and shorter blocks
	On       string   // one of the lab's other runtimes; "": its own
	Only     []string // variants to diagnose without comparisons; nil: the whole lab
	Keep     string   // directory for captures; "": they are not kept
	Version  string   // of the tool
	Pictures bool     // keep the pictures of the sick variant and the fixed one
	Progress func(text string)
}

// Run runs a lab. Missed demands of the lab are no error; an error says why the lab could
// not be run to its end, and the outcome holds the results until
// then.
func Run(ctx context.Context, l *Lab, opt Options) (*Outcome, error) {
	s, err := newStand(ctx, l, opt)
	if err != nil {
		return nil, err
	}
	err = s.runServices(s.measureAll)
	s.out.Host.DurationS = time.Since(s.out.Host.Start).Seconds()
	s.out.completeOutcome()
	return s.out, err
}

// newStand returns a lab that is about to run.
func newStand(ctx context.Context, l *Lab, opt Options) (*Stand, error) {
	l, err := l.onRuntime(opt.On)
	if err != nil {
		return nil, err
	}
	s := &Stand{Lab: l, Sizes: l.Full, variants: slices.Clone(l.Variants), ctx: ctx, opt: opt, out: &Outcome{Schema: Schema, ToolVersion: opt.Version, Lab: l.Name,
		Host: Host{CPUs: runtime.NumCPU(), Start: time.Now().UTC()}}}
	if opt.Quick {
		s.Sizes = l.Quick
		s.variants = slices.DeleteFunc(s.variants, func(v Variant) bool { return v.Long })
	}
	if err := s.keepOnly(opt.Only); err != nil {
		return nil, err
	}
	s.patience = s.Sizes.Patience
	s.out.Plan.Blocks, s.out.Plan.Seed = s.Sizes.Blocks, rand.Uint64()>>11 // JSON's numbers have 53 bits
	s.load = s.Sizes.Load.newLoading(s)
	return s, nil
}

// onRuntime returns the lab on another of its runtimes.
func (l *Lab) onRuntime(name string) (*Lab, error) {
	if name == "" {
		return l, nil
	}
	other, ok := l.On[name]
	if !ok {
		return nil, fmt.Errorf("lab %s: it does not run on %q%s", l.Name, name, l.otherRuntimes())
	}
	moved := *l
	moved.Runtime = other
	return &moved, nil
}

// keepOnly keeps the variants of these names.
func (s *Stand) keepOnly(names []string) error {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if _, ok := s.Variant(name); !ok {
			return fmt.Errorf("lab %s: it has no variant %q here: see unstall-lab list", s.Name, name)
		}
	}
	s.variants = slices.DeleteFunc(s.variants, func(v Variant) bool { return !slices.Contains(names, v.Name) })
	s.out.Plan.Only = names
	return nil
}

// otherRuntimes says which runtimes a lab runs on beside its own.
func (l *Lab) otherRuntimes() string {
	if len(l.On) == 0 {
		return ""
	}
	return ", but on " + strings.Join(slices.Sorted(maps.Keys(l.On)), ", ")
}

// completeOutcome makes nil lists empty and decides whether the lab passed.
func (o *Outcome) completeOutcome() {
	o.decidePass()
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
	if o.Knees == nil {
		o.Knees = []Knee{}
	}
	if o.Warnings == nil {
		o.Warnings = []string{}
	}
}

// runServices builds what the services need, calls do, and ends the services.
func (s *Stand) runServices(do func() error) (failed error) {
	if err := s.enoughMemory(); err != nil {
		return err
	}
	if s.opt.Keep != "" {
		if err := os.MkdirAll(s.opt.Keep, 0o755); err != nil {
			return fmt.Errorf("captures cannot be kept: %w", err)
		}
	}
	say := func(text string) { s.reportProgress("%s", text) }
	var err error
	if s.programs, err = s.Runtime.buildPrograms(s.ctx, s.Lab, say); err == nil {
		s.depends, err = s.buildDependency(s.ctx, say)
	}
	if err == nil {
		s.tools, err = s.findTools(s.ctx, say)
	}
	if err != nil {
		return fmt.Errorf("lab %s: %w", s.Name, err)
	}
	s.out.Host.Toolchain = s.programs.toolchain
	if _, ok := s.Runtime.(Go); ok {
		s.out.Host.Go = &s.programs.toolchain
	}
	if s.dir, err = os.MkdirTemp("", "unstall-lab-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	defer func() {
		s.stopBeside()
		for _, one := range s.Services {
			if e := one.stopService(); e != nil && failed == nil && s.ctx.Err() == nil {
				failed = fmt.Errorf("%s: %w", one.Variant.Name, e)
			}
		}
	}()
	return do()
}

func (s *Stand) measureAll() error {
	for _, v := range s.variants {
		if needsAdvice(v) {
			continue
		}
		if err := s.load.admitVariant(v); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if s.out.Plan.Only == nil {
		if err := s.load.prepareLoad(); err != nil {
			return err
		}
	}
	for i := range s.variants {
		v := &s.variants[i]
		if needsAdvice(*v) {
			if !s.takeAdvice(v) {
				continue
			}
			if err := s.load.admitVariant(*v); err != nil {
				return fmt.Errorf("%s: %w", v.Name, err)
			}
		}
		if err := s.diagnoseVariant(*v); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if s.out.Plan.Only != nil {
		return nil
	}
	if err := s.measureBlocks(); err != nil {
		return err
	}
	for _, v := range s.variants {
		if v.Predicted {
			s.out.comparePredictions(s.Sick, v.Name)
		}
	}
	s.out.Checks = append(s.out.Checks, s.load.loadChecks()...)
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
