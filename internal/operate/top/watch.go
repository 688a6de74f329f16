package top

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Watch is a process being watched: its sources and their readings.
type Watch struct {
	*Board

	// Notes say what is missing and why, one line each.
	Notes []string

	sources []Source // the last one says whether the process still runs
	failed  []error  // the error of each source's last reading
	came    []bool   // whether each source has given any reading
	silent  int      // consecutive readings without a result
	began   time.Time
	now     func() time.Time
}

// patient is how many consecutive readings may fail before a process known only by its address counts as gone.
const patient = 3

// Open starts to watch a target at an interval, with the counters of its runtime if there are any. A source that
// cannot be opened becomes a note; if none can be opened, that is an error.
func Open(ctx context.Context, t discover.Target, about string, every time.Duration, counters *Counters) (*Watch, error) {
	w := &Watch{Board: NewBoard(Subject{Text: about}, every), began: time.Now(), now: time.Now}
	if counters != nil {
		w.Subject.Rules = counters.Rules
		if s, err := counters.Open(ctx, t, every, w.now); err != nil {
			w.Notes = append(w.Notes, err.Error())
		} else {
			w.sources = append(w.sources, s)
		}
	}
	if t.PID != 0 {
		w.Subject.Cores = readCores("/proc", "/sys/fs/cgroup", t.PID)
		w.sources = append(w.sources, newProc(t.PID, w.now))
	}
	if len(w.sources) == 0 {
		if len(w.Notes) > 0 {
			return nil, errors.New(w.Notes[0])
		}
		return nil, errors.New("nothing to show: give the PID or name of a process on this host, or the URL of its net/http/pprof")
	}
	return w, nil
}

// New watches given sources; the last one says whether the process still runs. Unlike [Open] it does not look for
// sources.
func New(s Subject, every time.Duration, now func() time.Time, sources ...Source) *Watch {
	return &Watch{Board: NewBoard(s, every), sources: sources, began: now(), now: now}
}

// batch is the result of all sources at one time.
type batch struct {
	readings [][]Reading
	errs     []error
}

// collectReadings reads all sources at once. It changes nothing that is drawn.
func (w *Watch) collectReadings(ctx context.Context) batch {
	x := batch{make([][]Reading, len(w.sources)), make([]error, len(w.sources))}
	var all sync.WaitGroup
	for i, s := range w.sources {
		all.Go(func() { x.readings[i], x.errs[i] = s.Read(ctx) })
	}
	all.Wait()
	return x
}

// applyBatch takes the collected readings. A failing source is a note until it answers again. The error, one line,
// says that the process has ended.
func (w *Watch) applyBatch(x batch) error {
	if w.came == nil {
		w.came = make([]bool, len(w.sources))
	}
	w.silent++
	for i, readings := range x.readings {
		w.Add(readings)
		w.came[i] = w.came[i] || len(readings) > 0
		if x.errs[i] == nil {
			w.silent = 0
		}
	}
	w.failed = x.errs
	switch lives := x.errs[len(x.errs)-1]; {
	case errors.Is(lives, ErrEnded):
		return fmt.Errorf("%w, after %s", ErrEnded, w.now().Sub(w.began).Round(100*time.Millisecond))
	case w.silent >= patient:
		return lives
	}
	return nil
}

// frozenCopy returns a watch that keeps showing what this one shows now.
func (w *Watch) frozenCopy() *Watch {
	board := *w.Board
	board.rows = make(map[string]*row, len(w.rows))
	for id, r := range w.rows {
		still := *r
		still.at, still.value = slices.Clone(r.at), slices.Clone(r.value)
		board.rows[id] = &still
	}
	return &Watch{Board: &board, Notes: w.Notes, failed: w.failed, came: w.came}
}

// Missing returns the notes, and the errors of the last reading.
func (w *Watch) Missing() []string {
	out := slices.Clone(w.Notes)
	for i, err := range w.failed {
		switch {
		case err == nil && !w.came[i]:
			out = append(out, "the runtime's counters: the first values come after a moment")
		case errors.Is(err, ErrEnded):
			out = append(out, "the runtime has closed the session that sends its counters")
		case err != nil:
			out = append(out, err.Error())
		}
	}
	return out
}

// Close closes all sources.
func (w *Watch) Close() error {
	var errs []error
	for _, s := range w.sources {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
