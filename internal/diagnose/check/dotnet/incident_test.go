package dotnet

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

const (
	epoch  = int64(1_700_000_000e9)
	second = int64(1e9)
)

// incident is what was recorded of a service on .NET for ten seconds. Zero is: not
// recorded.
type incident struct {
	version string
	cores   int

	threads  []float64 // of the pool, by second, as a counter
	process  []float64 // all of the process's, as /proc has them
	cpu      float64   // percent of all processors
	queue    float64
	spike    float64 // the queue in one of the seconds
	timers   []float64
	inFlight float64
	reasons  []string // for which the runtime added a thread, one each quarter of a second
	paused   float64  // share of the time in the collector's pauses
	beside   bool     // gen 2 is collected in the background all the time
	ended    float64  // s: when that is over; 0: at the end
	locks    float64  // contended per second, as a counter
	others   float64  // cores that others on the host use, as /proc has them
	ready    float64  // threads of the process that wait for a processor

	stacks []stack // what threads were seen doing, in each burst
	dump   bool    // the stacks are of a text: one look, of no known time

	waits    int // contention events: threads waiting for a lock all the time
	requests []request
	observed bool // by a sampling profiler: their states are known
}

// stack is how many threads did the same, in the first and the last burst.
type stack struct {
	from, to int
	frames   []string
}

type request struct {
	n         int
	at, dur   float64 // s
	unended   bool
	kind      evidence.Kind
	separated bool // one after the other, not all at once
}

const dispatch = "System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()"

var (
	result = []string{
		"System.Private.CoreLib!System.Threading.ManualResetEventSlim.Wait(int32,value class System.Threading.CancellationToken)",
		"System.Private.CoreLib!System.Threading.Tasks.Task.SpinThenBlockingWait(int32,value class System.Threading.CancellationToken)",
		"System.Private.CoreLib!System.Threading.Tasks.Task.InternalWaitCore(int32,value class System.Threading.CancellationToken)",
		"System.Private.CoreLib!System.Threading.Tasks.Task`1[System.__Canon].GetResultCore(bool)",
		"Shop!Shop.Controllers.CartController.Get()",
		"Microsoft.AspNetCore.Mvc.Core!Microsoft.AspNetCore.Mvc.Infrastructure.ControllerActionInvoker.InvokeActionMethodAsync()",
		dispatch,
	}
	sleep = []string{
		"System.Private.CoreLib!System.Threading.Thread.Sleep(int32)",
		"Shop!Shop.Controllers.CartController.Poll()",
		dispatch,
	}
	lock = []string{
		"System.Private.CoreLib!System.Threading.Monitor.Enter(class System.Object,bool&)",
		"Shop!Shop.Ledger.Append(int32)",
		"Shop!Shop.Controllers.CartController.Add()",
		dispatch,
	}
	hidden = []string{ // Thread.Sleep of .NET Core 3.1
		"[Native Frames]",
		"Shop!Shop.Controllers.CartController.Poll()",
		"System.Private.CoreLib!System.Threading._ThreadPoolWaitCallback.PerformWaitCallback()",
	}
	held = []string{
		"System.Private.CoreLib!System.Threading.Thread.Sleep(int32)",
		"Shop!Shop.Ledger.Append(int32)",
		"Shop!Shop.Controllers.CartController.Add()",
		dispatch,
	}
	socket = []string{
		"[Native Frames]",
		"System.Net.Sockets!System.Net.Sockets.Socket.Receive(unsigned int8[],int32,int32,value class System.Net.Sockets.SocketFlags)",
		"System.Net.Sockets!System.Net.Sockets.NetworkStream.Read(unsigned int8[],int32,int32)",
		"Shop!Shop.DocumentStore.ReadLength()",
		dispatch,
	}
	consumer = []string{
		"System.Private.CoreLib!System.Threading.SemaphoreSlim.Wait(int32,value class System.Threading.CancellationToken)",
		"System.Collections.Concurrent!System.Collections.Concurrent.BlockingCollection`1[System.Int32].TryTakeWithNoTimeValidation(!0&,int32,value class System.Threading.CancellationToken,class System.Threading.CancellationTokenSource)",
		"System.Collections.Concurrent!System.Collections.Concurrent.BlockingCollection`1+<GetConsumingEnumerable>d__68[System.Int32].MoveNext()",
		"Shop!Shop.Sorter.Sort()",
		"System.Private.CoreLib!System.Threading.Tasks.Task.ExecuteWithThreadLocal(class System.Threading.Tasks.Task&,class System.Threading.Thread)",
		dispatch,
	}
	works = []string{
		"Shop!Shop.Price.Sum(int32)",
		"Shop!Shop.Controllers.CartController.Sum()",
		dispatch,
	}
	idle = []string{
		"System.Private.CoreLib!System.Threading.LowLevelLifoSemaphore.WaitForSignal(int32)",
		"System.Private.CoreLib!System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()",
	}
)

// ramp grows by a step a second.
func ramp(from, step float64) (out []float64) {
	for i := range 11 {
		out = append(out, from+step*float64(i))
	}
	return out
}

func flat(v float64) []float64 { return ramp(v, 0) }

func (in incident) subject(t *testing.T) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "shop.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", Name: "Shop", PID: 4711, Version: in.version, CPUs: in.cores})
	until := epoch + 10*second
	series := func(name string, v []float64) {
		x := evidence.Series{Subject: s, Name: name, Origin: p.Origin(1)}
		for i := range v {
			x.T, x.V = append(x.T, epoch+int64(i)*second), append(x.V, v[i])
		}
		if len(v) > 0 {
			p.Series(x)
		}
	}
	constant := func(name string, v float64) {
		if v > 0 {
			series(name, flat(v))
		}
	}
	series(evidence.SeriesPoolThreads, in.threads)
	series("process.threads", in.process)
	series(evidence.SeriesTimers, in.timers)
	constant(evidence.SeriesCPU, in.cpu)
	constant(evidence.SeriesPoolQueue, in.queue)
	if in.spike > 0 {
		queue := flat(0)
		queue[5] = in.spike
		series(evidence.SeriesPoolQueue, queue)
	}
	constant(evidence.SeriesRequestsInFlight, in.inFlight)
	constant(evidence.SeriesContentions, in.locks)
	constant(evidence.SeriesProcessRunDelay, in.ready)
	if in.others > 0 {
		cores := float64(in.cores) * in.cpu / 100
		constant(evidence.SeriesProcessCPU, cores)
		self := s
		s = p.Subject(evidence.Subject{Kind: evidence.Host, CPUs: in.cores})
		constant(evidence.SeriesHostCPUBusy, cores+in.others)
		s = self
	}
	for i, reason := range in.reasons {
		at := epoch + int64(i)*second/4
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.PoolAdjusted, Start: at, End: at, Cause: p.Name(reason), Origin: p.Origin(int64(i + 1)),
			Extra: []evidence.Extra{{Key: evidence.PoolThreads, Value: float64(in.cores + 1 + i)}}})
	}
	if in.paused > 0 {
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: epoch, End: epoch + int64(in.paused*float64(10*second)), Origin: p.Origin(1)})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: epoch, Until: until})
	}
	if in.beside {
		ended := until
		if in.ended > 0 {
			ended = epoch + int64(in.ended*float64(second))
		}
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: epoch, End: ended, Extra: []evidence.Extra{{Key: evidence.Generation, Value: 2}, {Key: evidence.CollectionKind, Value: float64(evidence.CollectionBackground)}}, Origin: p.Origin(1)})
	}
	in.looks(p, s)
	for i := range in.waits {
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.LaneID(100 + i), Kind: evidence.LockWait, Start: epoch, End: until, Stack: frames(p, lock), Holder: 99, Origin: p.Origin(int64(i + 1))})
	}
	if in.waits > 0 {
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverWaits, From: epoch, Until: until})
	}
	in.requested(p, s)
	p.Close()
	c := &check.Case{Bundle: b, Subject: s}
	if l := ledger.Build(b, ledger.Options{}); len(l) > 0 {
		c.Ledger = l[0]
	}
	return c
}

func frames(p *evidence.Builder, names []string) evidence.StackID {
	var out []evidence.Frame
	for _, n := range names {
		out = append(out, evidence.Frame{Func: p.Name(n)})
	}
	return p.Stack(out)
}

// looks adds a burst of stacks each second.
func (in incident) looks(p *evidence.Builder, s evidence.SubjectID) {
	bursts := int64(10)
	if in.dump {
		bursts = 1
	}
	for burst := range bursts {
		lane := evidence.LaneID(99)
		for _, k := range in.stacks {
			n := k.from + (k.to-k.from)*int(burst)/9
			if in.dump {
				n = k.to
			}
			for range n {
				at := epoch + burst*second + int64(lane)
				if in.dump {
					at = 0
				}
				p.Sample(evidence.Sample{Subject: s, Time: at, Lane: lane, Stack: frames(p, k.frames), Type: p.Name("thread"), Unit: p.Name("count"), Value: 1, Origin: p.Origin(int64(lane))})
				lane++
			}
		}
	}
}

func (in incident) requested(p *evidence.Builder, s evidence.SubjectID) {
	for _, q := range in.requests {
		for i := range q.n {
			at := epoch + int64(q.at*1e9)
			if q.separated {
				at += int64(i) * int64(q.dur*1.1e9)
			}
			r := evidence.Request{Subject: s, Route: p.Name("GET /cart"), Lane: evidence.LaneID(100 + i), Start: at, End: at + int64(q.dur*1e9)}
			if q.unended {
				r.Outcome = evidence.Unfinished
			}
			if in.observed {
				own := min(r.End-r.Start, 2e6)
				r.Path = evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: own}).
					Append(evidence.Segment{Kind: q.kind, Dur: r.End - r.Start - own, Cause: p.Name("CartController.Get .Result")})
			}
			p.Request(r)
		}
	}
	if len(in.requests) > 0 {
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: epoch, Until: epoch + 10*second})
	}
	if in.observed {
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverStates, From: epoch, Until: epoch + 10*second, Sampled: 1e6})
	}
}

// said is all that a verdict says.
func said(v check.Verdict) string {
	all := []string{v.State, v.Title, v.Summary}
	for _, e := range v.Evidence {
		all = append(all, e.Text)
	}
	for _, n := range v.Needs {
		all = append(all, n.String())
	}
	for _, f := range v.Fix {
		all = append(all, f.Text, f.Setting, f.Code)
	}
	return strings.Join(all, "\n")
}
