package threadpool

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

// hillClimb is the part of .NET's thread pool that looks for the number of threads
// with the highest throughput: it moves the goal up and down in a square wave and
// looks for that wave in the completions. It is the same in all versions from 3.1 to
// 10: https://github.com/dotnet/coreclr/blob/release/3.1/src/vm/hillclimbing.cpp,
// https://github.com/dotnet/runtime/blob/main/src/libraries/System.Private.CoreLib/src/System/Threading/PortableThreadPool.HillClimbing.cs
type hillClimb struct {
	min, max int
	random   *rand.Rand

	control float64 // the goal without the wave
	last    int     // goal as it was left
	noise   float64 // moving average of the throughput's noise

	total      int64 // samples
	throughput [climbSamples]float64
	threads    [climbSamples]float64

	kept        float64 // s of samples that were not accurate enough alone
	completions int
	interval    int // ms
}

// The parameters of hill climbing, by the runtime's defaults.
const (
	climbPeriod         = 4               // samples in a wave
	climbSamples        = climbPeriod * 8 // that are looked at
	climbMostWave       = 20              // threads
	climbBias           = .15             // what a thread must bring
	climbSignal         = 3.              // wanted ratio of signal to noise
	climbSmoothing      = .01             // of the noise
	climbPerSecond      = 4.              // threads
	climbPerSample      = 20.             // threads
	climbGain           = 2.              // exponent
	climbSampleError    = .15             // of a sample's completions
	climbLow, climbHigh = 10, 200         // ms between samples
	cpuLow, cpuHigh     = .80, .95        // of all processors: above the one starvation is judged slower, above the other nothing is added
)

func newHillClimb(least, most int, random *rand.Rand) *hillClimb {
	h := &hillClimb{min: least, max: most, random: random}
	h.interval = h.drawInterval()
	return h
}

func (h *hillClimb) drawInterval() int { return climbLow + h.random.IntN(climbHigh-climbLow+1) }

// forceGoal takes over a goal that something else than hill climbing set.
func (h *hillClimb) forceGoal(threads int) {
	if threads != h.last {
		h.control += float64(threads - h.last)
		h.noteGoal(threads)
	}
}

func (h *hillClimb) noteGoal(threads int) {
	h.last = threads
	h.interval = h.drawInterval()
}

// takeSample takes one sample: what was completed in so many seconds while the goal was threads,
// and the share of all processors in use. It returns the new goal, and in how many ms the next
// sample is due.
func (h *hillClimb) takeSample(threads int, seconds float64, completions int, cpu float64) (goal, interval int) {
	h.forceGoal(threads)
	seconds += h.kept
	completions += h.completions
	// Items that began before the sample and those that end after it make the count
	// wrong by up to a thread's one item.
	if h.total > 0 && float64(threads-1)/float64(completions) >= climbSampleError {
		h.kept, h.completions = seconds, completions
		return threads, climbLow
	}
	h.kept, h.completions = 0, 0
	at := h.total % climbSamples
	h.throughput[at], h.threads[at] = float64(completions)/seconds, float64(threads)
	h.total++

	ratio, confidence := h.analyseWave()
	move := min(1, max(-1, ratio)) * min(1, max(0, confidence))
	move = math.Copysign(math.Pow(math.Abs(move), climbGain)*climbPerSecond*seconds, move)
	move = min(move, climbPerSample)
	if move > 0 && cpu > cpuHigh {
		move = 0
	}
	h.control += move

	wave := int(.5 + h.control*h.noise*climbSignal*2)
	wave = max(1, min(wave, climbMostWave))
	h.control = max(float64(h.min), min(float64(h.max-wave), h.control))
	goal = int(h.control + float64(wave)*float64((h.total/(climbPeriod/2))%2))
	goal = max(h.min, min(h.max, goal))
	if goal != threads {
		h.noteGoal(goal)
	}
	interval = h.interval
	if ratio < 0 && goal == h.min {
		// It can go no lower: look again much later.
		interval = int(.5 + float64(h.interval)*10*min(-ratio, 1))
	}
	return goal, interval
}

// analyseWave looks for the wave of the threads in the throughput: how much throughput a thread
// brings beyond its price, and how sure that is.
func (h *hillClimb) analyseWave() (ratio, confidence float64) {
	n := min(h.total-1, climbSamples) / climbPeriod * climbPeriod
	if n <= climbPeriod {
		return 0, 0
	}
	var throughput, threads float64
	for i := range n {
		at := (h.total - n + i) % climbSamples
		throughput += h.throughput[at]
		threads += h.threads[at]
	}
	throughput /= float64(n)
	threads /= float64(n)
	if throughput <= 0 || threads <= 0 {
		return 0, 0
	}
	waves := float64(n) / climbPeriod
	signal := h.waveComponent(&h.throughput, n, climbPeriod) / complex(throughput, 0)
	noise := cmplx.Abs(h.waveComponent(&h.throughput, n, float64(n)/(waves+1))) / throughput
	if below := float64(n) / (waves - 1); below <= float64(n) {
		noise = max(noise, cmplx.Abs(h.waveComponent(&h.throughput, n, below))/throughput)
	}
	wave := h.waveComponent(&h.threads, n, climbPeriod) / complex(threads, 0)
	if h.noise == 0 {
		h.noise = noise
	} else {
		h.noise = climbSmoothing*noise + (1-climbSmoothing)*h.noise
	}
	if cmplx.Abs(wave) > 0 {
		ratio = real((signal - climbBias*wave) / wave)
	}
	if n := max(h.noise, noise); n > 0 {
		return ratio, cmplx.Abs(wave) / n / climbSignal
	}
	return ratio, 1
}

// waveComponent returns the wave of one period in the last n samples, by Goertzel's algorithm.
func (h *hillClimb) waveComponent(samples *[climbSamples]float64, n int64, period float64) complex128 {
	sin, cos := math.Sincos(2 * math.Pi / period)
	var q1, q2 float64
	for i := range n {
		q1, q2 = 2*cos*q1-q2+samples[(h.total-n+i)%climbSamples], q1
	}
	return complex((q1-q2*cos)/float64(n), q2*sin/float64(n))
}
