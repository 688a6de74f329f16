package interpreter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// language is a language whose stacks can be read.
type language struct {
	name string // as in titles: "Python"

	// open recognises the language by the files that a process has mapped, and finds what its looks begin at; errOther: the process is of another
	// language. Another error says why the stacks cannot be read.
	open func(p *process) (Stacks, error)
}

// languages are asked in this order; a process is of the first that knows it.
var languages = []language{python, javascript}

// errOther is the error of a language that a process is not of.
var errOther = errors.New("the process is of another language")

// openStacks returns what reads the stacks of a process; errOther: no language knows it.
func openStacks(pid int) (s Stacks, of string, err error) {
	p, err := openProcess(pid)
	if err != nil {
		return nil, "", errOther
	}
	for _, l := range languages {
		if s, err = l.open(p); !errors.Is(err, errOther) {
			return s, l.name, err
		}
	}
	return nil, "", errOther
}

// findAccess returns one access for a process of this host whose language is known.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 || t.Runtime != "" {
		return nil
	}
	stacks, of, err := openStacks(t.PID)
	if errors.Is(err, errOther) {
		return nil
	}
	a := probe.Access{Probe: name, Where: fmt.Sprintf("the %s stacks in the memory of pid %d", of, t.PID)}
	if err != nil {
		a.Lacks = []probe.Lack{{What: "names of " + of + " functions", Why: err.Error(), Do: helpFor(err, t.PID)}}
		a.Record = func(context.Context, probe.Plan, probe.Sink) error { return nil }
		return []probe.Access{a}
	}
	if sampler, is := stacks.(Sampler); is {
		if on := sampler.SwitchesOn(); on != "" {
			a.SwitchesOn = []string{on}
		}
		if err := sampler.Lacks(); err != nil {
			a.Lacks = []probe.Lack{{What: "names of the " + of + " functions that run", Why: err.Error(), Do: fmt.Sprintf("sudo unstall %d", t.PID)}}
		}
	}
	a.Record = func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
		return recordProcess(ctx, t, plan, sink)
	}
	return []probe.Access{a}
}

// helpFor says what helps against an error of a language.
func helpFor(err error, pid int) string {
	if errors.Is(err, errMemory) {
		return fmt.Sprintf("sudo unstall %d", pid)
	}
	return "py-spy dump --pid " + strconv.Itoa(pid)
}

func recordProcess(ctx context.Context, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	r := newRecording(t.PID, t.HasWorkers())
	r.passive = plan.Passive
	if plan.Always {
		r.each = time.Second
	}
	if len(r.open) == 0 {
		return nil // it has ended, or runs another program now
	}
	out, err := sink.Create(capture.Meta{Name: "interpreter.txt", Probe: name, Origin: "process_vm_readv", About: t.Subject()})
	if err != nil {
		return err
	}
	return errors.Join(r.run(ctx, out), out.Close())
}
