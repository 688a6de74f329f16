package gopprof

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
)

// The first profile is short, so that a first finding is possible after 5 s. The profile's samples are in the trace, too.
const (
	firstProfile = 4 * time.Second
	firstTrace   = 3 * time.Second // if the whole recording is not traced at once
	profileRound = 5 * time.Second
	traceRound   = time.Second
	tracePeriod  = 7500 * time.Millisecond // contains one trace: see the package's comment
	retry        = time.Second             // after another program was found profiling
)

const (
	mostProfile = 64 << 20
	mostTraces  = 200 << 20 // bytes of all traces of a recording
)

// recordProfiles takes CPU profiles back to back until the end. They last whole seconds:
// net/http/pprof reads no fractions of them.
func (r *recording) recordProfiles(ctx context.Context) {
	round := firstProfile
	longest := time.Duration(math.MaxInt64) // the longest that the server allows
	for n := 1; ctx.Err() == nil; {
		seconds := fitSeconds(min(round, longest), time.Until(r.end))
		if seconds == 0 {
			return
		}
		outcome, got := r.fetchPiece(ctx, piece{path: "profile", query: fmt.Sprintf("seconds=%d", seconds), name: fmt.Sprintf("cpu-%04d.pb.gz", n), series: "cpu",
			within: time.Duration(seconds)*time.Second + 2*grace, most: mostProfile, switches: true})
		if got > 0 {
			n++
		}
		switch outcome {
		case fetched:
			round = profileRound
		case tooLong:
			if longest = time.Duration(seconds) * time.Second / 2; longest < time.Second {
				r.addLack("CPU profile", "the server's WriteTimeout is 1 s or less", "raise http.Server.WriteTimeout, or upgrade to Go 1.23")
				return
			}
		case ended:
			return
		default:
			probe.Wait(ctx, min(retry, time.Until(r.end)))
		}
	}
}

// fitSeconds returns how many whole seconds a round takes. A rest too short for another round is
// added to it.
func fitSeconds(round, left time.Duration) int {
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

// recordTraces takes one execution trace of the whole recording. Once that costs too much, it takes one in each period.
func (r *recording) recordTraces(ctx context.Context) {
	began := time.Now()
	chance := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	round, period := time.Duration(math.MaxInt64), 0
	longest := round // the longest that the server allows
	left := int64(mostTraces)
	for n := 1; ctx.Err() == nil; {
		d := min(round, longest, time.Until(r.end))
		if d < leastTrace || left <= 0 {
			return
		}
		p := piece{path: "trace", query: fmt.Sprintf("seconds=%.3f", d.Seconds()), name: fmt.Sprintf("trace-%04d.out", n), series: "trace",
			within: d + 2*grace, most: left, switches: true}
		if round > traceRound {
			p.meter = &meter{pid: r.about.PID, most: left / 2}
		}
		outcome, got := r.fetchPiece(ctx, p)
		left -= got
		if got > 0 {
			n++
		}
		if p.meter != nil && p.meter.why != "" && time.Until(r.end) > leastTrace {
			r.warnOnce("the execution trace of the whole recording was ended after %.0f s because %s: from then on %.0f s of every %.1f s is traced", time.Since(began).Seconds(), p.meter.why, traceRound.Seconds(), tracePeriod.Seconds())
			round = traceRound
		}
		switch outcome {
		case tooLong:
			if longest = d / 2; longest < traceRound/8 {
				r.addLack("execution trace", "the server's WriteTimeout is too short", "raise http.Server.WriteTimeout, or upgrade to Go 1.23")
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
		if round > traceRound {
			continue // as much as the server allows was traced
		}
		var at time.Duration
		if period, at = nextTrace(period, time.Since(began), r.end.Sub(began), chance.Float64()); period == 0 || !probe.Wait(ctx, time.Until(began.Add(at))) {
			return
		}
	}
}

// leastTrace is the shortest trace that is worth the pauses at its ends.
const leastTrace = traceRound / 4

// nextTrace returns the period of the next trace, the first that has not ended, and when in the recording the trace begins. Chance, in [0, 1),
// decides where in its period it begins. At a fixed distance the traces would meet periodic work always at the same moment of it, or never. The
// period is 0 if none fits before the end.
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
	case until <= from: // the rest of the recording is no longer than a trace
		return period, from
	}
	return period, from + time.Duration(chance*float64(until-from))
}
