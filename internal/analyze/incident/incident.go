// Package incident is the way from artifacts to something that can be asked: it reads them
// into a bundle ([Read]), and makes of the bundle one incident ([Of]): descriptions of one
// process are one subject, all clocks are on one timeline, requests have the states in which
// their threads were seen, what lies outside the time asked for is left out, and a ledger
// says of each service where its requests' time went.
//
// Its opinion: nobody else unifies, aligns or attaches, so that no two answers about the same
// files can differ by a step left out. The bundle stays as it was read: it may be asked again
// and again, about other times, and with more artifacts read into it in between.
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

// Options are what the user decides. The zero value asks for all there is.
type Options struct {
	Since, Until time.Time        // zero: all there is
	SLO          time.Duration    // what counts as slow; 0: found from the requests
	Requests     []string         // artifacts that the figures about all requests are to come from
	Baseline     *evidence.Bundle // of when all was well; nil: none
}

// Incident is what was seen of one incident. Its bundle is its own: what is added to it is
// not in the one it was made of.
type Incident struct {
	Bundle   *evidence.Bundle
	Whole    metrics.Window // of all evidence that has a time, whatever was asked for; of a log without dates, since it began; zero: none
	Dated    bool           // Whole is in times of day
	Baseline *Incident      // of when all was well; nil: none

	opt      Options
	build    sync.Once
	ledgers  []*ledger.Ledger
	passedOn map[evidence.SubjectID]bool
	joined   []sightings.Joined
}

// Of makes an incident of a bundle, which it leaves as it is.
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
	if opt.Baseline != nil {
		i.Baseline = Of(opt.Baseline, Options{})
	}
	return i
}

// Normalize is what files hold: their processes are one where they are the same, clocks agree, and
// requests have the routes that all stacks together tell, but nothing else is worked out of one
// by another.
func Normalize(read *evidence.Bundle) *evidence.Bundle {
	b := read.Clone()
	b.Unify()
	b.Align()
	routes.Group(b)
	sightings.Unite(b)
	b.NameCode()
	metrics.CountWorkers(b, func(id string) bool { return platform.ByID(id).Master })
	threads.Adopt(b, platform.Stacks())
	routes.Name(b)
	routes.Match(b)
	return b
}

// Nothing says that none of the evidence lies in the time asked for.
func (i *Incident) Nothing() bool {
	return (!i.opt.Since.IsZero() || !i.opt.Until.IsZero()) && len(i.Bundle.Coverage) == 0
}

// Ledgers are those of the services with requests, made when they are asked for first.
func (i *Incident) Ledgers() []*ledger.Ledger {
	i.build.Do(func() {
		i.ledgers = ledger.Build(i.Bundle, ledger.Options{SLO: i.opt.SLO, Requests: i.opt.Requests, Baseline: i.baselineLimits(), Stacks: platform.Stacks(), Joined: i.joined, OnThreads: onThreads})
	})
	return i.ledgers
}

// Counted are the ledgers that together count each request once: without those of workers whose requests were followed
// from the service that passed them on.
func (i *Incident) Counted() []*ledger.Ledger {
	return slices.DeleteFunc(slices.Clone(i.Ledgers()), func(l *ledger.Ledger) bool { return i.passedOn[l.Subject] })
}

// Ledger is a subject's, nil without requests.
func (i *Incident) Ledger(s evidence.SubjectID) *ledger.Ledger {
	for _, l := range i.Ledgers() {
		if l.Subject == s {
			return l
		}
	}
	return nil
}

// baselineLimits returns what requests of each route took when all was well, by the baseline; nil
// where there is no baseline.
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
