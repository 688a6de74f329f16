package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/service"
)

// Stand is a lab while it runs.
type Stand struct {
	*Lab
	Sizes    Sizes
	Services []*Service // resident ones

	variants []Variant // the lab's; a variant that takes advice has it once it is known
	load     loading
	programs *programs
	depends  string            // the program that variants depend on
	tools    map[string]string // the tools that variants need, by name

	ctx context.Context
	opt Options
	dir string
	out *Outcome

	patience time.Duration // left to wait for an idle host

	beside *beside // the one that runs now; nil: none
}

// Service is a running variant.
type Service struct {
	*process.Process
	Variant Variant
	URL     string // of its requests

	processes  []int // that serve, if the started one only starts others
	dependency *process.Process
	limit      *process.Quota // of its memory, or of its disk; nil: none
	monitor    string         // file of its dependency's monitor; "": none
	operation  string         // URL as comparisons name it: a fix with a path of its own does the same operation
	command    string
	first      state // before its first load
}

// Service returns the resident service of a name, nil if there is none.
func (s *Stand) Service(name string) *Service {
	for _, one := range s.Services {
		if one.Variant.Name == name {
			return one
		}
	}
	return nil
}

// With calls do with a variant's service: the resident one, else one that is started for the
// call and stopped again.
func (s *Stand) With(v Variant, do func(*Service) error) error {
	return s.withHost(v, func() error { return s.withService(v, do) })
}

func (s *Stand) withService(v Variant, do func(*Service) error) error {
	if one := s.Service(v.Name); one != nil {
		return do(one)
	}
	if one := s.Service(v.Of); one != nil {
		shared := *one
		shared.Variant = v
		return do(&shared)
	}
	one, err := s.startService(v)
	if err != nil {
		return err
	}
	err = do(one)
	if e := one.stopService(); err == nil && e != nil && s.ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", v.Name, e)
	}
	return err
}

// startService starts a variant with its dependency.
func (s *Stand) startService(v Variant) (*Service, error) {
	one := &Service{Variant: v}
	var at struct{ RESP, HTTP string }
	file := func(name string) string { return filepath.Join(s.dir, v.Name+"."+name) }
	if v.Dependency != nil {
		var args []string
		for _, a := range v.Dependency {
			if strings.Contains(a, monitor) {
				one.monitor = file("dependency.csv")
				a = strings.ReplaceAll(a, monitor, one.monitor)
			}
			args = append(args, a)
		}
		p, err := process.Start(s.ctx, s.depends, args, nil, file("dependency.stderr"), &at)
		if err != nil {
			return nil, err
		}
		one.dependency = p
	}
	with := []string{"{resp}", at.RESP, "{http}", at.HTTP, "{files}", file("")}
	for name, path := range s.tools {
		with = append(with, "{"+name+"}", path)
	}
	fill := strings.NewReplacer(with...)
	bin, args := s.programs.start(v, file("access.log"))
	words := append(append(slices.Clone(v.Env), filepath.Base(bin)), v.Flags...)
	for _, a := range v.Args {
		args, words = append(args, fill.Replace(a)), append(words, a)
	}
	var announced service.Announcement
	p, err := process.Start(s.ctx, bin, args, v.Env, file("service.stderr"), &announced)
	if err != nil {
		one.stopService()
		return nil, err
	}
	path := v.Path
	if path == "" {
		path = s.Path
	}
	one.Process, one.URL, one.operation = p, "http://"+announced.Serving+path, "http://"+announced.Serving+s.Path
	one.processes = announced.Processes
	one.command = strings.Join(words, " ")
	if err := one.limitResources(s.dir); err != nil {
		return nil, errors.Join(err, one.stopService())
	}
	if one.first, err = s.takeState(one); err != nil {
		one.stopService()
	}
	return one, err
}

// monitor is the placeholder for the monitor's file in the arguments of a dependency.
const monitor = "{monitor}"

func (one *Service) stopService() error {
	var errs []error
	if one.Process != nil {
		errs = append(errs, one.Stop())
	}
	if one.dependency != nil {
		errs = append(errs, one.dependency.Stop())
	}
	errs = append(errs, one.limit.Remove())
	return errors.Join(errs...)
}

// allPIDs returns the service's processes, its dependency included.
func (one *Service) allPIDs() []int {
	pids := []int{one.PID}
	for _, pid := range one.processes {
		pids = append(append(pids, pid), childPIDs(pid)...)
	}
	if one.dependency != nil {
		pids = append(pids, one.dependency.PID)
	}
	return pids
}

// Serving returns the processes that answer: several if the started one only starts others.
func (one *Service) Serving() []int {
	if len(one.processes) > 0 {
		return one.processes
	}
	return []int{one.PID}
}

// takeState returns the state of a service now, with the host's usage.
func (s *Stand) takeState(one *Service) (state, error) {
	st, err := s.Runtime.readState(one)
	st.usage = usageOf(one.allPIDs()...)
	return st, err
}

// WatchThreads counts the threads of a service's process at an interval, until the
// returned function is called, which returns the counts.
func (one *Service) WatchThreads(every time.Duration) (stop func() []int) {
	var counts []int
	count := func() {
		if st, err := statOf(one.PID); err == nil {
			counts = append(counts, st.threads)
		}
	}
	count()
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				count()
			}
		}
	}()
	return func() []int {
		close(over)
		<-ended
		count()
		return counts
	}
}

// Quick says that the measurements must be short.
func (s *Stand) Quick() bool { return s.opt.Quick }

// Plan returns the load as it is now.
func (s *Stand) Plan() Plan { return s.out.Plan }

// Variant returns the variant of a name.
func (s *Stand) Variant(name string) (Variant, bool) {
	i := slices.IndexFunc(s.variants, func(v Variant) bool { return v.Name == name })
	if i < 0 {
		return Variant{}, false
	}
	return s.variants[i], true
}

// Context returns the context that ends with the lab.
func (s *Stand) Context() context.Context { return s.ctx }

// Say reports progress to the user.
func (s *Stand) Say(format string, args ...any) { s.reportProgress(format, args...) }

func (s *Stand) reportProgress(format string, args ...any) {
	if s.opt.Progress != nil {
		s.opt.Progress(fmt.Sprintf(format, args...))
	}
}

func (s *Stand) addWarning(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.out.Warnings = append(s.out.Warnings, text)
	s.reportProgress("warning: %s", text)
}

// Spare returns how much memory (MiB) the host can give to services that grow, beyond its
// reserve; ok says whether that is known.
func (s *Stand) Spare() (mib int, ok bool) {
	available, ok := availableMemory()
	return available - spare, ok
}

// memoryNeeded returns the memory of the services that run at the same time, MiB: the
// resident ones, and the largest of the others, which run one after the other.
func (s *Stand) memoryNeeded() (mib int) {
	other := 0
	for _, v := range s.variants {
		if s.load.isResident(v) {
			mib += v.Resident
		} else {
			other = max(other, v.Resident)
		}
	}
	return mib + other
}

// spare is the host's reserve, MiB.
const spare = 1024

// enoughMemory refuses to start services that the host cannot hold: the lab would measure its
// swap, or lose a process.
func (s *Stand) enoughMemory() error {
	available, ok := availableMemory()
	if need := s.memoryNeeded() + spare; ok && available < need {
		return fmt.Errorf("lab %s: its services need %d MiB together and only %d MiB are available: close other programs, or run it on a larger host", s.Name, need, available)
	}
	return nil
}

// Version returns the runtime version of a variant, from its diagnosis; "" unknown.
func (s *Stand) Version(variant string) string { return s.out.Version(variant) }

// Version returns the runtime version of a variant, from its diagnosis; "" unknown.
func (o *Outcome) Version(variant string) string {
	r := o.Result(variant)
	if r == nil || r.Diagnosis == nil {
		return ""
	}
	for _, t := range r.Diagnosis.Targets {
		if t.Runtime != "" && t.Version != "" {
			return t.Version
		}
	}
	return ""
}
