package exchanges

import (
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// findAccess returns one access for a process of this host, and none without a Linux kernel.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 {
		return nil
	}
	a := probe.Access{Probe: name, Where: fmt.Sprintf("the TCP and UNIX connections of pid %d, and its lookups of names", t.PID)}
	if err := tracepoint.Try(); err != nil {
		a.Lacks = []probe.Lack{explainLack(err, t.PID)}
		a.Record = func(context.Context, probe.Plan, probe.Sink) error { return nil }
		return []probe.Access{a}
	}
	a.SwitchesOn = []string{"eBPF programs on transfers of its TCP and UNIX connections and on its lookups of names"}
	a.Record = func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
		return recordProcess(ctx, t, plan, sink)
	}
	return []probe.Access{a}
}

// explainLack says that exchanges are not recorded, and what would help.
func explainLack(err error, pid int) probe.Lack {
	l := probe.Lack{What: "its requests and calls, as the kernel sees them"}
	if l.Why, l.Do = tracepoint.Explain(err, pid, ""); errors.Is(err, errOld) {
		l.Why, l.Do = err.Error(), "Linux 6.3 or later"
	}
	return l
}

func recordProcess(ctx context.Context, t discover.Target, plan probe.Plan, sink probe.Sink) error {
	if plan.Passive || plan.Always {
		return nil
	}
	if plan.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.For)
		defer cancel()
	}
	w, err := startWatching(t.PID)
	if err != nil {
		sink.Lack(explainLack(err, t.PID))
		return nil
	}
	defer w.close()
	if plan.Traced {
		w.looks = nil
	}
	out, err := sink.Create(capture.Meta{Name: "exchanges.txt", Probe: name, Origin: "eBPF", About: t.Subject()})
	if err != nil {
		return err
	}
	return errors.Join(w.run(ctx, out), out.Close())
}
