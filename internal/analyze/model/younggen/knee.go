package younggen

import (
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
)

// Knee is the rate of requests at which their work and stop-the-world collections together fill a service's processors: above it, the queue
// grows without end.
//
// Collections are proportional to the allocation of requests. While one stops the world no request runs, whatever part of the processors its
// threads use, so that of c processors c·(1 − s·λ) are left. Requests need w·λ of these, and concurrent phases g·λ. Both sides are equal at
// λ = c ÷ (w + c·s + g).
type Knee struct {
	Processors float64
	Work       float64 // s of processor time that a request needs by itself
	Stopped    float64 // s of stopped world for each request
	Concurrent float64 // s of processor time of concurrent collector threads for each request
	Spread     float64 // of the rate, relative, 95 %; NaN is not known
	SpreadFree float64 // of the rate without collections
}

// Rate is the knee, requests/s.
func (k Knee) Rate() model.Estimate {
	return estimateAround(k.Processors/(k.Work+k.Processors*k.Stopped+k.Concurrent), k.Spread)
}

// Free returns the knee without collections.
func (k Knee) Free() model.Estimate { return estimateAround(k.Processors/k.Work, k.SpreadFree) }

// With returns the knee if collections cost another part of their present cost.
func (k Knee) With(part float64) model.Estimate {
	k.Stopped *= part
	k.Concurrent *= part
	return k.Rate()
}

func estimateAround(v, spread float64) model.Estimate {
	if math.IsNaN(spread) || spread == 0 {
		return model.Exactly(v)
	}
	return model.Between(v, v*max(0, 1-spread), v*(1+spread))
}
