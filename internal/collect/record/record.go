// Package record records live targets into a capture. It asks every probe what it can record of them, and runs the probes at the same
// time for the requested duration.
//
// Its opinion: the capture is what counts. It is on disk from the first second, and kept whatever happens to the target, the disk or
// the tool. A diagnosis is always made from the capture, never from data in memory, so that everybody can repeat it.
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

// Options are the user's choices, and functions to call.
type Options struct {
	For      time.Duration // duration; > 0
	Passive  bool          // switch nothing on
	Always   bool          // recordings follow each other for as long as the target lives, so each must cost little
	Flight   bool          // also use a JVM's flight recorder
	NoFlight bool          // never use it, not even if thread dumps leave waits unexplained
	Heap     bool          // also record the objects on the heap of .NET, and those that die in gen 2
	Path     string        // of the capture; empty: named after the target and the time
	Dir      string        // its directory then; empty: the working directory, else the one for temporary files
	Tool     string        // version
	Command  []string      // as typed; secrets are taken out

	ExpectedRate float64 // agreed requests/s, 0 unknown

	// Beside runs while the probes record, for example a load. When it ends, the recording ends. Nil: none.
	Beside func(ctx context.Context, sink probe.Sink) error

	// Follow returns, for each artifact, a function that also gets the data written to it, before secrets are taken out. It may
	// return nil. Nil: none.
	Follow func(capture.Meta) func([]byte)

	// Warn is called at once with a warning to the user. It may be nil.
	Warn func(text string)

	// Fail is called at once with a line that says what cannot be recorded of a target. Other targets are recorded all the same.
	// Calls do not overlap. It may be nil.
	Fail func(error)

	// First is called once, during the recording, when the first round of recordings should be in the capture. It may be nil.
	First func(path string)
}

// FirstAfter is when the first finding can be made. The first CPU profile and the first execution trace have ended by then.
const FirstAfter = 5 * time.Second

// settle is how much longer than requested a recording may take. It lets work that began in time end, such as a CPU profile of the
// last seconds and the last requests of a load.
const settle = 10 * time.Second

// Finding says what can be recorded of the targets.
type Finding struct {
	Targets  []discover.Target
	Accesses []probe.Access
}

// Find asks the probes what they can record of the targets. It switches nothing on.
func Find(ctx context.Context, probes []probe.Probe, targets []discover.Target) Finding {
	return FindOther(ctx, probes, nil, targets)
}

// FindOther is Find, and also uses others for targets whose runtime the probes know nothing about.
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

// oneLack reports once what accesses of several probes cannot record for the same reason.
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

// askProbes asks probes about one target at the same time. told says whether a probe that knows the runtime can switch something on in
// the target. Data that can only be read shows amounts, but not their causes.
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

// SwitchesOn lists what a recording will switch on in the targets.
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

// Record records everything found. It ends after Options.For, with Options.Beside, with the context, or when nothing is left to record.
// It returns the capture's path, "" if there was nothing to keep. The error says why it could not record at all, or not store its data;
// the capture then holds the earlier data.
func (f Finding) Record(ctx context.Context, opt Options) (path string, err error) {
	w, path, err := createCapture(opt, f.captureName())
	if err != nil {
		return "", err
	}
	s := &sink{w: w, warn: opt.Warn, follow: opt.Follow, latencies: new(probe.Latencies)}
	traced := false
	for _, a := range f.Accesses {
		for _, l := range a.Lacks {
			s.Lack(l)
		}
		traced = traced || a.Traces
	}
	ctx, stop := context.WithTimeout(ctx, opt.For+settle)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	plan := probe.Plan{For: opt.For, Passive: opt.Passive, Always: opt.Always, Flight: opt.Flight, NoFlight: opt.NoFlight, Heap: opt.Heap, Traced: traced && !opt.Passive, Latencies: s.latencies}
	var probes, beside sync.WaitGroup
	var mu sync.Mutex
	for _, a := range f.Accesses {
		probes.Add(1)
		go func() {
			defer probes.Done()
			err := a.Record(ctx, plan, s)
			if err == nil || w.Err() != nil { // the end reports an error of writing once
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
			defer end(context.DeadlineExceeded) // a deadline is not an interruption
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
		besides = nil // the capture reports it
	}
	err = errors.Join(w.Close(), besides)
	if c, e := capture.Open(path); e == nil && len(c.Artifacts()) == 0 && w.Err() == nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, err
}

// captureName returns the name of the first target that has one. The capture is named after it.
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

// Place makes a capture by create. The path is path if given, else a free name from the target and the time. The directory is dir if
// given, else the working directory, else the one for temporary files.
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
