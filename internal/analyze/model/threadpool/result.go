package threadpool

import (
	"math"
	"slices"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/stats"
)

// result is one run in figures. NaN is none.
type result struct {
	threads, rate        float64 // in the end
	latency, median, p99 float64 // in the end, ms
	growth, settles      float64
	start                [3]float64 // threads, rate and latency of the first ten seconds
	ends                 string
	settled              bool
	events               int
	curve                []Point
}

// steady is for how many s nothing may change, in a load that has settled: twice as
// long as an idle thread lives, and longer than hill climbing takes for its samples.
const steady = 60

func (c Case) simulateRun(release int, socket bool, seed uint64) result {
	r := newPoolRun(c, release, socket, seed)
	res := result{}
	for s := 1; s <= c.simulatedSeconds(); s++ {
		before := len(r.answers)
		r.runUntil(int64(s) * 1e9)
		res.curve = append(res.curve, Point{At: float64(s), Threads: r.existing, Queue: r.countQueued(),
			Rate: float64(len(r.answers) - before), Latency: meanOf(latenciesMs(r.answers[before:]))})
		if s == startSeconds {
			res.start = [3]float64{float64(r.existing), float64(len(r.answers)) / startSeconds, meanOf(latenciesMs(r.answers))}
		}
		if res.settled = r.hasSettled(res.curve, steady); res.settled {
			break
		}
		if r.happened > mostEvents {
			res.settled = r.hasSettled(res.curve, s/2)
			break
		}
	}
	res.events = r.happened
	n := len(res.curve)
	last := min(n, steady)
	if n <= steady || !res.settled {
		last = (last + 1) / 2 // what was before still changed
	}
	from := int64(n-last) * 1e9
	at, _ := slices.BinarySearchFunc(r.answers, from, func(a answer, t int64) int {
		if a.at < t {
			return -1
		}
		return 1
	})
	took := latenciesMs(r.answers[at:])
	res.threads = float64(res.curve[n-1].Threads)
	res.rate = float64(len(took)) / float64(last)
	res.latency = meanOf(took)
	if len(took) > 0 {
		slices.Sort(took)
		res.median, res.p99 = stats.Quantile(took, .5), stats.Quantile(took, .99)
	} else {
		res.median, res.p99 = math.NaN(), math.NaN()
	}
	res.findClimb()
	res.ends = r.endReason(res.settled)
	return res
}

// startSeconds is how long a short test of a load takes.
const startSeconds = 10

// mostEvents bounds a run, which takes about a µs for each of them: where many
// thousand requests a second end, half a minute of them shows as much as two.
const mostEvents = 2_000_000

// hasSettled says whether threads and rate have been the same for so many seconds.
func (r *run) hasSettled(curve []Point, seconds int) bool {
	if len(curve) <= seconds || seconds < 2 {
		return false
	}
	last := curve[len(curve)-seconds:]
	least, most, waiting := math.MaxInt, 0, 0
	var halves [2]float64
	for i, p := range last {
		least, most = min(least, p.Threads), max(most, p.Threads)
		halves[2*i/seconds] += p.Rate
		if p.Queue > r.c.Connections/5+2*r.c.Cores {
			waiting++
		}
	}
	even := halves[0] > 0 && math.Abs(halves[0]-halves[1]) <= .07*halves[0]
	bound := waiting < seconds/2 || most >= r.max || r.cpu >= cpuLow
	return even && bound && most-least <= max(3, most/16)
}

func (r *run) endReason(settled bool) string {
	switch {
	case r.existing >= r.max && r.countQueued() > 0:
		return EndsMax
	case r.cpu >= cpuLow:
		return EndsCPU
	case settled:
		return EndsEnough
	}
	return EndsClimbing
}

// findClimb finds when threads and rate were first what they are in the end, and how fast threads
// came in the middle of the climb.
func (p *result) findClimb() {
	p.settles, p.growth = math.NaN(), math.NaN()
	first := float64(p.curve[0].Threads)
	reached := func(part float64) float64 {
		for _, at := range p.curve {
			if float64(at.Threads) >= first+part*(p.threads-first) {
				return at.At
			}
		}
		return math.NaN()
	}
	if p.threads-first < fewThreads {
		p.settles = 0
		return
	}
	p.settles = reached(.95)
	if quarter, most := reached(.25), reached(.75); most > quarter {
		p.growth = (p.threads - first) / 2 / (most - quarter)
	}
}

// fewThreads come and go with hill climbing: that is no climb.
const fewThreads = 10

func latenciesMs(answers []answer) []float64 {
	ms := make([]float64, len(answers))
	for i, a := range answers {
		ms[i] = float64(a.latency) / millisecond
	}
	return ms
}

// meanOf is NaN for none.
func meanOf(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// joinRuns makes an outcome of several runs: their middle, and a range that holds them all and
// what the model was off by.
func (c Case) joinRuns(runs []result) Outcome {
	figure := func(of func(*result) float64) model.Estimate {
		var v []float64
		for i := range runs {
			if x := of(&runs[i]); !math.IsNaN(x) {
				v = append(v, x)
			}
		}
		if len(v) == 0 {
			return model.Unknown
		}
		e := model.Estimate{Value: stats.Median(v), Low: slices.Min(v), High: slices.Max(v)}
		e.Low, e.High = min(e.Low, e.Value*(1-miss)), max(e.High, e.Value*(1+miss))
		return e
	}
	first := &runs[0]
	p99 := figure(func(p *result) float64 { return p.p99 })
	// A second in which hill climbing took threads away too soon decides it, and how
	// often there is one depends on more than the model knows.
	p99.Low = min(p99.Low, figure(func(p *result) float64 { return p.median }).Value)
	return Outcome{
		Threads: figure(func(p *result) float64 { return p.threads }),
		Rate:    figure(func(p *result) float64 { return p.rate }),
		Latency: figure(func(p *result) float64 { return p.latency }),
		P99:     p99,
		Growth:  figure(func(p *result) float64 { return p.growth }),
		Settles: figure(func(p *result) float64 { return p.settles }),
		Start: Start{
			Threads: figure(func(p *result) float64 { return p.start[0] }),
			Rate:    figure(func(p *result) float64 { return p.start[1] }),
			Latency: figure(func(p *result) float64 { return p.start[2] }),
		},
		Ends: first.ends, Curve: first.curve,
	}
}

// miss is how far figures of the model were off where loads were measured
// (docs/predict.md).
const miss = .15
