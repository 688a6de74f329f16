// Package watch keeps watching services. It reads a few figures of each once a second and evaluates rules over them
// (internal/operate/watch/rule). It keeps the last minutes of evidence in a ring on disk, so that the seconds before an alarm
// are available. These and a full recording of the seconds after it become one capture, which is diagnosed from the disk like
// any other. The result is one line of JSON.
//
// Its opinion: the watcher must not fail. It finds a target that ends and comes back. It reports a full disk once and tries
// again. Clock changes raise no alarm. What cannot be done is left out, and everything else goes on. Work that costs more than
// watching, such as a diagnosis, runs in another process.
package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
	"github.com/unstall/unstall/internal/operate/watch/notify"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/sample"
)

// Options are the user's choices and the watcher's dependencies.
type Options struct {
	Targets  []string // as the user typed them
	Discover bool     // watch all processes of this host with a known runtime
	Except   int      // a PID to leave out: our own
	Rules    []rule.Rule
	SLO      time.Duration // requests that take longer are slow, 0: the usual latency decides
	Dir      string        // directory of the ring, the captures, and the state
	RingSize int64         // bytes
	Captures int64         // bytes, all kept captures together
	After    time.Duration // length of a full recording after an alarm
	Sample   time.Duration // time between diagnoses of a minute of the ring without an alarm; 0: never
	Quiet    time.Duration // pause after a capture of a target before the next

	Stores   []exporter.Store // stores that figures are sent to
	PushEach time.Duration
	Hooks    []*notify.Hook // receivers of alarms and diagnoses
	Metrics  string         // address that serves Prometheus, "" none

	Tool    string
	Command []string
	Log     io.Writer // receives the lines

	Resolve func(ctx context.Context, arg string) (discover.Target, error)
	Find    func(ctx context.Context) ([]discover.Target, error) // the processes of this host
	Probes  []probe.Probe                                        // used for each target
	Others  []probe.Probe                                        // used for targets whose runtime the others know nothing about
	Kernel  []probe.Probe                                        // used instead after an alarm whose cause may be in the kernel
	// Diagnose diagnoses a capture on disk, in another process. Nil: captures are not diagnosed.
	Diagnose func(ctx context.Context, path string) (*diagnose.Diagnosis, error)
	// Brief sums up a diagnosis in one sentence for a line. Nil: the line has none.
	Brief func(*diagnose.Diagnosis) string
}

// Watcher watches targets and their machine.
type Watcher struct {
	opt   Options
	log   *log
	ring  *Ring
	eval  *rule.Evaluator
	usual *rule.Usual
	now   func() time.Time
	part  time.Duration // length of a segment of the ring

	in chan batch

	mu       sync.Mutex // guards the fields below
	subjects map[string]*subject
	host     *subject
	open     map[string]rule.Event // alarms, by rule and subject
	fired    map[string]int        // number of alarms of each rule
	trouble  map[string]bool       // troubles that were reported and are not over
	found    Attribution
	day      summary
	pushers  []*exporter.Pusher
	bounds   map[string]float64 // of rules with usual values, by rule and service
	hostName string
	began    time.Time
}

// subject is a target, or the machine.
type subject struct {
	rule.Subject
	target   discover.Target
	release  string // version of the program itself, "" unknown
	tally    *sample.Tally
	requests requests
	alarms   chan alarm // to the goroutine that records the subject
	stop     context.CancelFunc
}

// serviceRelease returns the service and its version.
func (s *subject) serviceRelease() Release { return Release{s.Service, s.release} }

// batch is the readings of a subject at one time.
type batch struct {
	key    string
	points []sample.Point
	gone   string // why no more readings will come
}

// New returns a watcher. Its lines report what it cannot do; the error is about something it cannot do without.
func New(opt Options) (*Watcher, error) {
	w := &Watcher{opt: opt, now: time.Now, part: segmentFor, in: make(chan batch, 64), subjects: make(map[string]*subject), open: make(map[string]rule.Event), fired: make(map[string]int), trouble: make(map[string]bool), bounds: make(map[string]float64), hostName: hostName()}
	w.began = w.now()
	w.log = &log{to: opt.Log, now: func() time.Time { return w.now() }, also: w.notifyHooks}
	w.found.init()
	w.usual = w.loadMemory()
	w.usual.Forget(w.now().UnixNano())
	w.eval = rule.New(opt.Rules, w.usual)
	if len(opt.Targets) == 0 && !opt.Discover {
		return nil, errors.New("nothing to watch: name processes, or give --discover")
	}
	return w, nil
}

const (
	every     = time.Second
	lookFor   = 10 * time.Second // pause between searches for missing and new targets
	rememberE = 10 * time.Minute
)

// Run watches until the context ends.
func (w *Watcher) Run(ctx context.Context) error {
	release, err := lockFolder(w.opt.Dir)
	if err != nil {
		return err
	}
	defer release()
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.ring, err = OpenRing(filepath.Join(w.opt.Dir, "ring"), w.opt.RingSize); err != nil {
		w.reportTrouble("ring", fmt.Sprintf("the minutes before an alarm cannot be kept: %v", err))
		w.ring = nil
	}
	w.removeLeftovers()
	w.log.writeLine(Line{Event: EventStarted, Text: "watching with " + units.Plural(len(w.opt.Rules), "rule")})
	w.beginHost(ctx, &all)
	w.startHooks(ctx, &all)
	w.startPushers(ctx, &all)
	if w.opt.Metrics != "" {
		at, done, err := exporter.Serve(w.opt.Metrics, w.State)
		if err != nil {
			return fmt.Errorf("--metrics %s: %w: give another address", w.opt.Metrics, errors.Unwrap(errors.Unwrap(err)))
		}
		defer done()
		w.log.writeLine(Line{Event: EventStarted, Text: "serving Prometheus at http://" + at + "/metrics"})
	}
	look := make(chan []discover.Target, 1)
	all.Go(func() { w.lookForTargets(ctx, look) })
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, lastSaved := w.now(), w.now()
	for {
		select {
		case <-ctx.Done():
			w.saveMemory()
			w.log.writeLine(Line{Event: EventStopped, Text: "stopped"})
			return nil
		case targets := <-look:
			w.watchTargets(ctx, &all, targets)
		case b := <-w.in:
			w.addBatch(b)
		case <-tick.C:
			// The monotonic clock shows by how much the wall clock was set.
			now := w.now()
			if set := now.Round(0).Sub(last.Round(0)) - now.Sub(last); set > 2*time.Second || set < -2*time.Second {
				w.log.writeLine(Line{Event: EventTrouble, Text: fmt.Sprintf("the clock was changed by %s: running measurements restart", set.Round(time.Second))})
			}
			last = now
			w.evaluateRules(now)
			w.noteBounds()
			if now.Sub(lastSaved) > rememberE {
				lastSaved = now
				w.saveMemory()
				if w.ring != nil {
					w.ring.Keep(now.Add(-keepFor))
				}
			}
			w.reportDay(now)
		}
	}
}

// beginHost starts to watch the machine.
func (w *Watcher) beginHost(ctx context.Context, all *sync.WaitGroup) {
	h := &subject{Subject: rule.Subject{Key: "host", Service: w.hostName, Host: true}, tally: sample.NewTally(0, 0)}
	w.mu.Lock()
	w.host = h
	w.mu.Unlock()
	w.eval.Begin(h.Subject, 0)
	all.Go(func() { w.readHost(ctx) })
}

// lookForTargets searches repeatedly for the typed targets and, if processes are discovered, for other processes of this
// host.
func (w *Watcher) lookForTargets(ctx context.Context, out chan<- []discover.Target) {
	said, born := make(map[string]string), make(map[string]time.Time)
	for {
		var found []discover.Target
		for _, arg := range w.opt.Targets {
			if t, ok := w.watchedTarget(arg); ok {
				found = append(found, t)
				continue
			}
			t, err := w.opt.Resolve(ctx, arg)
			if err != nil {
				if text := err.Error(); said[arg] != text && ctx.Err() == nil {
					said[arg] = text
					w.log.writeLine(Line{Event: EventTrouble, Target: arg, Text: text + "; unstall keeps looking for it"})
				}
				continue
			}
			// A PID that now belongs to another process is not the target.
			if _, err := strconv.Atoi(arg); err == nil && !t.Start.IsZero() {
				if was, before := born[arg]; before && !was.Equal(t.Start) {
					continue
				}
				born[arg] = t.Start
			}
			delete(said, arg)
			t.Arg = arg
			found = append(found, t)
		}
		if w.opt.Discover {
			if more, err := w.opt.Find(ctx); err == nil {
				for _, t := range more {
					if t.PID != w.opt.Except && w.now().Sub(t.Start) > settled && !slices.ContainsFunc(found, func(o discover.Target) bool { return o.PID == t.PID && t.PID != 0 }) {
						found = append(found, t)
					}
				}
			}
		}
		select {
		case out <- found:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(w.lookAgain(len(found))):
		case <-ctx.Done():
			return
		}
	}
}

// settled is the age from which an unnamed process counts as a service, because tools run only briefly.
const settled = 20 * time.Second

// lookAgain returns the pause until the next search for targets, which is short while one is missing.
func (w *Watcher) lookAgain(found int) time.Duration {
	if found < len(w.opt.Targets) {
		return 2 * time.Second
	}
	return lookFor
}

// watchedTarget returns the target of an argument, if it is being watched.
func (w *Watcher) watchedTarget(arg string) (discover.Target, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.subjects {
		if s.target.Arg == arg {
			return s.target, true
		}
	}
	return discover.Target{}, false
}

// mostTargets bounds the targets watched at once. Targets beyond it are reported.
const mostTargets = 64

// watchTargets starts to watch the targets that are new.
func (w *Watcher) watchTargets(ctx context.Context, all *sync.WaitGroup, targets []discover.Target) {
	for _, t := range targets {
		key := keyOf(t)
		w.mu.Lock()
		_, is := w.subjects[key]
		n := len(w.subjects)
		w.mu.Unlock()
		if is {
			continue
		}
		if n >= mostTargets {
			w.reportTrouble("targets", fmt.Sprintf("more than %d processes run here, and the rest is not watched: name the ones to watch", mostTargets))
			return
		}
		born := int64(0)
		if !t.Start.IsZero() {
			born = t.Start.UnixNano()
		}
		s := &subject{Subject: rule.Subject{Key: key, Service: serviceOf(t)}, target: t, release: t.Release(platform.ByID(t.Runtime).Built), alarms: make(chan alarm, 4)}
		s.tally = sample.NewTally(born, coresOf(t))
		s.requests.slo = w.opt.SLO
		of, stop := context.WithCancel(ctx)
		s.stop = stop
		w.mu.Lock()
		w.subjects[key] = s
		w.mu.Unlock()
		w.eval.Begin(s.Subject, born)
		w.log.writeLine(Line{Event: EventFound, Target: key, Service: s.Service, PID: t.PID, Runtime: t.Runtime, Version: t.Version, Release: s.release, Text: "watching " + key})
		all.Go(func() { w.readTarget(of, s) })
		all.Go(func() { w.recordTarget(of, s) })
	}
}

// serviceOf returns the name of a target's service, which stays the same over restarts.
func serviceOf(t discover.Target) string {
	name := t.Name
	if name == "" && t.URL != nil {
		name = t.URL.Host
	}
	if t.Main != "" && slices.Contains(platform.Launchers(), t.Name) {
		name = t.Main
	}
	return cmp.Or(name, t.Arg)
}

func keyOf(t discover.Target) string {
	if t.PID != 0 {
		return fmt.Sprintf("%s pid %d", serviceOf(t), t.PID)
	}
	return serviceOf(t)
}

// addBatch gives readings to the rules, and ends the watch of a target that is gone.
func (w *Watcher) addBatch(b batch) {
	for _, p := range b.points {
		w.eval.Add(b.key, p.ID, p.At, p.V)
	}
	if b.gone == "" {
		return
	}
	w.mu.Lock()
	s := w.subjects[b.key]
	delete(w.subjects, b.key)
	w.mu.Unlock()
	if s == nil {
		return
	}
	s.stop()
	w.reportEvents(w.eval.End(b.key, w.now().UnixNano(), b.gone))
	w.log.writeLine(Line{Event: EventGone, Target: b.key, Service: s.Service, PID: s.target.PID, Text: b.gone})
}

// evaluateRules evaluates the rules at a time and reports what changed.
func (w *Watcher) evaluateRules(now time.Time) { w.reportEvents(w.eval.At(now.UnixNano())) }

// reportEvents writes the lines about rules that began or stopped to hold, and has alarms captured.
func (w *Watcher) reportEvents(all []rule.Event) {
	for _, ev := range all {
		key := ev.Rule.ID + "\x00" + ev.Subject.Key
		w.mu.Lock()
		if ev.Fired {
			w.open[key] = ev
			w.fired[ev.Rule.ID]++
			w.day.addAlarm(ev)
		} else {
			delete(w.open, key)
		}
		line := ofEvent(ev)
		if s := w.subjects[ev.Subject.Key]; s != nil {
			line.PID, line.Release = s.target.PID, s.release
		}
		w.mu.Unlock()
		w.log.writeLine(line)
		if ev.Fired && ev.Rule.Severity != "note" {
			w.raiseAlarm(ev)
		}
	}
}

// raiseAlarm asks the recorder of the subject for a capture. For an alarm about the machine it asks the recorder of the
// target that uses most CPU time.
func (w *Watcher) raiseAlarm(ev rule.Event) {
	w.mu.Lock()
	s := w.subjects[ev.Subject.Key]
	if ev.Subject.Host {
		most := -1.
		for _, key := range slices.Sorted(maps.Keys(w.subjects)) {
			x := w.subjects[key]
			if cpu := x.tally.Newest("proc/cpu"); cpu > most {
				s, most = x, cpu
			}
		}
	}
	w.mu.Unlock()
	if s == nil {
		return
	}
	select {
	case s.alarms <- alarm{ev, w.now()}:
	default: // the recorder already makes a capture
	}
}

// reportTrouble writes a line about a trouble once until the trouble is over.
func (w *Watcher) reportTrouble(what, text string) {
	w.mu.Lock()
	again := w.trouble[what]
	w.trouble[what] = true
	w.mu.Unlock()
	if !again {
		w.log.writeLine(Line{Event: EventTrouble, Text: text})
	}
}

// reportRecovery writes a line that a trouble is over, if the trouble was reported.
func (w *Watcher) reportRecovery(what, text string) {
	w.mu.Lock()
	was := w.trouble[what]
	delete(w.trouble, what)
	w.mu.Unlock()
	if was {
		w.log.writeLine(Line{Event: EventTrouble, Text: text})
	}
}

// memory is the state stored over restarts.
type memory struct {
	Schema  string      `json:"schema"`
	Usual   *rule.Usual `json:"usual"`
	Summary *summary    `json:"summary"`
}

const memorySchema = "unstall.memory/v1"

func (w *Watcher) memoryPath() string { return filepath.Join(w.opt.Dir, "memory.json") }

// loadMemory reads the state of an earlier watcher. It renames a damaged file.
func (w *Watcher) loadMemory() *rule.Usual {
	text, err := os.ReadFile(w.memoryPath())
	if err != nil {
		return new(rule.Usual)
	}
	m := memory{Usual: new(rule.Usual), Summary: &w.day}
	if err := json.Unmarshal(text, &m); err != nil || m.Schema != memorySchema {
		aside := w.memoryPath() + ".damaged"
		_ = os.Rename(w.memoryPath(), aside)
		w.log.writeLine(Line{Event: EventTrouble, Text: fmt.Sprintf("%s could not be read and is now %s: the usual values are learnt again", w.memoryPath(), filepath.Base(aside))})
		w.day = summary{}
		return new(rule.Usual)
	}
	if m.Usual == nil {
		m.Usual = new(rule.Usual)
	}
	return m.Usual
}

// saveMemory writes the state stored over restarts, whole or not at all.
func (w *Watcher) saveMemory() {
	w.mu.Lock()
	text, err := json.Marshal(memory{memorySchema, w.usual, &w.day})
	w.mu.Unlock()
	path := w.memoryPath()
	if err == nil {
		err = os.MkdirAll(w.opt.Dir, 0o700)
	}
	if err == nil {
		if err = os.WriteFile(path+".new", text, 0o600); err == nil {
			err = os.Rename(path+".new", path)
		}
	}
	if err != nil {
		w.reportTrouble("memory", fmt.Sprintf("the usual values cannot be saved for a restart: %v", err))
		return
	}
	w.reportRecovery("memory", "the usual values are saved again")
}
