package hotspot

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// What a note is about.
const (
	leftLog    = "gc log"
	leftFlight = "flight recording"
)

// noteLeft writes down what is about to be switched on; nil if that cannot be done.
func (r *recording) noteLeft(what, file string) *probe.SwitchedOn {
	started, err := attach.Started(r.pid)
	if err != nil {
		return nil
	}
	own, _ := attach.Started(os.Getpid())
	l, err := probe.Note(probe.SwitchedOn{Probe: name, What: what, File: file, PID: r.pid, Start: started,
		Recorder: os.Getpid(), RecorderStart: own, Boot: probe.Boot(), Namespace: probe.PIDNamespace()})
	if err != nil {
		return nil // the next recording of this JVM finds it by its name
	}
	return l
}

// tidying is how long a JVM may take to answer that is not the target: somebody waits
// for something else.
const tidying = 3 * time.Second

// tidyAll switches off what recorders left in any JVM that were killed, or that the JVM did
// not answer any more. A JVM that is stopped would not answer: its turn comes later.
func tidyAll(ctx context.Context, say func(string)) {
	for _, l := range probe.Notes(probe.Boot(), probe.PIDNamespace()) {
		if l.Probe != name {
			continue
		}
		if start, err := attach.Started(l.Recorder); err == nil && start == l.RecorderStart {
			continue // it still records
		}
		if start, err := attach.Started(l.PID); err != nil || start != l.Start {
			l.Forget() // it ended with its process
			continue
		}
		vm, err := attach.Find(l.PID)
		if err != nil || attach.Stopped(l.PID) || !isAbandoned(l.File, vm) || !strings.HasPrefix(l.File, jvmTmp+probe.OwnFile) {
			continue
		}
		if switchOffLeft(ctx, vm, l) == nil {
			removeOwn(vm, l.File)
			removeAbandoned(vm)
			l.Forget()
			say(fmt.Sprintf("pid %d: an earlier recording ended before it could switch its %s off: it is off now", l.PID, strings.Replace(l.What, "gc", "GC", 1)))
		}
	}
}

// switchOffLeft switches off what a note is about, and nothing else.
func switchOffLeft(ctx context.Context, vm *attach.VM, l *probe.SwitchedOn) error {
	ctx, cancel := context.WithTimeout(ctx, tidying)
	defer cancel()
	command := "VM.log output=" + l.File + " what=all=off"
	if l.What == leftFlight {
		command = "JFR.stop name=" + flightName(l.File)
	}
	_, err := vm.Text(ctx, command, 4<<10)
	if l.What == leftFlight && isRefused(err) {
		return nil // it has ended by itself
	}
	return err
}
