package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// alarm is a rule that began to hold, and when.
type alarm struct {
	rule.Event
	at time.Time
}

const (
	segmentFor = time.Minute     // time that a segment of the ring covers
	beforeFor  = 2 * time.Minute // time before an alarm that its capture covers, if recorded
	keepFor    = 10 * time.Minute
	retry      = 10 * time.Second // pause after a failed recording
)

// recordTarget records a target into the ring until the target is gone, and makes the captures for its alarms.
func (w *Watcher) recordTarget(ctx context.Context, s *subject) {
	var last captured
	sampled := w.now()
	for ctx.Err() == nil {
		done := make(chan error, 1)
		of, cancel := context.WithCancelCause(ctx)
		path := ""
		var finding record.Finding
		if w.ring != nil {
			path = w.ring.New(s.Key, w.now())
			finding = record.Find(of, w.opt.Probes, []discover.Target{s.target})
			go func() {
				_, err := finding.Record(of, record.Options{For: w.part, Passive: true, Always: true, Path: path, Tool: w.opt.Tool, Command: w.opt.Command, Follow: s.requests.followLog})
				done <- err
			}()
		}
		var a *alarm
		var err error
		select {
		case err = <-done:
		case x := <-s.alarms:
			a = &x
			// Alarms from a moment ago belong to the same fault. Collections under way finish, so that the
			// capture's last seconds are whole.
			cancel(context.DeadlineExceeded)
			if path != "" {
				err = <-done
			}
		case <-ctx.Done():
			if path != "" {
				<-done //nolint:errcheck // the watcher ends, too
			}
		}
		cancel(nil)
		if path != "" {
			w.ring.Done(path)
		}
		if err != nil && ctx.Err() == nil {
			w.makeRoom(err)
		} else if err == nil && path != "" {
			w.reportRecovery("recording", "alarms are recorded again")
		}
		switch now := w.now(); {
		case a != nil && last.isCaptureDue(now, a.Rule, w.opt.Quiet):
			w.captureAlarm(ctx, s, *a)
			last = captured{w.now(), a.Rule.Severity}
		case a == nil && err == nil && path != "" && w.opt.Sample > 0 && now.Sub(sampled) >= w.opt.Sample && ctx.Err() == nil:
			sampled = now
			w.attributeSlowTime(ctx, s, path)
		}
		if err != nil || path == "" && a == nil {
			sleepWithContext(ctx, retry)
		}
	}
}

// captured says when a target was last captured, zero if never, and how severe that alarm was.
type captured struct {
	at       time.Time
	severity string
}

// isCaptureDue says whether an alarm is captured. Soon after another one only a more severe alarm is.
func (c captured) isCaptureDue(now time.Time, r *rule.Rule, quiet time.Duration) bool {
	return c.at.IsZero() || now.Sub(c.at) > quiet || r.Graver(c.severity)
}

// makeRoom reports that nothing can be stored, and drops the oldest segment of the ring.
func (w *Watcher) makeRoom(err error) {
	w.reportTrouble("recording", fmt.Sprintf("alarms cannot be recorded: %v; rules are still evaluated", err))
	if w.ring != nil {
		w.ring.Drop()
	}
}

func sleepWithContext(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// captureAlarm records the target in full, joins the recording with what the ring has from before the alarm, and has
// the capture diagnosed.
func (w *Watcher) captureAlarm(ctx context.Context, s *subject, a alarm) {
	dir := filepath.Join(w.opt.Dir, "captures")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.reportTrouble("captures", fmt.Sprintf("captures of alarms cannot be kept: %v", err))
		return
	}
	name := fmt.Sprintf("%s-%s-%s", fileKey(s.Service), a.at.UTC().Format("20060102T150405"), a.Rule.ID)
	path := freePath(filepath.Join(dir, name), segmentSuffix)
	after := path + afterSuffix
	finding := w.findRecordable(ctx, s, a.Rule)
	_, err := finding.Record(ctx, record.Options{For: w.opt.After, NoFlight: true, Path: after, Tool: w.opt.Tool, Command: w.opt.Command, Follow: s.requests.followLog})
	if err != nil && ctx.Err() == nil {
		w.makeRoom(err)
	}
	from := a.at.Add(-beforeFor)
	var parts []*capture.Capture
	if w.ring != nil {
		for _, seg := range w.ring.Since(s.Key, from) {
			if c, err := capture.Open(seg.Path); err == nil {
				parts = append(parts, c)
			}
		}
	}
	if c, err := capture.Open(after); err == nil {
		parts = append(parts, c)
	}
	if len(parts) == 0 {
		w.reportTrouble("captures", "nothing of the alarm could be recorded")
		return
	}
	host, _ := os.Hostname()
	begins := parts[0].Info.Start
	err = capture.Join(path, capture.Info{Tool: w.opt.Tool, Host: host, Target: s.Service, Start: begins, Command: w.opt.Command}, parts)
	_ = os.Remove(after)
	if err != nil {
		w.reportTrouble("captures", fmt.Sprintf("the capture of an alarm is incomplete: %v", err))
		if w.ring != nil {
			w.ring.Drop()
		}
	} else {
		w.reportRecovery("captures", "captures of alarms are kept again")
	}
	w.boundCaptures(dir)
	line := Line{Event: EventDiagnosis, Target: s.Key, Service: s.Service, Release: s.release, PID: s.target.PID, Rule: a.Rule.ID, Capture: path, From: begins.UTC(), Until: parts[len(parts)-1].End.UTC(),
		Before: max(0, a.at.Sub(begins).Seconds())}
	d, err := w.diagnoseCapture(ctx, path)
	if err != nil {
		line.Text = "the capture could not be diagnosed: " + err.Error()
	} else {
		w.describeDiagnosis(&line, d)
		w.mu.Lock()
		w.found.addDiagnosis(s, d)
		w.day.addDiagnosis(s.Service, d)
		w.mu.Unlock()
	}
	w.log.writeLine(line)
}

// findRecordable returns what can be recorded in full. It includes kernel stacks if a cause of the rule is in the
// kernel, or if the rule names no causes, as for slow requests.
func (w *Watcher) findRecordable(ctx context.Context, s *subject, r *rule.Rule) record.Finding {
	ofKernel := func(cause string) bool { return strings.HasPrefix(cause, "linux.") }
	if w.opt.Kernel != nil && (len(r.Causes) == 0 || slices.ContainsFunc(r.Causes, ofKernel)) {
		return record.Find(ctx, w.opt.Kernel, []discover.Target{s.target})
	}
	return record.FindOther(ctx, w.opt.Probes, w.opt.Others, []discover.Target{s.target})
}

// afterSuffix marks the recording after an alarm until it is joined with the one from before.
const afterSuffix = ".after"

// removeLeftovers removes partial recordings of alarms that a killed watcher left behind.
func (w *Watcher) removeLeftovers() {
	left, _ := filepath.Glob(filepath.Join(w.opt.Dir, "captures", "*"+afterSuffix))
	for _, path := range left {
		_ = os.Remove(path)
	}
}

// attributeSlowTime diagnoses a minute of the ring without an alarm. Its figures go to the stores and into the day's
// summary.
func (w *Watcher) attributeSlowTime(ctx context.Context, s *subject, path string) {
	if d, err := w.diagnoseCapture(ctx, path); err == nil {
		w.mu.Lock()
		w.found.addDiagnosis(s, d)
		w.day.addDiagnosis(s.Service, d)
		w.mu.Unlock()
	}
}

// one diagnosis at a time, because it runs on the sick host
var one sync.Mutex

func (w *Watcher) diagnoseCapture(ctx context.Context, path string) (*diagnose.Diagnosis, error) {
	if w.opt.Diagnose == nil {
		return nil, errors.New("not diagnosed; to diagnose it: unstall " + path)
	}
	one.Lock()
	defer one.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return w.opt.Diagnose(ctx, path)
}

// describeDiagnosis fills a line with what a diagnosis says.
func (w *Watcher) describeDiagnosis(x *Line, d *diagnose.Diagnosis) {
	x.Outcome = d.Outcome
	if w.opt.Brief != nil {
		x.Text = w.opt.Brief(d)
	}
	if d.Requests != nil {
		ms := d.Requests.SlowTotalMs
		x.SlowMs = &ms
	}
	for _, v := range d.Verdicts {
		if v.Verdict != "supported" {
			continue
		}
		if x.Cause == "" {
			x.Cause = v.Cause
			if v.Saves != nil {
				ms := v.Saves.Value
				x.SavesMs = &ms
			}
		}
		if !slices.Contains(x.Supported, v.Cause) {
			x.Supported = append(x.Supported, v.Cause)
		}
	}
}

// boundCaptures removes the oldest captures until the rest fits. The newest stays.
func (w *Watcher) boundCaptures(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	type file struct {
		path string
		size int64
		at   time.Time
	}
	var all []file
	sum := int64(0)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), segmentSuffix) {
			all = append(all, file{filepath.Join(dir, e.Name()), fi.Size(), fi.ModTime()})
			sum += fi.Size()
		}
	}
	sorting.Short(all, func(a, b file) int { return a.at.Compare(b.at) })
	for i := 0; i+1 < len(all) && sum > w.opt.Captures; i++ {
		if os.Remove(all[i].path) == nil {
			sum -= all[i].size
		}
	}
}

// freePath returns a path that does not exist yet.
func freePath(base, suffix string) string {
	path := base + suffix
	for n := 2; n < 1000; n++ {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			break
		}
		path = fmt.Sprintf("%s-%d%s", base, n, suffix)
	}
	return path
}
