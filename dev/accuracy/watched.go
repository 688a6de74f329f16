package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/lab/process"
)

// watched is the result of watching a service with the rules of unstall: the service first has little load, then all of it.
type watched struct {
	Case           // of the first alarm's capture; without findings if there was no alarm
	alarms []alarm // in their order
}

type alarm struct {
	rule  string
	after time.Duration // since the onset: the beginning of the whole load
}

// How a service is watched. The watcher ignores a new process for half a minute; an alarm must come within a minute of
// the onset.
const (
	lowLoad     = .1 // of the load
	lowLoadFor  = 40 * time.Second
	fullLoadFor = 75 * time.Second
	diagnosedIn = 3 * time.Minute
)

// watchAll watches services one after the other. It passes if no healthy service caused an alarm and each alarm of a sick one was
// diagnosed to the right cause. A sick service without an alarm is reported and is no failure: not every cause has a figure that is read
// each second.
func watchAll(ctx context.Context, o options) (pass bool, err error) {
	if o.keep, err = os.MkdirTemp("", "unstall-accuracy-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(o.keep)
	services, err := chosenServices(o, nil)
	if err != nil {
		return false, err
	}
	var all []watched
	for _, s := range services {
		if err := s.buildPrograms(ctx, o); err != nil {
			logLine("%s: %v", s.Name, err)
		}
		x := watchOne(ctx, o, s)
		if ctx.Err() != nil {
			break
		}
		logLine("%s", x)
		all = append(all, x)
	}
	if len(all) == 0 {
		return false, fmt.Errorf("-only %s: no service has such a name", o.only)
	}
	return writeResults(os.Stdout, all), nil
}

func watchOne(ctx context.Context, o options, s service) (x watched) {
	k := &Kept{Service: s.Name, Run: 1, Known: &s.Known, About: s.Known.About, Runtime: s.Known.Runtime, SLO: s.Known.SLO}
	x.Case = Case{Service: s.Name, Run: 1, About: s.Known.About, Runtime: s.Known.Runtime, Found: []string{}, Expected: s.Known.Answer.First, Healthy: s.Known.Healthy}
	_, err := withService(ctx, o, s, func(st *stage) error { return st.runWatcher(ctx, k, &x) })
	switch {
	case errors.Is(err, errSkip):
		x.Skipped = err.Error()
	case err != nil:
		x.Error = err.Error()
	case x.Healthy:
		x.Right = len(x.alarms) == 0
		x.FalseAlarm = !x.Right
	}
	return x
}

// runWatcher watches the service under a small part of its load, then under all of it, and adds
// the alarms to x.
func (st *stage) runWatcher(ctx context.Context, k *Kept, x *watched) error {
	dir := filepath.Join(st.dir, "watch")
	args := []string{"watch", "--dir", dir, "--sample", "0s"}
	if k.SLO.Duration > 0 {
		args = append(args, "--slo", k.SLO.String())
	}
	w, err := process.Launch(process.Spec{Bin: st.binary, Args: append(args, strconv.Itoa(st.target.PID)), Env: os.Environ(), Dir: st.dir, Log: filepath.Join(st.dir, "watch.log")})
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	var low []demand
	for _, d := range st.Known.Load {
		if d.Rate *= lowLoad; d.Rate == 0 {
			d.Connections = 1
		}
		low = append(low, d)
	}
	if err := st.applyLoads(ctx, low, lowLoadFor, true, nil); err != nil {
		return err
	}
	onset := time.Now()
	over := func() bool { // the result is known
		lines, _ := linesOf(filepath.Join(st.dir, "watch.log"))
		alarmed := false
		for _, l := range lines {
			alarmed = alarmed || l.Event == watch.EventAlarm && l.Severity != "note"
			if l.Event == watch.EventDiagnosis {
				return true
			}
		}
		return !alarmed && time.Since(onset) > fullLoadFor
	}
	if err := st.applyLoads(ctx, st.Known.Load, fullLoadFor+diagnosedIn, false, over); err != nil {
		return err
	}
	lines, err := linesOf(filepath.Join(st.dir, "watch.log"))
	if err != nil {
		return err
	}
	for _, l := range lines {
		switch {
		case l.Event == watch.EventAlarm && l.Severity != "note":
			x.alarms = append(x.alarms, alarm{l.Rule, l.Time.Sub(onset)})
		case l.Event == watch.EventDiagnosis && len(x.Found) == 0 && l.Capture != "":
			k.Capture = filepath.Base(l.Capture)
			x.Case = judgeRun(ctx, st.options, filepath.Dir(l.Capture), k)
		}
	}
	return st.checkAlive()
}

// applyLoads puts loads on the service for a time, or until over returns true.
func (st *stage) applyLoads(ctx context.Context, load []demand, lasts time.Duration, warm bool, over func() bool) (err error) {
	var senders []*sender
	defer func() {
		for _, x := range senders {
			_ = x.Stop()
		}
	}()
	for n, d := range load {
		x, err := st.startLoad(n, d, lasts, warm, 1)
		if err != nil {
			return err
		}
		senders = append(senders, x)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for until := time.Now().Add(lasts); time.Now().Before(until) && (over == nil || !over()); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// linesOf reads what a watcher has said so far.
func linesOf(path string) (all []watch.Line, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l watch.Line
		if json.Unmarshal(s.Bytes(), &l) == nil && l.Event != "" {
			all = append(all, l)
		}
	}
	return all, nil
}

// formatAlarms formats the alarms, such as "go.gc-cpu after 21 s".
func (x watched) formatAlarms() string {
	var all []string
	for _, a := range x.alarms {
		all = append(all, fmt.Sprintf("`%s` after %.0f s", a.rule, a.after.Seconds()))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// String returns the line that is printed during a run.
func (x watched) String() string {
	switch {
	case !x.wasDiagnosed():
		return x.Case.String()
	case x.Healthy && x.Right:
		return x.Service + ": healthy, no alarm"
	case x.Healthy:
		return fmt.Sprintf("%s: FALSE ALARM: %s; its capture: %s", x.Service, x.formatAlarms(), x.First())
	case len(x.alarms) == 0:
		return fmt.Sprintf("%s: %s, no alarm", x.Service, strings.Join(x.Expected, "|"))
	}
	return fmt.Sprintf("%s; alarms: %s", x.Case, x.formatAlarms())
}

// writeResults writes a table of all results. It passes if they are as they must be.
func writeResults(w io.Writer, all []watched) (pass bool) {
	pass = true
	healthy, falsely, sick, alarmed, right := 0, 0, 0, 0, 0
	fmt.Fprintln(w, "| service | is | alarms | first of its capture | |\n|---|---|---|---|---|")
	for _, x := range all {
		is, verdict := strings.Join(x.Expected, ", "), "right"
		if x.Healthy {
			is = "healthy"
		}
		switch {
		case !x.wasDiagnosed():
			verdict = x.Error + x.Skipped
			pass = pass && x.Error == ""
		case x.Healthy:
			if healthy++; !x.Right {
				falsely++
				pass, verdict = false, "false alarm"
			}
		default:
			if sick++; len(x.alarms) == 0 {
				verdict = "no alarm"
				break
			}
			if alarmed++; x.Right {
				right++
			} else {
				pass, verdict = false, "wrong: "+x.Why
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", x.Service, is, x.formatAlarms(), x.First(), verdict)
	}
	fmt.Fprintf(w, "\n%d of %d healthy services set off an alarm; of %d sick ones %d did, and %d of their captures were diagnosed to the right cause.\n", falsely, healthy, sick, alarmed, right)
	return pass
}
