package threadpool

import (
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Process is a .NET process as recorded: the threads of its pool and what they were seen
// doing, the processors they run on, and its requests where there are any.
type Process struct {
	Bundle  *evidence.Bundle
	Subject evidence.SubjectID
	Ledger  *ledger.Ledger // nil: there are no requests
	*metrics.ThreadPool
	Climb  metrics.Climb    // of its threads
	Stacks *threads.Threads // looks at all threads
	Cores  float64          // processors the runtime schedules on, 0 unknown
	CPU    float64          // share of them that was in use, NaN unknown
	Used   evidence.Origin  // of CPU
	Then   float64          // share in use while work waits for a thread, weighted by the work that waits; NaN unknown, or no work waited
	still  bool             // threads in native code wait, too
}

// ProcessOf reads a process's pool beside its requests, and looks at its threads.
func ProcessOf(b *evidence.Bundle, subject evidence.SubjectID, l *ledger.Ledger, looks *threads.Threads) *Process {
	p := &Process{Bundle: b, Subject: subject, Ledger: l, Cores: coresOf(b, subject), CPU: math.NaN(), Then: math.NaN(), Stacks: looks}
	p.ThreadPool = metrics.ThreadPoolOf(b, p.Stacks, subject, p.requestWindow())
	p.Climb = p.Threads.Climb()
	if k := p.Counter(evidence.SeriesCPU); k.Known() {
		p.CPU, p.Used = k.Mean()/100, k.Origin
		p.Then = p.whileQueued(k)
	} else if p.Cores > 0 {
		w := metrics.Whole
		if p.Threads.Span() > 0 {
			w = p.Threads.Window() // when the pool was watched
		}
		if v := metrics.ProcessOf(b, subject, w).CPU; v.Known() {
			p.CPU, p.Used = v.Number/p.Cores, v.Origin
		}
	}
	p.still = p.Cores > 0 && p.nativeStands()
	return p
}

// whileQueued is the share of the processors in use while work waits for a thread.
func (p *Process) whileQueued(cpu *metrics.Curve) float64 {
	var sum, items float64
	if p.Queue.Known() {
		for i, n := range p.Queue.V {
			sum, items = sum+n*cpu.At(p.Queue.T[i])/100, items+n
		}
	}
	return sum / items
}

// requestWindow returns the time of the requests that the ledger charges; without any, nothing.
func (p *Process) requestWindow() metrics.Window {
	if p.Ledger == nil {
		return metrics.Window{}
	}
	return metrics.Window{From: p.Ledger.From, Until: p.Ledger.To}
}

// Counter is a figure of the process over time.
func (p *Process) Counter(name string) *metrics.Curve {
	return metrics.CurveOf(p.Bundle, p.Subject, name, p.requestWindow())
}

// Fact is what the artifact of the requests says, else what any other does.
func (p *Process) Fact(key string) (evidence.Fact, bool) {
	source := evidence.ArtifactID(-1)
	if p.Ledger != nil {
		source = p.Ledger.Source
	}
	return p.Bundle.FactFrom(source, p.Subject, key)
}

func coresOf(b *evidence.Bundle, subject evidence.SubjectID) float64 {
	if n := b.Subjects[subject].CPUs; n > 0 {
		return float64(n)
	}
	for _, s := range b.Subjects {
		if s.Kind == evidence.Host && s.CPUs > 0 {
			return float64(s.CPUs)
		}
	}
	return 0
}

// Watched says whether anything is known of the pool's threads.
func (p *Process) Watched() bool { return p.Threads.Known() || p.Worst != nil }

// saturated is the share of the processors in use from which waiting work waits for a processor.
const saturated = .9

// Busy says whether the processors are saturated, always or while work waits for a thread.
func (p *Process) Busy() bool { return p.CPU >= saturated || p.Queued() && p.Then >= saturated }

// isHostFull says whether the processes of the host, others included, use up its processors.
func (p *Process) isHostFull() bool {
	h := metrics.HostOf(p.Bundle, p.Subject, metrics.Whole)
	return h.Busy.Number >= saturated*h.CPUs
}

// Starved says whether ready threads wait for processors that other processes of the host use up. The pool's queue then stands still
// although none of its threads is blocked, and the runtime adds threads as if one were.
func (p *Process) Starved() bool {
	waits := metrics.ProcessOf(p.Bundle, p.Subject, metrics.Whole).RunDelay
	return p.isHostFull() && waits.MostlyKnown() && waits.Number >= 1
}

// Growth from which a pool counts as climbing. The size of a pool with enough threads changes by one or two.
const (
	climbLeast = 3
	climbRate  = .2 // per second
)

// Grows says whether the pool is given threads one by one, for whatever reason.
func (p *Process) Grows() bool {
	return p.Climb.To-p.Climb.From >= climbLeast && p.Climb.Rate >= climbRate
}

// Climbs says whether the pool was given threads one by one because those it had were
// blocked. Where the runtime tells why it adds them, it must be for that.
func (p *Process) Climbs() bool {
	return p.Blocked() >= climbLeast || p.Grows() && (len(p.Raised) == 0 || p.Blocked() > 0)
}

// Above says whether n threads are more than a pool of this many processors needs.
func (p *Process) Above(n float64) bool { return p.Cores > 0 && n > metrics.ManyThreads*p.Cores }

// Queued says whether work waits for a thread, in the mean.
func (p *Process) Queued() bool { return p.Queue.Known() && p.Queue.Mean() >= 1 }

// usedUp is the part of the pool's threads with work from which no thread is left for more: some may just have ended their work, or not
// begun it.
const usedUp = .9

// Short says whether on average at least items work items wait for a thread, and all threads of the pool had work at the busiest moment. If
// a thread had none then, it would have taken the work: the queue is of a moment in which nothing ran at all.
func (p *Process) Short(items float64) bool {
	if !p.Queue.Known() || p.Queue.Mean() < items {
		return false
	}
	return p.Worst == nil || float64(p.Worst.Busy) >= usedUp*float64(p.Worst.Pool)
}

// Release is the number of .NET's version before the first point.
func (p *Process) Release() (int, bool) { return Release(p.Bundle.Subjects[p.Subject].Version) }

// Release is the major version of .NET, 9 of "9.0.7"; false where that is not known.
func Release(version string) (int, bool) {
	first, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(first)
	return n, err == nil
}

// InFlight is how many requests were at once in the service, or on their way to it: as
// clients count them, else what the pool's threads held and what waited for one when the
// recording ended, else as the server counts those it has begun; 0 unknown.
func (p *Process) InFlight() (n float64, origin evidence.Origin) {
	if at := metrics.Clients(p.Bundle, p.Subject); at.Known() {
		return at.Number, at.Origin
	}
	held := float64(p.Standing())
	if p.Worst == nil {
		held = p.Size()
	}
	if k := p.Counter(evidence.SeriesRequestsInFlight); k.Known() {
		n, origin = k.Last(), k.Origin
	} else if l := p.Ledger; l != nil {
		n, origin = float64(l.Requests.Unfinished), evidence.NewOrigin(l.Requests.Source, 0)
	}
	// A server that begins requests without a thread counts those that are queued, too.
	if q := p.Queue; p.Queued() && n < held+q.Mean()/2 {
		n, origin = held+max(q.Last(), q.Mean()), q.Origin
	}
	return n, origin
}
