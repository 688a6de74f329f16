// Package incident turns artifacts into an incident that callers can ask questions about. [Read] parses artifacts
// into a bundle. [Of] makes one incident of the bundle: it unifies the descriptions of each process into one subject,
// puts all clocks on one timeline, gives requests the states in which their threads were seen, cuts to the time asked
// for, and builds a ledger per service that says where its requests' time went.
//
// Its opinion: only this package unifies, aligns and attaches, so that two answers about the same files cannot differ
// by a skipped step. Of leaves the bundle as it was read: callers may ask again about another time, or read more
// artifacts into it first.
package incident

import (
	"slices"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/routes"
	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Options are what the user decides. The zero value asks for everything.
type Options struct {
	Since, Until time.Time        // zero: unbounded
	SLO          time.Duration    // what counts as slow; 0: found from the requests
	Requests     []string         // artifacts that supply the figures about all requests
	Baseline     *evidence.Bundle // from when the service was healthy; nil: none
}

// Incident is what was seen of one incident. It has a bundle of its own: additions to it do not reach the bundle it
// was made of.
type Incident struct {
	Bundle   *evidence.Bundle
	Whole    metrics.Window // of all evidence with a time, before the cut to the time asked for; of a log without dates, since its start; zero: none
	Dated    bool           // Whole is in times of day
	Baseline *Incident      // from when the service was healthy; nil: none

	opt      Options
	build    sync.Once
	ledgers  []*ledger.Ledger
	passedOn map[evidence.SubjectID]bool
	joined   []sightings.Joined
	threads  func() *threads.Threads
}

// Of makes an incident of a bundle, which it does not change.
func Of(read *evidence.Bundle, opt Options) *Incident {
	b := Normalize(read)
	threads.Attach(b, platform.Stacks())
	i := &Incident{Bundle: b, opt: opt, passedOn: followWorkerPools(b)}
	i.Dated = b.Dated()
	if i.Whole.From, i.Whole.Until = b.Window(); !i.Dated {
		i.Whole.From, i.Whole.Until = b.Undated()
	}
	if !opt.Since.IsZero() || !opt.Until.IsZero() {
		b.Clip(unixNanos(opt.Since), unixNanos(opt.Until))
	}
	i.joined = sightings.Join(b)
	i.threads = sync.OnceValue(func() *threads.Threads { return threads.Of(b, platform.Stacks()) })
	if opt.Baseline != nil {
		i.Baseline = Of(opt.Baseline, Options{})
	}
	return i
}

// Normalize returns what files hold: it merges descriptions of the same process, aligns clocks, and gives requests the
// routes that all stacks together tell. It derives nothing else from several artifacts.
func Normalize(read *evidence.Bundle) *evidence.Bundle {
	b := read.Clone()
	b.Unify()
	b.Align()
	routes.Group(b)
	sightings.Unite(b)
	b.NameCode()
	threads.NameInterpreted(b)
	metrics.CountWorkers(b, func(id string) bool { return platform.ByID(id).Master })
	threads.Adopt(b, platform.Stacks())
	routes.Name(b)
	routes.Match(b)
	return b
}

// Nothing reports whether a time was asked for that no evidence covers.
func (i *Incident) Nothing() bool {
	return (!i.opt.Since.IsZero() || !i.opt.Until.IsZero()) && len(i.Bundle.Coverage) == 0
}

// Ledgers returns the ledgers of the services with requests. The first call builds them.
func (i *Incident) Ledgers() []*ledger.Ledger {
	i.build.Do(func() {
		i.ledgers = ledger.Build(i.Bundle, ledger.Options{SLO: i.opt.SLO, Requests: i.opt.Requests, Baseline: i.baselineLimits(), Stacks: platform.Stacks(), Threads: i.threads, Joined: i.joined, OnThreads: onThreads})
	})
	return i.ledgers
}

// Counted returns the ledgers that together count each request once. It leaves out workers whose requests were
// followed from the service that passed them on.
func (i *Incident) Counted() []*ledger.Ledger {
	return slices.DeleteFunc(slices.Clone(i.Ledgers()), func(l *ledger.Ledger) bool { return i.passedOn[l.Subject] })
}

// Threads returns the looks at the threads of all processes whose runtime has stacks that tell what a thread does. The first call
// reads them, which takes long; they are not to be changed, and only one goroutine at a time may use them.
func (i *Incident) Threads() *threads.Threads { return i.threads() }

// Ledger returns a subject's ledger, nil if it has no requests.
func (i *Incident) Ledger(s evidence.SubjectID) *ledger.Ledger {
	for _, l := range i.Ledgers() {
		if l.Subject == s {
			return l
		}
	}
	return nil
}

// baselineLimits returns how long requests of each route took in the baseline, when the service was healthy; nil
// without a baseline.
func (i *Incident) baselineLimits() ledger.Baseline {
	if i.Baseline == nil {
		return nil
	}
	out := ledger.BaselineOf(i.Baseline.Bundle, ledger.Options{Stacks: platform.Stacks(), Joined: i.Baseline.joined, OnThreads: onThreads})
	if len(out) == 0 {
		i.Bundle.Warnf(0, "the baseline holds too few requests to say what is slow: give one with an access log or a trace")
	}
	return out
}

func unixNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func onThreads(runtime string) bool { return platform.ByID(runtime).OnThreads() }
