package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// findAccess returns one access for a process of this host, and none without a Linux kernel.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 {
		return nil
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/stat", t.PID)); err != nil {
		return nil
	}
	a := probe.Access{Probe: name, Where: fmt.Sprintf("the kernel, of pid %d", t.PID)}
	how, why := tryRunning(t.PID)
	unseen := tryWaiting()
	a.Lacks = listLacks(how, why, unseen, t.PID)
	if how != notAtAll {
		a.SwitchesOn = append(a.SwitchesOn, fmt.Sprintf("stacks of running threads (%.0f a second of CPU time)", 1/sampleEvery.Seconds()))
	}
	if unseen == nil {
		a.SwitchesOn = append(a.SwitchesOn, "eBPF programs on switches between threads, memory reclaim and disk requests")
	}
	a.Record = func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
		return recordProcess(ctx, t, how, unseen == nil, plan, sink)
	}
	return []probe.Access{a}
}

// findClock returns one access if sampling is permitted. Otherwise it reports no lack, because the runtime's own data about threads exists.
func findClock(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 {
		return nil
	}
	how, _ := tryRunning(t.PID)
	if how == notAtAll {
		return nil
	}
	return []probe.Access{{Probe: name, Where: fmt.Sprintf("the kernel, of pid %d", t.PID),
		SwitchesOn: []string{fmt.Sprintf("stacks of running threads (%.0f a second of CPU time)", 1/sampleEvery.Seconds())},
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			if plan.Passive {
				return nil
			}
			if plan.For > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, plan.For)
				defer cancel()
			}
			k := newNames(func(error) {})
			defer k.close()
			return recordRunning(ctx, t, how, k, newFamily(t.PID, t.HasWorkers()), sink)
		}}}
}

// listLacks returns what cannot be recorded: one lack if nothing can.
func listLacks(how sampling, why, unseen error, pid int) (all []probe.Lack) {
	running, lacks := lackRunning(how, why, pid)
	if lacks {
		all = append(all, running)
	}
	if unseen != nil {
		waiting := lackWaiting(unseen, pid)
		if how == notAtAll {
			waiting.What = "stacks of running and waiting threads in the kernel"
			return []probe.Lack{waiting}
		}
		all = append(all, waiting)
	}
	return all
}

func recordProcess(ctx context.Context, t discover.Target, how sampling, waits bool, plan probe.Plan, sink probe.Sink) error {
	if plan.Passive {
		return nil
	}
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	k := newNames(func(err error) {
		if errors.Is(err, symbol.ErrHidden) {
			sink.Lack(probe.Lack{What: "names of the kernel's functions", Why: err.Error(), Do: fmt.Sprintf("sudo unstall %d", t.PID)})
		} else {
			sink.Warnf("/proc/kallsyms: %v", err)
		}
	})
	defer k.close()
	of := newFamily(t.PID, t.HasWorkers())
	var beside sync.WaitGroup
	defer beside.Wait()
	if how != notAtAll {
		beside.Go(func() {
			if err := recordRunning(ctx, t, how, k, of, sink); err != nil {
				sink.Warnf("oncpu.txt: %v", err)
			}
		})
	}
	if waits {
		if err := recordWaiting(ctx, t, k, of, sink); err != nil {
			sink.Warnf("offcpu.txt: %v", err)
		}
	}
	return nil
}

func recordWaiting(ctx context.Context, t discover.Target, k *names, of *family, sink probe.Sink) error {
	w, err := openWaiting(of)
	if err != nil {
		sink.Lack(lackWaiting(err, t.PID))
		return nil
	}
	defer w.close()
	for _, l := range w.spans.missing {
		sink.Lack(l)
	}
	if w.unwoken != nil {
		sink.Lack(probe.Lack{What: "how long threads that waited could run and had no CPU, so that waits are too long by it", Why: "eBPF: " + tracepoint.FirstLine(w.unwoken), Do: "a newer kernel"})
	}
	if w.without != nil {
		sink.Lack(probe.Lack{What: "files that page faults read", Why: tracepoint.FirstLine(w.without), Do: "Linux 5.16 or later"})
	}
	out, err := sink.Create(capture.Meta{Name: "offcpu.txt", Probe: name, Origin: "eBPF", About: t.Subject()})
	if err != nil {
		return err
	}
	err = w.run(ctx, newStacks(of, out, k))
	return errors.Join(err, out.Close())
}

func recordRunning(ctx context.Context, t discover.Target, how sampling, k *names, of *family, sink probe.Sink) error {
	r, err := openRunning(of, how)
	if err != nil {
		return err
	}
	defer r.close()
	out, err := sink.Create(capture.Meta{Name: "oncpu.txt", Probe: name, Origin: "perf_event_open", About: t.Subject()})
	if err != nil {
		return err
	}
	if r.missed > 0 {
		sink.Warnf("the process has more threads than files may be open: of %d threads on a CPU nothing was sampled", r.missed)
	}
	err = r.run(ctx, newStacks(of, out, k))
	return errors.Join(err, out.Close())
}
