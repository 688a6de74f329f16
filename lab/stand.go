package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/service"
)

// Stand is a lab while it runs: all its services, resident.
type Stand struct {
	*Lab
	Sizes    Sizes
	Services []*Service // as Lab.Variants

	ctx context.Context
	opt Options
	dir string
	out *Outcome

	patience time.Duration // with others who use the host
}

// Service is a variant that runs.
type Service struct {
	*process.Process
	Variant Variant
	URL     string // of its requests
	Pprof   string // host:port of net/http/pprof

	dependency *process.Process
	command    string
	first      state // when the first load came
}

// Service returns a variant that runs, nil if there is none of that name.
func (s *Stand) Service(name string) *Service {
	for _, one := range s.Services {
		if one.Variant.Name == name {
			return one
		}
	}
	return nil
}

// start starts a variant with its dependency.
func (s *Stand) start(v Variant, bins map[string]string) (*Service, error) {
	one := &Service{Variant: v}
	var at struct{ RESP, HTTP string }
	stderr := func(name string) string { return filepath.Join(s.dir, v.Name+"."+name+".stderr") }
	if v.Dependency != nil {
		p, err := process.Start(s.ctx, bins[dependency], v.Dependency, nil, stderr("dependency"), &at)
		if err != nil {
			return nil, err
		}
		one.dependency = p
	}
	fill := strings.NewReplacer("{resp}", at.RESP, "{http}", at.HTTP)
	program := s.program(v)
	args := []string{"-control", "-access-log=" + filepath.Join(s.dir, v.Name+".access.log")}
	words := append(append([]string{}, v.Env...), filepath.Base(program))
	for _, a := range v.Args {
		args, words = append(args, fill.Replace(a)), append(words, a)
	}
	var announced service.Announcement
	p, err := process.Start(s.ctx, bins[program], args, v.Env, stderr("service"), &announced)
	if err != nil {
		one.stop()
		return nil, err
	}
	path := v.Path
	if path == "" {
		path = s.Path
	}
	one.Process, one.URL, one.Pprof, one.command = p, "http://"+announced.Serving+path, announced.Debug, strings.Join(words, " ")
	return one, nil
}

func (one *Service) stop() error {
	var errs []error
	if one.Process != nil {
		errs = append(errs, one.Stop())
	}
	if one.dependency != nil {
		errs = append(errs, one.dependency.Stop())
	}
	return errors.Join(errs...)
}

// pids are the service's processes.
func (one *Service) pids() []int {
	pids := []int{one.PID}
	if one.dependency != nil {
		pids = append(pids, one.dependency.PID)
	}
	return pids
}

// state is what a service says of itself, and who used the host until then.
type state struct {
	service.State
	usage
}

func (one *Service) look() (state, error) {
	st, err := one.Command("state")
	return state{st, usageOf(one.pids()...)}, err
}

// warm puts load on a service until its memory is on a plateau: a process that
// was just allowed more memory first pays page faults for it, which is another
// mechanism, and passes. There must have been a cycle, too, for only then was the
// heap once as large as it gets.
func (s *Stand) warm(one *Service) error {
	const (
		every = 500 * time.Millisecond
		looks = 4
		still = .03 // of what is resident, or
		slack = 16 << 20
	)
	rate := one.Variant.Warm
	if rate == 0 {
		rate = s.rate(one)
	}
	ctx, enough := context.WithCancel(s.ctx)
	defer enough()
	done := make(chan error, 1)
	go func() {
		_, err := s.Drive(ctx, one, Demand{Rate: rate, For: s.Sizes.Warm})
		done <- err
	}()
	var err error
	if one.first, err = one.look(); err != nil {
		return err
	}
	var resident []int64
	flat := false
	for !flat {
		if !one.Variant.Compared && !one.Variant.Predicted && len(resident) == looks {
			break // only its diagnosis counts, and that has a process's first moments behind it
		}
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			s.warnf("%s: its memory still moved after %v under load: %d MiB resident", one.Variant.Name, s.Sizes.Warm, last(resident)>>20)
			return nil
		case <-time.After(every):
		}
		now, err := one.look()
		if err != nil {
			return err
		}
		resident = append(resident, now.RSS)
		flat = now.GCCycles > one.first.GCCycles && plateau(resident, looks, still, slack)
	}
	enough()
	return <-done
}

// plateau says that the last figures differ little.
func plateau(v []int64, looks int, part float64, slack int64) bool {
	if len(v) < looks {
		return false
	}
	least, most := v[len(v)-1], v[len(v)-1]
	for _, x := range v[len(v)-looks:] {
		least, most = min(least, x), max(most, x)
	}
	return most-least <= max(slack, int64(part*float64(most)))
}

func last(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	return v[len(v)-1]
}

// rate is what a variant is diagnosed under.
func (s *Stand) rate(one *Service) float64 {
	if r := one.Variant.Rate; r > 0 {
		return r
	}
	return s.Sizes.Peak
}

// Context ends when the lab is to end.
func (s *Stand) Context() context.Context { return s.ctx }

// Say tells the user how far the lab is.
func (s *Stand) Say(format string, args ...any) { s.say(format, args...) }

func (s *Stand) say(format string, args ...any) {
	if s.opt.Progress != nil {
		s.opt.Progress(fmt.Sprintf(format, args...))
	}
}

func (s *Stand) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.out.Warnings = append(s.out.Warnings, text)
	s.say("warning: %s", text)
}

// enoughMemory refuses to start what the host cannot hold: it would measure its
// swap, or lose a process.
func (l *Lab) enoughMemory() error {
	const spare = 1024
	available, ok := memory()
	if need := l.Resident() + spare; ok && available < need {
		return fmt.Errorf("lab %s: its services fill %d MiB together and %d MiB are available: close other programs, or run it on a larger host", l.Name, need, available)
	}
	return nil
}
