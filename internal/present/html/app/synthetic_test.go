package app

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// synthetic is a service whose collector takes half of its processors every so
// often: requests queue up behind each mark phase and drain after it, a sawtooth.
type synthetic struct {
	requests  int   // points
	each      int   // requests a point stands for
	intervals int   // in bands
	slow      int   // with states
	states    int   // of the slowest
	span      int64 // ns
	lanes     int   // processors
}

func (s synthetic) timeline() *timeline.Timeline {
	const from = 1_763_695_082_000_000_000
	r := rand.New(rand.NewPCG(7, 11))
	period := float64(s.span) / 40 // of cycles
	mark := period * .4
	t := &timeline.Timeline{
		Subject: "gateway", From: from, To: from + s.span, Anchored: true, Threshold: 3_000_000,
	}
	p := timeline.Points{Source: "access.log.gz", Count: s.requests * s.each, Routes: []string{"/play", "/feed", "<script>alert(1)</script>"}}
	if s.each > 1 {
		p.Cell = s.span / 4000
	}
	for i := range s.requests {
		at := int64(float64(s.span) * float64(i) / float64(s.requests))
		phase := math.Mod(float64(at), period)
		wait := 0.0
		if phase < mark {
			wait = phase * .08 // the queue grows while half of the processors mark
		} else if phase < 2*mark {
			wait = (2*mark - phase) * .08
		}
		latency := int64(400e3*math.Exp(.35*r.NormFloat64()) + wait*math.Exp(.3*r.NormFloat64()))
		var flags timeline.Flags
		if latency > t.Threshold {
			flags |= timeline.Slow
		}
		if r.IntN(max(s.requests/40, 1)) == 0 {
			flags |= timeline.Failed
		}
		p.At, p.Latency, p.Route, p.Flags = append(p.At, from+at), append(p.Latency, latency), append(p.Route, uint16(r.IntN(3))), append(p.Flags, flags)
		p.Detail = append(p.Detail, 0)
		if s.each > 1 {
			p.Number = append(p.Number, uint32(1+r.IntN(2*s.each-1)))
		}
	}
	order := make([]int, s.requests)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(p.Latency[b] - p.Latency[a]) })
	for k := range min(s.slow, s.requests) {
		i := order[k]
		p.Detail[i], p.Flags[i] = int32(k+1), p.Flags[i]|timeline.Traced
		n := 12
		if k == 0 {
			n = s.states
		}
		t.Slow = append(t.Slow, s.request(r, p.At[i], p.Latency[i], p.Routes[p.Route[i]], n, k))
	}
	for k := range 3 {
		t.Typical = append(t.Typical, s.request(r, from+int64(k)*1e6, 420e3, p.Routes[k], 5, -1))
	}
	t.Requests = []timeline.Points{p}

	cycles := timeline.Band{ID: "gc-mark", Title: "concurrent mark", Source: "trace.out.gz"}
	stops := timeline.Band{ID: "stop-the-world", Title: "stopped world", Source: "trace.out.gz"}
	n := s.intervals / 2
	for i := range n {
		at := from + int64(float64(s.span)*float64(i)/float64(n))
		cycles.From, cycles.To = append(cycles.From, at), append(cycles.To, at+int64(float64(s.span)/float64(n)*.4))
		cycles.Text = append(cycles.Text, fmt.Sprintf("cycle %d, live 61 MiB, goal 122 MiB", i))
		stops.From, stops.To = append(stops.From, at), append(stops.To, at+30_000)
	}
	t.Bands = []timeline.Band{cycles, stops, {
		ID: "cpu-throttled", Title: "stopped by the CPU quota", Source: "proc", From: []int64{from + s.span/2}, To: []int64{from + s.span/2 + s.span/50},
	}}
	t.Charts = s.charts(r, from, period, mark)
	t.Processors = []timeline.Processors{s.processors(r, from, period, mark)}
	t.Flames = []timeline.Flame{s.flame("cpu", "CPU", "ns", 5000), s.flame("slow", "time of slow requests", "ns", 300)}
	return t
}

func (s synthetic) request(r *rand.Rand, at, latency int64, route string, n, k int) timeline.Request {
	kinds := []struct{ kind, mechanism, where string }{
		{"running", ledger.Own.String(), ""}, {"runnable", ledger.RequestsCPU.String(), ""}, {"mark assist", ledger.MarkAssist.String(), "runtime.mallocgc\nmain.(*feed).render"},
		{"lock wait", ledger.Lock.String(), "sync.(*Mutex).Lock\nmain.(*cache).get"}, {"syscall", ledger.Kernel.String(), ""},
	}
	out := timeline.Request{Source: "trace.out.gz", Origin: fmt.Sprintf("trace.out.gz: request %d", k), Route: route, Lane: int64(70 + k), At: at, Latency: latency, Outcome: "ok", Slow: k >= 0}
	for i := range n {
		d := latency / int64(n)
		if i == n-1 {
			d = latency - d*int64(n-1)
		}
		x := kinds[(i+i/3)%len(kinds)]
		state := timeline.State{At: at + latency/int64(n)*int64(i), Dur: d, Kind: x.kind, Mechanism: x.mechanism, Where: x.where}
		switch x.kind {
		case "runnable":
			half := d / 3
			state.Parts = []timeline.Part{{Mechanism: ledger.RequestsCPU.String(), Dur: d - half}, {Mechanism: ledger.CollectorCPU.String(), Dur: half}}
		case "lock wait":
			state.What, state.Holder = "mutex", fmt.Sprintf("goroutine %d: mark assist", r.IntN(99))
		}
		out.States = append(out.States, state)
	}
	return out
}

func (s synthetic) charts(r *rand.Rand, from int64, period, mark float64) []timeline.Chart {
	user, system, used, goal := timeline.Curve{ID: "user", Title: "user"}, timeline.Curve{ID: "system", Title: "system"}, timeline.Curve{ID: "used", Title: "heap"}, timeline.Curve{ID: "goal", Title: "goal"}
	for i := range timeline.MaxCurve {
		at := from + int64(float64(s.span)*float64(i)/timeline.MaxCurve)
		phase := math.Mod(float64(at-from), period)
		u := .8 + .2*r.Float64()
		if phase < mark {
			u += .7
		}
		user.T, user.V = append(user.T, at), append(user.V, u)
		system.T, system.V = append(system.T, at), append(system.V, .1+.1*r.Float64())
		used.T, used.V = append(used.T, at), append(used.V, (61+61*math.Mod(phase+period-mark, period)/period)*(1<<20))
		if i%100 == 0 {
			goal.T, goal.V = append(goal.T, at), append(goal.V, (122+3*r.Float64())*(1<<20))
		}
	}
	user.V[2000] = math.NaN()
	return []timeline.Chart{
		{ID: "cpu", Title: "CPU of the process", Unit: "cores", Stacked: true, Curves: []timeline.Curve{user, system}},
		{ID: "heap", Title: "heap", Unit: "bytes", Curves: []timeline.Curve{used, goal}},
	}
}

func (s synthetic) processors(r *rand.Rand, from int64, period, mark float64) timeline.Processors {
	out := timeline.Processors{Source: "trace.out.gz", From: from, To: from + s.span}
	names := []string{"main.(*feed).render", "net/http.(*conn).serve", "runtime.gcBgMarkWorker", ""}
	for l := range s.lanes {
		lane := timeline.Lane{Name: fmt.Sprintf("P%d", l)}
		for at := from; at < out.To; {
			d := min(50_000+r.Int64N(2*s.span/5000), out.To-at)
			x := timeline.Span{From: at, To: at + d, Work: timeline.ForRequest, Name: names[r.IntN(2)]}
			switch phase := math.Mod(float64(at-from), period); {
			case phase < mark && l%2 == 0:
				x.Work, x.Name = timeline.Collector, names[2]
			case r.IntN(5) == 0:
				x.Work, x.Name = timeline.Idle, ""
			case r.IntN(6) == 0:
				x.Work, x.Name, x.Shares = timeline.Assist, "", []timeline.Share{{Work: timeline.ForRequest, Part: .3}, {Work: timeline.Idle, Part: .2}}
			default:
				x.Request = int32(r.IntN(s.slow + 1))
			}
			lane.Spans = append(lane.Spans, x)
			at += d
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out
}

func (s synthetic) flame(id, title, unit string, n int) timeline.Flame {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	kinds := []string{"own", "runtime", "gc", "kernel", "wait"}
	f := timeline.Flame{ID: id, Title: title, Unit: unit, Cut: 12345678, Nodes: []timeline.Node{{Parent: -1, Name: title, Kind: "own"}}}
	for i := 1; i < n; i++ {
		f.Nodes = append(f.Nodes, timeline.Node{Parent: int32(r.IntN(min(i, 1+i/3*2))), Name: fmt.Sprintf("example.org/gateway/internal/pkg%d.(*type).method%d", i%7, i%90), Kind: kinds[r.IntN(5)], Value: int64(1e6 / (1 + float64(r.IntN(100))))})
	}
	for i := n - 1; i > 0; i-- {
		f.Nodes[f.Nodes[i].Parent].Value += f.Nodes[i].Value
	}
	f.Total = f.Nodes[0].Value
	return f
}

// The sizes to draw: a usual one, and the largest there is.
var (
	usual   = synthetic{requests: 14_500, each: 1, intervals: 240, slow: 200, states: 2500, span: 14_300_000_000, lanes: 4}
	largest = synthetic{requests: timeline.MaxPoints, each: 34, intervals: 100_000, slow: timeline.MaxSlow, states: timeline.MaxStates, span: 600_000_000_000, lanes: 16}
)
