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

// Kinds of notes.
const (
	leftLog    = "gc log"
	leftFlight = "flight recording"
)

// noteLeft writes down what is about to be switched on; nil if it cannot.
func (r *recording) noteLeft(what, file string) *probe.SwitchedOn {
	started, err := attach.Started(r.pid)
	if err != nil {
		return nil
	}
	own, _ := attach.Started(os.Getpid())
	l, err := probe.Note(probe.SwitchedOn{Probe: name, What: what, File: file, PID: r.pid, Start: started,
		Recorder: os.Getpid(), RecorderStart: own, Boot: probe.Boot(), Namespace: probe.PIDNamespace()})
	if err != nil {
		return nil // the next recording of this JVM finds the log by its name
	}
	return l
}

// tidying is how long a JVM other than the target may take to answer, because the user waits for something else.
const tidying = 3 * time.Second

// tidyAll switches off what killed recorders left on in any JVM, or what a JVM did not answer about. It skips a stopped JVM, which would not
// answer, until a later start.
func tidyAll(ctx context.Context, say func(string)) {
	for _, l := range probe.Notes(probe.Boot(), probe.PIDNamespace()) {
		if l.Probe != name {
			continue
		}
		if start, err := attach.Started(l.Recorder); err == nil && start == l.RecorderStart {
			continue // its recorder still runs
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

// switchOffLeft switches off only what a note describes.
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
