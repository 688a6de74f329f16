// Package hotspot records a HotSpot JVM, JDK 8 to 25. The recorder needs no JDK, and the JVM needs no flag. The package attaches as jcmd
// does ([attach]) and reads the counters that the JVM publishes anyway ([hsperf]).
//
// Its artifacts:
//
//	hsperfdata.txt         the JVM's counters each second, as internal/format/hsperf reads them;
//	                       also without attaching, and with --passive
//	gc.log                 a GC log of our own with safepoints and ages (JDK 9 on)
//	vm-version.txt vm-flags.txt vm-command.txt
//	heap-0001.txt …        GC.heap_info at the beginning and the end; series "heap"
//	threads-0001.txt …     Thread.print, up to five a second, at random times, as seldom as
//	                       its cost asks for; series "threads"
//	virtual-0001.json …    Thread.dump_to_file -format=json beside them, where there are
//	                       virtual threads, JDK 21 to 24; series "virtual"
//	carriers.txt           Thread.vthread_scheduler beside them, JDK 24 on: how many wait for a carrier
//	classes-0001.txt       GC.class_histogram -all, at the end
//	flight-0001.jfr        a flight recording, if it was asked for, or where dumps leave out what requests wait for
//
// An answer is stored unchanged. Its time is that of the artifact.
//
// The JVM writes the GC log into a file in its own /tmp. The file is named after the recorder, read as it grows, and bounded (20 MB, and as
// much again after a rotation). "what=all=off" on that file switches it off. "VM.log disable" is never sent, because it would end the user's
// logs, too. If the user has a GC log that is recorded, as an open file in /proc, that log is used and this one has safepoints at most,
// because two logs would report each pause twice.
//
// A killed recorder leaves such a file and its log behind, which do no harm. Everything that is switched on is written down before
// ([probe.Note]), so that the next start of the tool, for any target, ends it. The next recording of this JVM also knows by the file's name that
// its recorder is gone.
//
// The package's opinion: a thread dump stops all threads for a moment, so dumps are as frequent as costs 1 % at most. Walking the heap stops them
// for as long as it takes, so it is done once, after everything else, and only if it is short.
package hotspot

import (
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// Probe records JVMs of this host.
var Probe = probe.Probe{
	Name:  name,
	About: "a HotSpot JVM: GC log, thread dumps, heap and flags through its attach socket; its counters (hsperfdata)",
	Find:  findAccess,
	Tidy:  tidyAll,
}

const name = "hotspot"

// switches are the names of what recording switches on.
var switches = []string{"GC log into a temporary file (JDK 9 and later)", "thread dumps (up to five per second, fewer where they cost over 1 %)", "class histogram (once, at the end)"}

const recorded = "GC log, thread dumps, flags and class histogram of the JVM"

// findAccess checks whether it can attach to the JVM. A JVM that it cannot attach to still gives its counters, and a lack that says why.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID == 0 || t.Runtime != "jvm" {
		return nil
	}
	vm, err := attach.Find(t.PID)
	if err != nil {
		a := probe.Access{Probe: name, Where: "the counters of the JVM (hsperfdata)", Lacks: []probe.Lack{explainLack(err)}}
		a.Record = func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordJVM(ctx, nil, t, plan, sink)
		}
		return []probe.Access{a}
	}
	return []probe.Access{{
		Probe:      name,
		Where:      vm.Socket(),
		SwitchesOn: switches,
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordJVM(ctx, vm, t, plan, sink)
		},
	}}
}

func explainLack(err error) probe.Lack {
	l := probe.Lack{What: recorded, Why: err.Error()}
	var p *attach.Problem
	if errors.As(err, &p) {
		l.Why, l.Do = p.Reason(), p.Do
	}
	if l.Do == "" {
		l.Do = fmt.Sprintf("start the JVM with %s and give that log", ownLog)
	}
	return l
}

// ownLog is the flag with which users have a JVM write the same log.
const ownLog = "-Xlog:gc*,gc+age=debug,safepoint:file=gc.log:time,uptime,level,tags"
