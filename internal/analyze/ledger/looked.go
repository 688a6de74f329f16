package ledger

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// denials tell how much of the time in which a process's threads would have run the host did not run them. Looks at the goroutines of requests,
// from outside, show that these run or are ready, and not whether their thread has a processor.
type denials struct{ cells []denial }

// denial is the time between two readings.
type denial struct {
	from, to int64
	part     float64 // of the time that the threads ran or were ready: they were ready
	own      float64 // of that, the part while the process's own threads held the processors
	unread   float64 // of the time in which a request had arrived and was not read, the part in which a thread can have been ready
}

// buildDenials returns nil unless goroutines were looked at from outside.
func (l *Ledger) buildDenials() *denials {
	if len(l.b.Covered(l.Subject, evidence.CoverStates)) > 0 || !slices.ContainsFunc(l.b.Covered(l.Subject, evidence.CoverExchanges), func(c evidence.Coverage) bool { return c.Sampled > 0 }) {
		return nil
	}
	w := metrics.Window{From: l.From, Until: l.To}
	waits, used := metrics.RunDelay(l.b, l.Subject, w), metrics.ProcessorTime(l.b, l.Subject, w)
	d := &denials{}
	if !waits.Known() || !used.Known() {
		return d
	}
	host, unread, stopped := metrics.HostOf(l.b, l.Subject, w), l.unreadTimes(), metrics.ThrottledQueues(l.b, l.Subject, w)
	for i := range len(waits.T) - 1 {
		c := denial{from: waits.T[i], to: waits.T[i+1], own: 1}
		at := metrics.Window{From: c.from, Until: c.to}
		ran := used.Over(at)
		if c.to <= c.from || !ran.Known() || ran.Number+waits.V[i] <= 0 {
			continue
		}
		c.part = waits.V[i] / (waits.V[i] + ran.Number)
		if ns := unread.Within(c.from, c.to); ns > 0 {
			c.unread = min(1, waits.V[i]*float64(c.to-c.from)/float64(ns))
		}
		if others := host.OthersOver(at); others.Known() && ran.Number+others.Number > 0 {
			c.own = ran.Number / (ran.Number + others.Number)
		}
		if quota := stopped.Over(at); quota.Known() && quota.Number > 0 { // it stops all threads, whoever had the CPUs before
			c.own = 0
		}
		d.cells = append(d.cells, c)
	}
	return d
}

// unreadTimes returns when requests had arrived that were not read.
func (l *Ledger) unreadTimes() (unread metrics.Spans) {
	var all []metrics.Span
	for _, row := range l.Rows {
		at := l.sentAt(row)
		for s := range l.b.Requests.Path(row).All {
			if s.Kind == evidence.BeforeService && s.Dur >= shortUnread && l.isWaitOf(s.Cause, evidence.ArrivedAt) {
				all = append(all, metrics.Span{From: at, To: at + s.Dur})
			}
			at += s.Dur
		}
	}
	slices.SortFunc(all, func(a, b metrics.Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range all {
		unread = unread.Add(s.From, s.To)
	}
	return unread
}

func deniedWork(c *denial) float64 { return c.part }

func deniedReading(c *denial) float64 { return c.unread }

// split returns the parts of a stretch in which threads that would have run had no processor, by a part of each cell: behind the process's own
// threads, and behind others.
func (d *denials) split(at, dur int64, part func(*denial) float64) (behind, others float64) {
	var known, own, all float64
	i, _ := slices.BinarySearchFunc(d.cells, at, func(c denial, t int64) int { return cmp.Compare(c.to, t) })
	for ; i < len(d.cells) && d.cells[i].from < at+dur; i++ {
		c := &d.cells[i]
		ns := float64(min(c.to, at+dur) - max(c.from, at))
		known += ns
		all += part(c) * ns
		own += part(c) * c.own * ns
	}
	if known <= 0 {
		return 0, 0
	}
	return own / known, (all - own) / known
}

// chargeLooked charges a stretch in which a look met the request's goroutine running, or ready behind others of its program.
func (w *walker) chargeLooked(f *freeTime) {
	behind, others := w.l.denied.split(f.at, f.s.Dur, deniedWork)
	w.c = Charges{HostCPU: int64(others * float64(f.s.Dur))}
	if f.s.Kind == evidence.Running {
		w.c[RequestsCPU] = int64(behind * float64(f.s.Dur))
		w.c[Own] = f.s.Dur - w.c[RequestsCPU] - w.c[HostCPU]
	} else {
		w.c[RequestsCPU] = f.s.Dur - w.c[HostCPU]
	}
	w.takeAll(f)
}

// chargeDeniedReading charges the part of a stretch in which a request was unread while a thread was ready, as any thread of a Go program may read it.
func (w *walker) chargeDeniedReading(f *freeTime) {
	behind, others := w.l.denied.split(f.at, f.s.Dur, deniedReading)
	w.c = Charges{RequestsCPU: int64(behind * float64(f.s.Dur)), HostCPU: int64(others * float64(f.s.Dur))}
	w.c[Queued] = f.s.Dur - w.c[RequestsCPU] - w.c[HostCPU]
	w.takeAll(f)
}
