package ledger

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// BusyWhileUnread is how full the process kept its processors, by the kernel's CPU clock, while data for it had arrived
// that no thread read, or requests waited in the queue of the runtime's pool: the thread that would take them then waits for a processor. A clock that ticks every 10 ms says nothing of a
// single wait, but of all of them together.
type BusyWhileUnread struct {
	Part float64 // of the processors
	CPUs int
}

// Thresholds for the clock to tell what unread data waited for.
const (
	fullUnread  = .75        // part of the processors busy, at least: then nothing else keeps the data from being read
	fewUnread   = 20         // samples of the clock within the waits, at least
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
	for i := range x.Len() {
		if on != 0 && x.Type[i] == on && x.Subject[i] == l.Subject {
			at = append(at, x.Time[i])
			period = max(period, x.Value[i])
		}
	}
	if len(at) == 0 {
		if l.ownCPUs >= overloadedFrom { // always, and so then
			return &BusyWhileUnread{Part: l.ownCPUs, CPUs: cores}
		}
		return nil
	}
	slices.Sort(at)
	var waited int64
	samples := 0
	for _, row := range l.Rows {
		from := l.sentAt(row)
		var s evidence.Segment
		for p := l.b.Requests.Path(row); p.Next(&s); from += s.Dur {
			if s.Dur >= shortUnread && l.waitsForThread(&s, from) {
				waited += s.Dur
				samples += countBefore(at, from+s.Dur) - countBefore(at, from)
			}
		}
	}
	if samples < fewUnread || waited == 0 {
		return nil
	}
	part := float64(samples) * float64(period) / (float64(waited) * float64(cores))
	if part < fullUnread {
		return nil
	}
	return &BusyWhileUnread{Part: min(part, 1), CPUs: cores}
}
