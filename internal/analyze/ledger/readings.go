package ledger

import (
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/base/evidence"
)

// input is what a ledger is made of besides the bundle: the requests by source, and the options.
type input struct {
	sources map[evidence.ArtifactID][]int
	widest  evidence.ArtifactID // the source that saw most requests
	opt     Options
}

// reading is one step by which a ledger learns what [Pass]es need. Readings run in the order of their list: each may use
// what earlier ones found.
type reading struct {
	about string
	of    func(l *Ledger) bool // the ledgers it applies to; nil: all
	read  func(l *Ledger, in *input)
}

func isTraced(l *Ledger) bool   { return l.Traced }
func isUntraced(l *Ledger) bool { return !l.Traced }
func byLooks(l *Ledger) bool    { return !l.Traced && l.Sampled }

var readings []reading

func init() { // in init because some readings walk through requests, which needs all that was read
	readings = []reading{
		{"the requests that are charged, and figures of all", nil, (*Ledger).choosePopulation},
		{"pauses, and what the recorder held", nil, func(l *Ledger, _ *input) {
			l.stops, l.holds = stopsOf(l.b, l.Subject, l.b.Requests.Clock.At(l.Rows[0])), holdsOf(l.b, l.Subject)
		}},
		{"whether states were looked at now and then, and waits in the kernel", isTraced, func(l *Ledger, _ *input) {
			l.Sampled, l.kernel = l.hasSampledStates(), l.kernelWaitsOf()
		}},
		{"the host's share", isTraced, func(l *Ledger, _ *input) { l.Host = l.hostShare() }},
		{"queues outside the service", nil, func(l *Ledger, _ *input) {
			l.byKernel = sightings.SideOf(l.b, l.Rows[0]) == sightings.ByKernel
			l.entrance = l.entranceOf()
			l.queued = l.buildPoolQueue()
			l.ownCPUs = l.ownCPUShare()
			l.Unread = l.unreadBusy()
			l.collector = l.collectorShare()
		}},
		{"looks at goroutines from outside", nil, func(l *Ledger, _ *input) {
			l.denied = l.buildDenials()
			if l.Looked = l.denied != nil; l.Looked {
				l.kernel = l.kernelWaitsOf()
			}
		}},
		{"timers of event loops", nil, func(l *Ledger, _ *input) { l.timers = l.loopTimersOf() }},
		{"what is awaited", nil, func(l *Ledger, in *input) {
			l.awaiteds = l.awaitShares(in.opt.Threads)
			l.awaitGate = l.gatedAwaits()
		}},
		{"stalls, and what threads did", isUntraced, func(l *Ledger, in *input) {
			l.withheld = metrics.WithheldFrom(l.b, l.Subject, l.stops.stoppedSpans())
			l.stalled = l.buildAllocStalls()
			l.occupancy = l.buildOccupancy(in.opt.Threads)
			l.Sampled = l.occupancy != nil
		}},
		{"run queues and CPU clocks of threads", byLooks, func(l *Ledger, in *input) {
			l.inside = l.insideFloors(in.sources)
			l.ready = l.buildRunQueue()
			l.clock = l.byClock(in.opt.Threads)
		}},
		{"the replay of the queue", nil, func(l *Ledger, _ *input) { l.runReplay() }},
		{"which requests are slow", nil, func(l *Ledger, in *input) {
			l.findSlow(in.opt.SLO, in.opt.Baseline)
			l.onlyRecorded()
		}},
		{"requests like these", nil, func(l *Ledger, in *input) {
			l.alike = l.buildSimilarRequests(in.opt.Threads)
			l.sample = l.sampleTraced()
			l.occupancy.sumLooksByKind(l)
		}},
		{"the charges", nil, func(l *Ledger, _ *input) { l.chargeSlow() }},
		{"whether a CPU quota stopped it", nil, func(l *Ledger, _ *input) { l.quota = l.Charges[HostCPU] > 0 && l.isStoppedByQuota(l.Slow...) }},
		{"which of all requests are slow", nil, func(l *Ledger, in *input) { l.All = l.findSlowOfAll(in.sources[in.widest], in.opt) }},
	}
}

// choosePopulation picks the requests and sums them up.
func (l *Ledger) choosePopulation(in *input) {
	in.widest = l.chooseRequests(in.sources, in.opt)
	l.others = l.othersServed()
	l.Requests = l.summarizeRequests(in.widest, in.sources[in.widest])
	l.From, l.To = l.Requests.From, l.Requests.To
	if l.Source != in.widest {
		s := l.summarizeRequests(l.Source, l.Rows)
		l.From, l.To = s.From, s.To
	}
}
