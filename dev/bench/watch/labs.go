//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/lab"
	labs "github.com/unstall/unstall/lab/all"
)

// incident is a lab with two watched services: the sick one, and a healthy twin.
type incident struct {
	lab, sick, twin string
	idle            bool // the sick one gets no request before the onset: a single request causes the fault
}

// incidents have twins that can run beside the sick one. A limit of 6 GiB is too large for that on a small host, and the host without
// huge pages would cure the sick one.
var incidents = []incident{
	{lab: "go-ballast", sick: "sick", twin: "little-allocation"},
	{lab: "jvm-parnew", sick: "sick", twin: "server-cache"},
	{lab: "dotnet-starvation", sick: "taskwait", twin: "taskasyncwait"},
	{lab: "dotnet-loh", sick: "sick", twin: "chunked-streamed"},
	{lab: "linux-thp", sick: "sick", twin: "off-for-it", idle: true},
}

// The required times.
const (
	within   = 60 * time.Second // from the onset to the alarm
	earlier  = 30 * time.Second // of the time before the alarm that its capture must hold
	calm     = 45 * time.Second // before the load rises: the watcher ignores a new process for half a minute
	healthy  = 45 * time.Second // of the twin under the whole load
	lingers  = 25 * time.Second // of the load after an alarm, while its capture is recorded
	patience = 4 * time.Minute  // for a diagnosis
)

// underWatch watches the services of labs, by name, and prints each result. The error names those that are not as
// they must be.
func underWatch(ctx context.Context, unstall string, names []string, keep string) error {
	var failed []string
	for _, x := range incidents {
		if !slices.Contains(names, "all") && !slices.Contains(names, x.lab) {
			continue
		}
		if err := x.watchLab(ctx, unstall, keep); err != nil {
			fmt.Printf("%s: FAILED: %v\n", x.lab, err)
			failed = append(failed, x.lab)
		} else {
			fmt.Printf("%s: as it should be\n", x.lab)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("not as it should be: %s", strings.Join(failed, ", "))
	}
	return nil
}

func (x incident) watchLab(ctx context.Context, unstall, keep string) error {
	i := slices.IndexFunc(labs.Labs, func(l *lab.Lab) bool { return l.Name == x.lab })
	if i < 0 {
		return errors.New("there is no such lab")
	}
	opt := lab.Options{Quick: true, Progress: func(text string) { fmt.Println("  " + text) }}
	return lab.Serve(ctx, labs.Labs[i], opt, []string{x.sick, x.twin}, func(s *lab.Stand) error {
		dir, err := os.MkdirTemp("", "unstall-watch")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		sick, twin := s.Service(x.sick), s.Service(x.twin)
		storm, err := s.Demand(sick)
		if err != nil {
			return err
		}
		usual, err := s.Demand(twin)
		if err != nil {
			return err
		}
		var more []string
		if storm.SLO > 0 {
			more = append(more, "--slo", storm.SLO.String())
		}
		w, err := watchTargets(unstall, dir, []string{fmt.Sprint(sick.PID), fmt.Sprint(twin.PID)}, more...)
		if err != nil {
			return err
		}
		defer w.kill()
		err = x.runScenario(ctx, s, w, [2]*lab.Service{sick, twin}, [2]lab.Demand{storm, usual})
		if keep != "" {
			if kept := w.copyCaptures(filepath.Join(keep, x.lab)); kept != nil && err == nil {
				err = kept
			}
		}
		return err
	})
}

// runScenario runs both services idle, then the twin under its load, then the sick one.
func (x incident) runScenario(ctx context.Context, s *lab.Stand, w *watcher, of [2]*lab.Service, load [2]lab.Demand) error {
	var wrong []error
	miss := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	calmly := func(lasts time.Duration) error {
		var both sync.WaitGroup
		var errs [2]error
		for i := range of {
			if i == 0 && x.idle {
				both.Go(func() { sleepContext(ctx, lasts) })
				continue
			}
			both.Go(func() { errs[i] = s.Calm(ctx, of[i], load[i], lasts) })
		}
		both.Wait()
		return errors.Join(errs[:]...)
	}
	if err := calmly(calm); err != nil {
		return err
	}
	well := load[1]
	well.For = healthy
	if _, err := s.Drive(ctx, of[1], well); err != nil {
		return err
	}
	for _, l := range w.alarmLines() {
		miss("a false alarm while all was well: %s of %s: %s", l.Rule, l.Target, l.Text)
	}
	before := len(w.alarmLines())

	var ends sync.WaitGroup
	defer ends.Wait()
	storming, enough := context.WithCancel(ctx)
	defer enough()
	onset := time.Now()
	storm := load[0]
	storm.Before, storm.Ramp, storm.For = 0, 0, within+lingers+patience
	ends.Go(func() { _, _ = s.Drive(storming, of[0], storm) })
	is := fmt.Sprintf(" pid %d", of[0].PID)
	alarm, err := w.waitForLine(ctx, onset, within+30*time.Second, func(l watch.Line) bool {
		return l.Event == watch.EventAlarm && l.Severity != "note" && (l.Target == "host" || strings.HasSuffix(l.Target, is))
	})
	if err != nil {
		return errors.Join(append(wrong, fmt.Errorf("no alarm of the sick one: %w", err))...)
	}
	took := alarm.Time.Sub(onset)
	fmt.Printf("  alarm %.0f s after the onset: %s\n", took.Seconds(), alarm.Rule)
	if took > within {
		miss("the alarm came %.0f s after the onset, not within %s", took.Seconds(), within)
	}
	relief := time.AfterFunc(lingers, enough)
	defer relief.Stop()
	said, err := w.waitForLine(ctx, onset, patience, func(l watch.Line) bool { return l.Event == watch.EventDiagnosis && l.PID == of[0].PID })
	if err != nil {
		return errors.Join(append(wrong, fmt.Errorf("no diagnosis: %w", err))...)
	}
	fmt.Printf("  diagnosis %.0f s after that: %s (%s), with %.0f s from before\n", said.Time.Sub(alarm.Time).Seconds(), said.Cause, strings.Join(said.Supported, " "), said.Before)
	if said.Before < earlier.Seconds() {
		miss("its capture holds %.0f s from before the alarm, not %s", said.Before, earlier)
	}
	if !of[0].Variant.Expected.MetBy(said.Supported) {
		miss("it is diagnosed as %q: %s", said.Supported, said.Text)
	}
	for _, l := range w.alarmLines()[before:] {
		if l.Target != alarm.Target && l.Target != "host" {
			miss("a false alarm of the twin: %s: %s", l.Rule, l.Text)
		}
	}
	return errors.Join(wrong...)
}

// alarmLines returns the lines of alarms so far.
func (w *watcher) alarmLines() (all []watch.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		if l.Event == watch.EventAlarm {
			all = append(all, l)
		}
	}
	return all
}

// copyCaptures copies the captures of alarms.
func (w *watcher) copyCaptures(to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	captures, _ := filepath.Glob(filepath.Join(w.dir, "state", "captures", "*.unstall"))
	for _, path := range captures {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(to, filepath.Base(path)))
		if err == nil {
			_, err = io.Copy(out, in)
			err = errors.Join(err, out.Close())
		}
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// buildProgram builds a program of this project and returns its path.
func buildProgram(ctx context.Context, dir, pkg string) (string, error) {
	path := filepath.Join(dir, filepath.Base(pkg))
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", pkg, err, text)
	}
	return path, nil
}
