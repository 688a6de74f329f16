package gotrace

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/gotrace/wire"
)

// probes are functions that make profiles and traces of the process. A request that reaches one of them, in any server and behind any
// wrapper, comes from an observer, such as the recorder of this trace, and is no request of the service.
var probes = []string{"net/http/pprof.", "runtime/pprof.(*Profile).WriteTo", "runtime/pprof.StartCPUProfile", "runtime/pprof.StopCPUProfile",
	"runtime/trace.Start", "runtime/trace.Stop", "github.com/valyala/fasthttp/pprofhandler."}

func isProbing(funcs []string) bool {
	for _, f := range funcs {
		if !strings.Contains(f, "/pprof") && !strings.HasPrefix(f, "runtime/trace.") {
			continue
		}
		for _, p := range probes {
			if strings.HasPrefix(f, p) && !strings.HasPrefix(f, "runtime/trace.StartRegion") {
				return true
			}
		}
	}
	return false
}

// hasPprofName says whether a function is named after net/http/pprof: a program may do what that
// does in a handler of its own.
func hasPprofName(funcs []string) bool {
	for _, f := range funcs {
		if strings.Contains(f, "rof") && strings.Contains(strings.ToLower(f[strings.LastIndexByte(f, '/')+1:]), "pprof") {
			return true
		}
	}
	return false
}

// dropProbe drops the request that a goroutine serves or works for, because it asks for a profile.
func (w *world) dropProbe(g *goroutine) {
	if g.request == nil && g.helps.whom != nil && g.servedLane() != g.id {
		g = g.helps.whom
	}
	if r := g.request; r != nil {
		if !r.cut {
			w.serve.probes++
		}
		g.request = nil
	}
}

// mostlyAsleep is the share of its time that a request for a trace or profile sleeps.
const mostlyAsleep = .95

// isTraceRequest says whether a request is the one that this trace answers, where no function of
// net/http/pprof is on its stacks: it slept once, from before the trace to its end, and wakes to
// end it. A request of a handler named after pprof need not have lasted as long.
func (w *world) isTraceRequest(g *goroutine, r *request) bool {
	through := r.cut && r.end == 0 && g.state != wire.GoWaiting
	if !through && !r.pprof {
		return false
	}
	var slept, longest, all int64
	for s := range r.path.All {
		all += s.Dur
		switch {
		case s.Kind == evidence.SleepWait:
			slept += s.Dur
			longest = max(longest, s.Dur)
		case r.pprof && s.Kind == evidence.Unobserved: // asleep since before the trace
			slept += s.Dur
		}
	}
	if !r.pprof {
		slept = longest
	}
	return float64(slept) >= mostlyAsleep*float64(all)
}
