package predict

import "math"

// GoHeap is the pacer's arithmetic in the steady state: a cycle starts each
// time the headroom between the live heap and the goal has been allocated, so
// cycles per second = allocation rate ÷ headroom (runtime/mgcpacer.go;
// https://go.dev/doc/gc-guide#GOGC). The rate measured at one headroom gives it
// at another; what was allocated while marking cancels. Sizes are bytes.
type GoHeap struct {
	Live     float64 // marked by a cycle
	Headroom float64 // goal − live
	Rate     float64 // cycles per second at this headroom
}

// HeapSetting is how a headroom is asked for.
type HeapSetting struct {
	Headroom    float64
	MemoryLimit float64 // for GOMEMLIMIT with GOGC=off
	Ballast     float64 // for Go before 1.19 with GOGC=100
}

// RateAt returns the cycles per second at another headroom.
func (m GoHeap) RateAt(headroom float64) float64 { return m.Rate * m.Headroom / headroom }

// Limit returns the settings for a headroom, rounded up to 50 MiB, or those of
// the largest limit allowed (most, 0: any) if that is less. The limit includes
// what is not heap; the runtime takes off its overhead and 3 %, so a tenth is
// added.
func (m GoHeap) Limit(headroom, most float64) HeapSetting {
	const step, fine = 50 << 20, 10 << 20
	limit := math.Ceil((m.Live+headroom)*1.1/step) * step
	if most > 0 && limit > most {
		limit = math.Floor(most/fine) * fine
	}
	s := HeapSetting{MemoryLimit: limit, Headroom: limit/1.1 - m.Live}
	// The ballast counts as live: goal = 2·(live + ballast), headroom = live + ballast.
	s.Ballast = math.Max(0, math.Ceil((s.Headroom-m.Live)/step)*step)
	return s
}
