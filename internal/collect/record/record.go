// Package record records live targets into a capture: it asks every probe what
// it can see of them, and runs the probes side by side for as long as was asked.
//
// Its opinion: the capture is what counts. It is on disk from the first second,
// it is kept whatever happens to the target, the disk or the tool, and a
// diagnosis is always made of the capture, never of what is in memory, so that
// everybody can repeat it.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Options are what the user decides, and whom to tell.
type Options struct {
	For      time.Duration // how long; > 0
	Passive  bool          // switch nothing on
	Always   bool          // one recording follows the other for as long as the target lives: take little
	Flight   bool          // a JVM's flight recorder as well
	NoFlight bool          // never, not even where thread dumps leave waits unseen
	Heap     bool          // what lies on the heap of .NET, and what dies there old, as well
	Path     string        // of the capture; empty: named after the target and the time
	Dir      string        // where it is then; empty: the working directory, else where temporary files go
	Tool     string        // version
	Command  []string      // as typed; secrets are taken out

	ExpectedRate float64 // requests/s that were agreed on, 0 not known

	// Beside runs while the probes record, such as a load; its end is the end of
	// the recording. Nil: none.
	Beside func(ctx context.Context, sink probe.Sink) error

	// Follow is asked of each artifact who is given what is written to it, too, as it came and before
	// secrets are taken out; nil: nobody.
	Follow func(capture.Meta) func([]byte)

	// Warn is told what the user should know at once. Nil: nobody.
	Warn func(text string)

	// Fail is told at once what cannot be recorded of a target, one line; the
	// others are recorded all the same. Calls do not overlap. Nil: nobody.
	Fail func(error)

	// First is called once when the first round of recordings should be in the
	// capture, while it goes on. Nil: nobody.
	First func(path string)
}

// FirstAfter is when the first finding can be made: the first CPU profile and the
// first execution trace have ended by then.
const FirstAfter = 5 * time.Second

// settle is how much longer than asked for a recording may take: what was begun
// in time is to be answered, such as a CPU profile of its last seconds and the
// last requests of a load.
const settle = 10 * time.Second

// Finding is what can be recorded of the targets.
type Finding struct {
	Targets  []discover.Target
	Accesses []probe.Access
}

// Find asks the probes what they can record of the targets; nothing is switched
// on.
func Find(ctx context.Context, probes []probe.Probe, targets []discover.Target) Finding {
	return FindOther(ctx, probes, nil, targets)
}

// FindOther is Find, and asks others of the targets of whose runtime none of the probes can tell
// anything.
func FindOther(ctx context.Context, probes, others []probe.Probe, targets []discover.Target) Finding {
	f := Finding{Targets: targets}
	found := make([][]probe.Access, len(targets))
	var all sync.WaitGroup
	for i, t := range targets {
		all.Go(func() {
			told, accesses := askProbes(ctx, probes, t)
			if !told {
				_, more := askProbes(ctx, others, t)
				accesses = append(accesses, more...)
			}
			found[i] = oneLack(accesses)
		})
	}
	all.Wait()
	for _, a := range found {
		f.Accesses = append(f.Accesses, a...)
	}
	return f
}

// oneLack says once what accesses of several probes cannot see for one reason.
func oneLack(accesses []probe.Access) []probe.Access {
	first := make(map[string]*probe.Lack)
	for i := range accesses {
		a := &accesses[i]
		a.Lacks = slices.DeleteFunc(slices.Clone(a.Lacks), func(l probe.Lack) bool {
			of := first[l.Why]
			if of != nil {
				of.What += "; " + l.What
			}
			return of != nil
		})
		for k := range a.Lacks {
			first[a.Lacks[k].Why] = &a.Lacks[k]
		}
	}
	return accesses
}

// askProbes asks probes of one target side by side; told says whether a probe that knows its
// runtime can switch something on in it: what can only be read tells how much, and not of what.
func askProbes(ctx context.Context, probes []probe.Probe, t discover.Target) (told bool, accesses []probe.Access) {
	found := make([][]probe.Access, len(probes))
	var all sync.WaitGroup
	for i, p := range probes {
		all.Go(func() { found[i] = p.Find(ctx, t) })
	}
	all.Wait()
	for i, of := range found {
		for _, a := range of {
			told = told || !probes[i].General && a.Missing == nil && len(a.SwitchesOn) > 0
		}
		accesses = append(accesses, of...)
	}
	return told, accesses
}

// SwitchesOn lists what recording will switch on in the targets.
func (f Finding) SwitchesOn() []string {
	var all []string
	for _, a := range f.Accesses {
		for _, s := range a.SwitchesOn {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Record records everything that was found, until Options.For has passed, what
// runs beside it or the context has ended, or nothing is left to record. It
// returns the capture's path, "" if there was nothing to keep; the error says what
// kept it from recording at all, or from storing what it recorded, and the capture
// holds what came before.
func (f Finding) Record(ctx context.Context, opt Options) (path string, err error) {
	w, path, err := createCapture(opt, f.captureName())
	if err != nil {
		return "", err
	}
	s := &sink{w: w, warn: opt.Warn, follow: opt.Follow, latencies: new(probe.Latencies)}
	for _, a := range f.Accesses {
		for _, l := range a.Lacks {
			s.Lack(l)
		}
	}
	ctx, stop := context.WithTimeout(ctx, opt.For+settle)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	plan := probe.Plan{For: opt.For, Passive: opt.Passive, Always: opt.Always, Flight: opt.Flight, NoFlight: opt.NoFlight, Heap: opt.Heap, Latencies: s.latencies}
	var probes, beside sync.WaitGroup
	var mu sync.Mutex
	for _, a := range f.Accesses {
		probes.Add(1)
		go func() {
			defer probes.Done()
			err := a.Record(ctx, plan, s)
			if err == nil || w.Err() != nil { // that is said in the end, once
				return
			}
			if !strings.Contains(err.Error(), a.Where) {
				err = fmt.Errorf("%s: %w", a.Where, err)
			}
			w.Warnf("%v", err)
			if opt.Fail != nil {
				mu.Lock()
				defer mu.Unlock()
				opt.Fail(err)
			}
		}()
	}
	var besides error
	if opt.Beside != nil {
		beside.Add(1)
		go func() {
			defer beside.Done()
			defer end(context.DeadlineExceeded) // no interruption
			besides = opt.Beside(ctx, s)
		}()
	}
	if opt.First != nil && opt.For >= FirstAfter*3/2 {
		beside.Add(1)
		go func() {
			defer beside.Done()
			select {
			case <-ctx.Done():
			case <-time.After(FirstAfter):
				if w.Flush() == nil {
					opt.First(path)
				}
			}
		}()
	}
	probes.Wait()
	if opt.Beside == nil {
		end(nil)
	}
	beside.Wait()
	end(nil)
	if full := w.Err(); full != nil && errors.Is(besides, full) {
		besides = nil // is said by the capture
	}
	err = errors.Join(w.Close(), besides)
	if c, e := capture.Open(path); e == nil && len(c.Artifacts()) == 0 && w.Err() == nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, err
}

// captureName returns the name of the first target that has one, after which the capture is
// called.
func (f Finding) captureName() string {
	for _, t := range f.Targets {
		switch {
		case t.Name != "":
			return t.Name
		case t.URL != nil:
			return t.URL.Hostname()
		}
	}
	return "capture"
}

// createCapture creates the capture.
func createCapture(opt Options, name string) (w *capture.Writer, path string, err error) {
	host, _ := os.Hostname()
	info := capture.Info{Tool: opt.Tool, Host: host, Target: name, Start: time.Now(), Command: opt.Command, ExpectedRate: opt.ExpectedRate}
	path, err = Place(opt.Path, opt.Dir, name, info.Start, func(path string) error {
		w, err = capture.Create(path, info)
		return err
	})
	return w, path, err
}

// Place makes a capture by create: at path, where one was asked for, else in a directory, the
// working directory if that is "", else where temporary files go, under a name of the target and
// the time that is still free.
func Place(path, dir, target string, at time.Time, create func(path string) error) (string, error) {
	if path != "" {
		return path, create(path)
	}
	target = strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, target)
	base := target + "-" + at.Format("1504")
	var first error
	dirs := []string{"", os.TempDir()}
	if dir != "" {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for n := 1; n < 1000; n++ {
			path := filepath.Join(dir, base+".unstall")
			if n > 1 {
				path = filepath.Join(dir, fmt.Sprintf("%s-%d.unstall", base, n))
			}
			err := create(path)
			if err == nil {
				return path, nil
			}
			if !errors.Is(err, fs.ErrExist) {
				first = cmp.Or(first, err)
				break
			}
		}
	}
	return "", first
}
