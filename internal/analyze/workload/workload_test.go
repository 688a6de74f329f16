package workload

import (
	"math"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// of is a vector of a service on 2 CPUs that was watched for 5 s.
func of(cpu, system float64, set func(*Vector)) Vector {
	v := Unknown()
	v.Seconds, v.CPUs, v.CPU, v.System, v.Delay = 5, 2, cpu, system, 0
	v.MinorFaults, v.MajorFaults, v.Voluntary, v.Involuntary, v.Segments, v.Dirtied, v.Read = 0, 0, 0, 0, 0, 0, 0
	if set != nil {
		set(&v)
	}
	return v
}

func TestClassify(t *testing.T) {
	samples := func(kernel map[string]float64) func(*Vector) {
		return func(v *Vector) { v.Samples, v.Kernel = 100, kernel }
	}
	for name, x := range map[string]struct {
		v    Vector
		want Class
	}{
		"computes":                       {of(1, .01, nil), User},
		"computes, hardly ever":          {of(.02, .01, nil), User},
		"computes beside a neighbour":    {of(.9, .01, func(v *Vector) { v.Delay, v.Involuntary = 1.1, 400 }), User},
		"eight threads of it":            {of(1.9, .01, func(v *Vector) { v.Delay, v.Involuntary = 6, 500 }), Saturation},
		"eight threads with half of it":  {of(1, .01, func(v *Vector) { v.Delay, v.Involuntary = 7, 900 }), Saturation},
		"nothing at all":                 {of(.001, .5, nil), Idle},
		"nothing known":                  {Unknown(), Idle},
		"touches memory, virtual":        {of(1, .9, func(v *Vector) { v.MinorFaults = 450e3 }), PageFault},
		"touches memory, bare":           {of(1, .8, func(v *Vector) { v.MinorFaults = 1.4e6 }), PageFault},
		"touches some":                   {of(1, .1, func(v *Vector) { v.MinorFaults = 60e3 }), User},
		"no more than the kernel's part": {of(1, .05, func(v *Vector) { v.MinorFaults = 900e3 }), User},
		"faults with many threads":       {of(2, .9, func(v *Vector) { v.MinorFaults, v.Delay = 450e3, 8 }), PageFault},
		"packets":                        {of(.6, .95, func(v *Vector) { v.Segments, v.Voluntary = 180e3, 90e3 }), Network},
		"files":                          {of(.8, .97, func(v *Vector) { v.Dirtied = 350e3 }), Sync},
		"fsync":                          {of(.1, .8, func(v *Vector) { v.Dirtied, v.Voluntary = 30e3, 60e3 }), Sync},
		"wakes itself":                   {of(.9, .8, func(v *Vector) { v.Voluntary = 150e3 }), Switch},
		"yields":                         {of(1, .7, func(v *Vector) { v.Involuntary = 600e3 }), Switch},
		"calls the kernel":               {of(1, .8, nil), System},

		"sampled futex":      {of(.8, .8, samples(map[string]float64{"": .2, evidence.KernelFutex: .7, evidence.KernelOther: .1})), Futex},
		"sampled sync":       {of(.8, .99, samples(map[string]float64{"": .02, evidence.KernelFsync: .9, evidence.KernelOther: .08})), Sync},
		"sampled compaction": {of(.8, .9, samples(map[string]float64{"": .1, evidence.KernelCompaction: .83, evidence.KernelPageFault: .07})), Compaction},
		"sampled its own":    {of(.8, .3, samples(map[string]float64{"": .7, evidence.KernelPageFault: .2, evidence.KernelOther: .1})), User},
		"too few samples":    {of(.8, .02, func(v *Vector) { v.Samples, v.Kernel = 5, map[string]float64{evidence.KernelFutex: 1} }), User},
		"sends":              {of(.8, .9, samples(map[string]float64{"": .1, evidence.KernelSend: .3, evidence.KernelReceive: .1, evidence.KernelSoftirq: .5})), Network},
		"interrupted":        {of(.8, .5, samples(map[string]float64{"": .5, evidence.KernelSoftirq: .5})), User},
		"an event loop":      {of(.8, .8, samples(map[string]float64{"": .3, evidence.KernelPoll: .4, evidence.KernelSend: .2, evidence.KernelReceive: .1})), Network},
		"polls without any":  {of(.8, .8, samples(map[string]float64{"": .3, evidence.KernelPoll: .7})), Switch},
		"sampled sched_yield": {of(.8, .8, func(v *Vector) {
			samples(map[string]float64{"": .3, evidence.KernelOther: .7})(v)
			v.Involuntary = 500e3
		}), Switch},
		"sampled getpid": {of(.8, .8, samples(map[string]float64{"": .3, evidence.KernelOther: .7})), System},
	} {
		if got := x.v.Classify(); got.Class != x.want {
			t.Errorf("%s: %s of %+v, want %s", name, got.Class, got.Shares, x.want)
		}
	}
}

// TestNeighbour: what the host counts of others changes no class.
func TestNeighbour(t *testing.T) {
	quiet := of(1, .9, func(v *Vector) { v.MinorFaults = 450e3 })
	busy := quiet
	busy.Host = Beside{Busy: 2, Softirq: .6, NetRX: 500e3, Block: 20e3, PressureCPU: .9, PressureMemory: .5, PressureIO: .9}
	busy.Delay, busy.Involuntary = 1, 900
	if a, b := quiet.Classify(), busy.Classify(); a.Class != b.Class || math.Abs(a.Share-b.Share) > .01 {
		t.Errorf("alone %s %.2f, beside a neighbour %s %.2f", a.Class, a.Share, b.Class, b.Share)
	}
}

// TestShares: parts of the CPU time add up to it.
func TestShares(t *testing.T) {
	for _, v := range []Vector{
		of(1, .5, func(v *Vector) { v.MinorFaults, v.Segments, v.Voluntary = 1e6, 1e6, 1e6 }),
		of(1, 0, func(v *Vector) { v.MinorFaults = 10 }),
		of(1, 1, func(v *Vector) {
			v.Samples, v.Kernel = 50, map[string]float64{"": .1, evidence.KernelInterrupt: .2, evidence.KernelFutex: .3, evidence.KernelPipe: .4}
		}),
	} {
		var all float64
		for _, share := range v.Shares().Of {
			all += share
		}
		if math.Abs(all-1) > 1e-9 {
			t.Errorf("%+v: shares add up to %g", v, all)
		}
	}
}

func TestDistance(t *testing.T) {
	user, faults := of(1, 0, nil), of(1, 1, func(v *Vector) { v.MinorFaults = 2e6 })
	half := of(1, .5, func(v *Vector) { v.MinorFaults = 2e6 })
	sampled := of(1, 1, func(v *Vector) {
		v.Samples, v.Kernel, v.MinorFaults = 100, map[string]float64{evidence.KernelPageFault: 1}, 2e6
	})
	unknown := Unknown()
	for _, x := range []struct {
		name string
		a, b *Vector
		want float64
	}{
		{"the same", &user, &user, 0}, {"nothing in common", &user, &faults, 1}, {"half", &user, &half, .5}, {"samples and counts", &faults, &sampled, 0},
	} {
		if got := Distance(x.a, x.b); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", x.name, got, x.want)
		}
	}
	if got := Distance(&user, &unknown); !math.IsNaN(got) {
		t.Errorf("to what is not known: %g", got)
	}
}
