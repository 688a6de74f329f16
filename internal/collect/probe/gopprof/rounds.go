package gopprof

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
)

// The first round of both is short, so that there is something to say after 5 s;
// it is also when both run at once, which puts the profile's samples into the
// trace.
const (
	firstProfile = 4 * time.Second
	firstTrace   = 3 * time.Second
	profileRound = 5 * time.Second
	traceRound   = time.Second
	tracePeriod  = 7500 * time.Millisecond // has one trace: see the package's comment
	retry        = time.Second             // after somebody else was found profiling
)

const (
	mostProfile = 64 << 20
	mostTraces  = 200 << 20 // all of a recording together
)

// profiles takes CPU profiles back to back until the end. Their seconds are
// whole: net/http/pprof reads no fractions of them.
func (r *recording) profiles(ctx context.Context) {
	round := firstProfile
	longest := time.Duration(math.MaxInt64) // that the server allows
	for n := 1; ctx.Err() == nil; {
		seconds := fit(min(round, longest), time.Until(r.end))
		if seconds == 0 {
			return
		}
		outcome, got := r.fetch(ctx, piece{path: "profile", query: fmt.Sprintf("seconds=%d", seconds), name: fmt.Sprintf("cpu-%04d.pb.gz", n), series: "cpu",
			within: time.Duration(seconds)*time.Second + 2*grace, most: mostProfile, switches: true})
		if got > 0 {
			n++
		}
		switch outcome {
		case fetched:
			round = profileRound
		case tooLong:
			if longest = time.Duration(seconds) * time.Second / 2; longest < time.Second {
				r.deny("CPU profile", "the server's WriteTimeout is 1 s or less", "raise http.Server.WriteTimeout, or upgrade to Go 1.23")
				return
			}
		case ended:
			return
		default:
			probe.Wait(ctx, min(retry, time.Until(r.end)))
		}
	}
}

// fit is how many whole seconds a round takes: what would be left after it and
// is too short for another is added to it.
func fit(round, left time.Duration) int {
	whole := int(left.Seconds() + .5)
	n := int(round / time.Second)
	if n >= whole {
		return whole
	}
	if whole-n < 1 {
		return whole
	}
	return n
}

// traces takes an execution trace at the start and then one in each period.
func (r *recording) traces(ctx context.Context) {
	began := time.Now()
	chance := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	round, period := firstTrace, 0
	longest := firstTrace
	left := int64(mostTraces)
	for n := 1; ctx.Err() == nil; {
		d := min(round, time.Until(r.end))
		if d < leastTrace || left <= 0 {
			return
		}
		d = min(d, longest)
		name := fmt.Sprintf("trace-%04d.out", n)
		outcome, got := r.fetch(ctx, piece{path: "trace", query: fmt.Sprintf("seconds=%.3f", d.Seconds()), name: name, series: "trace",
			within: d + 2*grace, most: left, switches: true})
		left -= got
		if got > 0 {
			n++
		}
		switch outcome {
		case tooLong:
			if longest = d / 2; longest < traceRound/8 {
				r.deny("execution trace", "the server's WriteTimeout is too short", "raise http.Server.WriteTimeout, or upgrade to Go 1.23")
				return
			}
			continue
		case busy, broken:
			if !probe.Wait(ctx, retry) {
				return
			}
			continue
		case ended:
			return
		}
		round = traceRound
		var at time.Duration
		if period, at = nextTrace(period, time.Since(began), r.end.Sub(began), chance.Float64()); period == 0 || !probe.Wait(ctx, time.Until(began.Add(at))) {
			return
		}
	}
}

// leastTrace is the shortest trace that is worth the pauses at its ends.
const leastTrace = traceRound / 4

// nextTrace is the period of the next trace, the first that has not ended, and when in the
// recording it begins: anywhere in its period, by chance in [0, 1). At a fixed distance they
// would for as long as one records meet what comes back each few seconds at the same moment
// of it, or never. The period is 0 where none fits before the end.
func nextTrace(last int, now, end time.Duration, chance float64) (period int, at time.Duration) {
	period = last + 1
	if p := int(now / tracePeriod); p > period {
		period = p
	}
	from := time.Duration(period) * tracePeriod
	until := min(from+tracePeriod, end-traceRound)
	switch from = max(from, now); {
	case from+leastTrace > end:
		return 0, 0
	case until <= from: // what is left of the recording is no longer than a trace
		return period, from
	}
	return period, from + time.Duration(chance*float64(until-from))
}
