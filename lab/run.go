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

// Options are what the user decides, and whom to tell.
type Options struct {
	Quick    bool     // fewer and shorter blocks
	On       string   // the runtime, of those a lab runs on as well; empty: its own
	Only     []string // variants to diagnose, and nothing else; nil: all of the lab
	Keep     string   // directory for captures; empty: they are not kept
	Version  string   // of the tool
	Pictures bool     // keep what there is to be seen of the sick variant and the fixed one
	Progress func(text string)
}

// Run runs a lab. What the outcome asks for may be missed without an error; an
// error says what kept the lab from being run, and the outcome holds what there
// was.
func Run(ctx context.Context, l *Lab, opt Options) (*Outcome, error) {
	s, err := stand(ctx, l, opt)
	if err != nil {
		return nil, err
	}
	err = s.run(s.measure)
	s.out.Host.DurationS = time.Since(s.out.Host.Start).Seconds()
	s.out.finish()
	return s.out, err
}

// stand is a lab that is about to run.
func stand(ctx context.Context, l *Lab, opt Options) (*Stand, error) {
	l, err := l.on(opt.On)
	if err != nil {
		return nil, err
	}
	s := &Stand{Lab: l, Sizes: l.Full, variants: slices.Clone(l.Variants), ctx: ctx, opt: opt, out: &Outcome{Schema: Schema, ToolVersion: opt.Version, Lab: l.Name,
		Host: Host{CPUs: runtime.NumCPU(), Start: time.Now().UTC()}}}
	if opt.Quick {
		s.Sizes = l.Quick
		s.variants = slices.DeleteFunc(s.variants, func(v Variant) bool { return v.Long })
	}
	if err := s.only(opt.Only); err != nil {
		return nil, err
	}
	s.patience = s.Sizes.Patience
	s.out.Plan.Blocks, s.out.Plan.Seed = s.Sizes.Blocks, rand.Uint64()>>11 // JSON's numbers have 53 bits
	s.load = s.Sizes.Load.on(s)
	return s, nil
}

// on is the lab on another of its runtimes.
func (l *Lab) on(name string) (*Lab, error) {
	if name == "" {
		return l, nil
	}
	other, ok := l.On[name]
	if !ok {
		return nil, fmt.Errorf("lab %s: it does not run on %q%s", l.Name, name, l.others())
	}
	moved := *l
	moved.Runtime = other
	return &moved, nil
}

// only leaves the variants of these names.
func (s *Stand) only(names []string) error {
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

// others says what else a lab runs on than its own runtime.
func (l *Lab) others() string {
	if len(l.On) == 0 {
		return ""
	}
	return ", but on " + strings.Join(slices.Sorted(maps.Keys(l.On)), ", ")
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
	if o.Knees == nil {
		o.Knees = []Knee{}
	}
	if o.Warnings == nil {
		o.Warnings = []string{}
	}
}

// run builds what the services need, does something with them, and ends them.
func (s *Stand) run(do func() error) (failed error) {
	if err := s.enoughMemory(); err != nil {
		return err
	}
	if s.opt.Keep != "" {
		if err := os.MkdirAll(s.opt.Keep, 0o755); err != nil {
			return fmt.Errorf("captures cannot be kept: %w", err)
		}
	}
	say := func(text string) { s.say("%s", text) }
	var err error
	if s.programs, err = s.Runtime.build(s.ctx, s.Lab, say); err == nil {
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
		s.leave()
		for _, one := range s.Services {
			if e := one.stop(); e != nil && failed == nil && s.ctx.Err() == nil {
				failed = fmt.Errorf("%s: %w", one.Variant.Name, e)
			}
		}
	}()
	return do()
}

func (s *Stand) measure() error {
	for _, v := range s.variants {
		if needsAdvice(v) {
			continue
		}
		if err := s.load.admit(v); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if s.out.Plan.Only == nil {
		if err := s.load.ready(); err != nil {
			return err
		}
	}
	for i := range s.variants {
		v := &s.variants[i]
		if needsAdvice(*v) {
			if !s.takeAdvice(v) {
				continue
			}
			if err := s.load.admit(*v); err != nil {
				return fmt.Errorf("%s: %w", v.Name, err)
			}
		}
		if err := s.diagnose(*v); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if s.out.Plan.Only != nil {
		return nil
	}
	if err := s.blocks(); err != nil {
		return err
	}
	for _, v := range s.variants {
		if v.Predicted {
			s.out.predictions(s.Sick, v.Name)
		}
	}
	s.out.Checks = append(s.out.Checks, s.load.checks()...)
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
