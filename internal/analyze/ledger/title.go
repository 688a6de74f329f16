package ledger

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Titles of waits for a CPU where more is known than the mechanism says, or less.
const (
	behindOwn = "runnable, CPU busy in this process" // counters do not tell requests from background work
	byQuota   = "runnable, stopped by the CPU quota"
)

// TitleOf is [Mechanism.TitleOf] for the requests of this ledger: it says what kept ready threads from running as far as the evidence
// tells that.
func (l *Ledger) TitleOf(m Mechanism, lanes string) string { return l.chooseTitle(m, lanes, l.quota) }

// TitleAt is [Mechanism.TitleAt] for the requests of this ledger.
func (l *Ledger) TitleAt(m Mechanism, lanes string, what evidence.Wait) string {
	if title := m.TitleAt(lanes, what); title == InKernel {
		return title
	}
	return l.TitleOf(m, lanes)
}

// TitleFor is [Ledger.TitleOf] for one request.
func (l *Ledger) TitleFor(row int, m Mechanism, lanes string) string {
	return l.chooseTitle(m, lanes, m == HostCPU && l.isStoppedByQuota(row))
}

func (l *Ledger) chooseTitle(m Mechanism, lanes string, quota bool) string {
	switch {
	case m == RequestsCPU && (!l.Traced || l.Sampled):
		return behindOwn
	case m == HostCPU && quota:
		return byQuota
	}
	return m.TitleOf(lanes)
}

// isStoppedByQuota reports whether most of the time that ready threads of requests had no CPU lies between readings of the quota's counters in
// which it stopped the process.
func (l *Ledger) isStoppedByQuota(rows ...int) bool {
	curve := metrics.ThrottledQueues(l.b, l.Subject, metrics.Whole)
	if !curve.Known() {
		return false
	}
	var stopped metrics.Spans
	for i := range len(curve.T) - 1 {
		if curve.V[i] > 0 {
			stopped = stopped.Add(curve.T[i], curve.T[i+1])
		}
	}
	if len(stopped) == 0 {
		return false
	}
	var within, all int64
	for _, row := range rows {
		l.Walk(row, func(at int64, s evidence.Segment, c *Charges) {
			ns := c[HostCPU]
			if ns <= 0 {
				return
			}
			all += ns
			if stopped.Within(at, at+max(1, s.Dur)) > 0 {
				within += ns
			}
		})
	}
	return all > 0 && 2*within >= all
}
