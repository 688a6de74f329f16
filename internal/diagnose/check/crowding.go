package check

import (
	"net/netip"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Crowding is a host whose CPUs other processes fill, so that ready threads wait for a CPU: threads of the process, and those
// of programs on the same host that it calls.
type Crowding struct {
	*metrics.Host
	Denied    float64 // of the time in which threads of the process were ready or ran, the part in which they were ready
	Unread    int64   // ns of slow time in which requests waited for the process's threads while these waited for CPUs that others used
	Answerers int64   // ns of slow time in which called programs did not run because others used the CPUs
	Late      int64   // ns of slow time in which answers were on their way to clients of this host
	Origin    evidence.Origin

	lacks map[evidence.NameID]float64 // by called program: the part of calls' time in which it was ready and did not run
}

var (
	// CrowdedHost is the used part of the host's CPUs from which woken threads have to wait.
	CrowdedHost = Threshold{Name: "share of the host's CPUs from which a thread that wakes up waits for one", Value: .9, Unit: "1",
		Why: "an answer is then read late", Source: "M/M/1: ρ/(1−ρ) is 9 at 90 %"}
	// CrowdedBy is the part of that use that must be other processes'.
	CrowdedBy = Threshold{Name: "share of the busy CPUs that other processes use, from which they are what fills the host", Value: .5, Unit: "1",
		Why: "they use more than the process and whom it calls", Source: "arithmetic: more than half"}
)

// crowd holds a Crowding, nil where there is none.
type crowd struct{ *Crowding }

// Crowding returns how other processes crowd the host while requests are served; nil if they do
// not fill it.
func (c *Case) Crowding() *Crowding { return Once(c, readCrowd).Crowding }

func readCrowd(c *Case) (none crowd) {
	if c.Ledger == nil || c.Ledger.To <= c.Ledger.From {
		return none
	}
	w := c.ledgerWindow()
	x := &Crowding{Host: metrics.HostOf(c.Bundle, c.Subject, w), lacks: make(map[evidence.NameID]float64)}
	if !x.Busy.MostlyKnown() || x.Taken() < CrowdedHost.Value*x.CPUs {
		return none
	}
	own := metrics.ProcessOf(c.Bundle, c.Subject, w)
	if own.RunDelay.MostlyKnown() && own.CPU.MostlyKnown() && own.RunDelay.Number > 0 {
		x.Denied, x.Origin = own.RunDelay.Number/(own.RunDelay.Number+own.CPU.Number), own.RunDelay.Origin
	}
	strangers := x.Others.Number
	for address, calls := range c.underWay() {
		a, known := metrics.AnswererAt(c.Bundle, addressIn(c.Bundle.Names.Text(address)), w)
		if !known {
			continue
		}
		strangers -= a.Ran
		x.lacks[address] = min(1, a.Ready/max(calls, a.Ready))
	}
	if strangers < CrowdedBy.Value*x.Busy.Number {
		return none
	}
	// A process with work for all CPUs that waits longer than it runs: whatever waits for its turn there waits for CPUs.
	cpus, queued := float64(c.Bundle.CPUsOf(c.Subject)), int64(0)
	for _, e := range c.Ledger.Entries {
		if e.Mechanism == ledger.Queued && e.Detail != 0 {
			queued += e.Ns
		}
	}
	backlog := x.Denied >= CrowdedBy.Value && cpus > 0 && own.CPU.Number+own.RunDelay.Number >= FullCPUs.Value*cpus &&
		float64(queued) >= Material.Value*float64(c.Ledger.Total)
	for _, e := range c.Ledger.Entries {
		switch kind := c.Bundle.Names.Wait(e.Detail).Kind; {
		case e.Mechanism == ledger.Dependency:
			x.Answerers += int64(float64(e.Ns) * x.Lacks(e.Detail))
		case e.Mechanism == ledger.Queued && (kind == evidence.ArrivedAt || kind == evidence.UnreadAt),
			e.Mechanism == ledger.PoolThread && kind == evidence.EventLoop:
			x.Unread += int64(float64(e.Ns) * x.Denied)
		case backlog && (e.Mechanism == ledger.Unobserved || e.Mechanism == ledger.Queued && e.Detail != 0):
			x.Unread += int64(float64(e.Ns) * x.Denied)
		case e.Mechanism == ledger.Delivery:
			x.Late += e.Ns
		}
	}
	return crowd{x}
}

// CalledProcessors returns how many CPUs the programs of this host use, on average, that requests call; 0 where none is
// known.
func (c *Case) CalledProcessors() (cpus float64) {
	w := c.ledgerWindow()
	for address := range c.underWay() {
		if a, known := metrics.AnswererAt(c.Bundle, addressIn(c.Bundle.Names.Text(address)), w); known {
			cpus += a.Ran
		}
	}
	return cpus
}

// Lacks returns the part of the time of calls to a program of this host in which that program was
// ready and did not run; 0 if that is not known.
func (x *Crowding) Lacks(called evidence.NameID) float64 {
	if x == nil {
		return 0
	}
	return x.lacks[called]
}

// Share returns the part of slow time in which requests waited for a program that lacked a CPU.
// Clients count only where they call the service at a loopback address and so run on the same
// host.
func (x *Crowding) Share(c *Case) float64 {
	if x == nil {
		return 0
	}
	ns := x.Unread + x.Answerers
	if at, err := netip.ParseAddrPort(c.Bundle.Subjects[c.Subject].Address); err == nil && at.Addr().IsLoopback() {
		ns += x.Late
	}
	return float64(ns) / float64(max(1, c.Ledger.Total))
}

// LackOf returns the part of the time slow requests spent in calls in which the called programs
// were ready and did not run.
func (x *Crowding) LackOf(c *Case) float64 {
	all := c.Ledger.Charges[ledger.Dependency]
	if x == nil || all == 0 {
		return 0
	}
	return float64(x.Answerers) / float64(all)
}

// underWay returns how many requests wait for each dependency, on average.
func (c *Case) underWay() map[evidence.NameID]float64 {
	l := c.Ledger
	rows := l.KnownRows()
	sum := make(map[evidence.NameID]float64)
	for _, row := range rows {
		l.Walk(row, func(_ int64, s evidence.Segment, ch *ledger.Charges) {
			if ns := ch[ledger.Dependency]; ns > 0 && s.Cause != 0 {
				sum[s.Cause] += float64(ns)
			}
		})
	}
	for id := range sum { // requests that were not followed wait in the same proportion
		sum[id] *= float64(len(l.Rows)) / float64(max(1, len(rows))) / float64(l.To-l.From)
	}
	return sum
}

// addressIn returns the address in the name of a dependency, "" if it has none: "PostgreSQL at
// 127.0.0.1:5432 (SELECT)", "unix:/run/app.sock".
func addressIn(name string) string {
	for word := range strings.FieldsSeq(name) {
		if _, err := netip.ParseAddrPort(word); err == nil || strings.HasPrefix(word, "unix:") {
			return word
		}
	}
	return ""
}
