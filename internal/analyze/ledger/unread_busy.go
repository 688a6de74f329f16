package ledger

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// BusyWhileUnread is how full the process kept its processors while data for it had arrived that no thread read, or requests waited in the
// queue of the runtime's pool: the thread that would take them then waits for a processor. The kernel's CPU clock tells it, which ticks every
// 10 ms, else the kernel's count of the process's CPU time, read a few times a second: neither says anything of a single wait, but each of
// all of them together.
type BusyWhileUnread struct {
	Part   float64 // of the processors
	CPUs   int
	Origin evidence.Origin // of the samples, or of the counts; zero: as of all
}

// Thresholds for the clock to tell what unread data waited for.
const (
	fullUnread  = .75        // part of the processors busy, at least: then nothing else keeps the data from being read
	fewUnread   = 20         // samples of the clock within the waits, at least
	longUnread  = int64(2e8) // ns of waits, at least, where only the process's CPU time was counted: as long as fewUnread samples
	shortUnread = int64(1e6) // ns: shorter waits are wake-ups
	mostQueued  = .5         // part of a state that a queue explains
)

// waitsForThread reports whether a request waits until a thread takes it up: its data are unread, or it is in the queue of the runtime's pool,
// for most of a state.
func (l *Ledger) waitsForThread(s *evidence.Segment, from int64) bool {
	switch s.Kind {
	case evidence.BeforeService:
		if l.isWaitOf(s.Cause, evidence.ArrivedAt) {
			return true
		}
		return s.Cause == 0 && (l.queued != nil && l.queued.meanShare(from, s.Dur) >= mostQueued || l.entrance.isUnread(from, s.Dur))
	case evidence.Unobserved:
		return !l.Traced && l.entrance.isUnread(from, s.Dur)
	case evidence.Awaiting:
		return l.queued != nil && l.queued.meanShare(from, s.Dur) >= mostQueued
	}
	return false
}

// collectorShare returns the part of the process's CPU time that its collector took, by a CPU profile; 0 where that is not known, or where a
// trace shows what ran on the CPUs that requests waited for.
func (l *Ledger) collectorShare() float64 {
	if l.Traced {
		return 0
	}
	p, ok := metrics.ProfileOf(l.b, l.Subject)
	if !ok || p.All <= 0 {
		return 0
	}
	return float64(p.GC) / float64(p.All)
}

// moveToCollector moves the collector's part of a wait for CPUs that the process itself keeps busy.
func (l *Ledger) moveToCollector(c *Charges) {
	part := int64(l.collector * float64(c[RequestsCPU]))
	c[RequestsCPU], c[CollectorCPU] = c[RequestsCPU]-part, c[CollectorCPU]+part
}

// unreadBusy returns nil where that is not known, or where the processors were not full.
func (l *Ledger) unreadBusy() *BusyWhileUnread {
	on, x, cores := l.b.Names.Lookup(evidence.SampleOnCPU), &l.b.Samples, l.b.CPUsOf(l.Subject)
	if cores == 0 {
		return nil
	}
	var at []int64
	var period int64
	var origin evidence.Origin
	for i := range x.Len() {
		if on != 0 && x.Type[i] == on && x.Subject[i] == l.Subject {
			at = append(at, x.Time[i])
			period, origin = max(period, x.Value[i]), x.Origin[i]
		}
	}
	if len(at) == 0 {
		if l.ownCPUs >= overloadedFrom { // always, and so then
			return &BusyWhileUnread{Part: l.ownCPUs, CPUs: cores}
		}
		return l.countedWhileUnread(cores)
	}
	slices.Sort(at)
	var waited int64
	samples := 0
	l.eachUnread(func(from, ns int64) {
		waited += ns
		samples += countBefore(at, from+ns) - countBefore(at, from)
	})
	if samples < fewUnread || waited == 0 {
		return nil
	}
	part := float64(samples) * float64(period) / (float64(waited) * float64(cores))
	if part < fullUnread {
		return nil
	}
	return &BusyWhileUnread{Part: min(part, 1), CPUs: cores, Origin: origin}
}

// eachUnread yields the waits of all requests until a thread takes them up.
func (l *Ledger) eachUnread(yield func(from, ns int64)) {
	for _, row := range l.Rows {
		from := l.sentAt(row)
		var s evidence.Segment
		for p := l.b.Requests.Path(row); p.Next(&s); from += s.Dur {
			if s.Dur >= shortUnread && l.waitsForThread(&s, from) {
				yield(from, s.Dur)
			}
		}
	}
}

// countedWhileUnread is [Ledger.unreadBusy] by the kernel's count of the process's CPU time, which is a mean between two readings.
func (l *Ledger) countedWhileUnread(cores int) *BusyWhileUnread {
	used := metrics.ProcessorTime(l.b, l.Subject, metrics.Window{From: l.From, Until: l.To})
	if !used.Known() {
		return nil
	}
	var waited, counted int64
	var busy float64 // ns of a processor
	l.eachUnread(func(from, ns int64) {
		waited += ns
		if v := used.Over(metrics.Window{From: from, Until: from + ns}); v.MostlyKnown() {
			counted += ns
			busy += v.Number * float64(ns)
		}
	})
	if counted < longUnread || 2*counted < waited {
		return nil
	}
	part := busy / (float64(counted) * float64(cores))
	if part < fullUnread {
		return nil
	}
	return &BusyWhileUnread{Part: min(part, 1), CPUs: cores, Origin: used.Origin}
}
