// Package gopprof records a Go process through net/http/pprof (https://pkg.go.dev/net/http/pprof) of Go 1.5 to 1.27.
//
// Its artifacts, as internal/format/gopprof and internal/format/gotrace read them:
//
//	heap-0001.txt …       heap?debug=1 every 5 s, for the runtime.MemStats at its end
//	goroutine-1.pb.gz -2  at the start and at the end
//	mutex-1.pb.gz -2      likewise, where the program samples locks
//	block-1.pb.gz -2
//	cpu-0001.pb.gz …      CPU profiles back to back; series "cpu"
//	trace-0001.out …      an execution trace of the whole recording; series "trace"
//
// A trace costs a service some CPU for each event. If that is less than 2 %, or 1 % of one CPU, one trace covers the whole recording
// and is stored as it comes, because slow moments are not known in advance. Otherwise the trace is ended, and 1 s in each 7.5 s is
// traced. The distance varies, because slow moments may come at a fixed one. A service built with Go before 1.22, whose traces take
// much memory to read, is also recorded this way.
//
// The package's opinion: only a switch that expires by itself is safe. So every request has a length in seconds and is for one piece;
// a lost piece costs seconds, not the recording. Another program that already profiles the process takes precedence: the package
// warns and tries again. Everything that a recording switched on is off when it returns. The handlers stop when the client goes away
// (golang/go#13833), and the package checks that they did.
package gopprof

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Probe records net/http/pprof.
var Probe = probe.Probe{
	Name:  name,
	About: "net/http/pprof of a Go process: CPU profiles, execution traces, heap, goroutines and locks",
	Find:  findAccess,
}

const name = "gopprof"

const givePprof = "give the URL of net/http/pprof, such as http://host:6060/debug/pprof, or a process id"

// switches are the names of what recording switches on.
var switches = []string{"CPU profile", "execution trace (of the whole recording while it costs less than 2 % of its CPU, or 1 % of one CPU)"}

// findAccess looks for the endpoint that a URL names, else for one among the sockets of a Go process, because users also name the
// port that serves requests, or http for https. If there should be an endpoint and there is none, the access has a lack that says
// so. Recording a URL then fails with the same line.
func findAccess(ctx context.Context, t discover.Target) []probe.Access {
	if t.URL != nil && t.URL.Scheme != "http" && t.URL.Scheme != "https" || t.Runtime == "redis" { // Redis takes HTTP for an attack
		return nil
	}
	if t.URL != nil {
		e, err := locateEndpoint(ctx, t.URL)
		if err != nil && t.PID != 0 && t.Runtime == "go" {
			if other, _ := findAmongSockets(ctx, t); other != nil {
				e, err = other, nil
			}
		}
		if err != nil {
			return []probe.Access{missingAccess(t, err)}
		}
		if t.PID == 0 {
			t.Name = e.programName(ctx)
		}
		return []probe.Access{newAccess(e, t)}
	}
	hidden := t.Runtime == "" && slices.Contains(t.Unreadable, "exe") // may be a Go process
	if t.PID == 0 || t.Runtime != "go" && !hidden {
		return nil
	}
	e, lack := findAmongSockets(ctx, t)
	if e != nil {
		return []probe.Access{newAccess(e, t)}
	}
	return []probe.Access{{
		Probe:  name,
		Where:  fmt.Sprintf("net/http/pprof of pid %d", t.PID),
		Lacks:  []probe.Lack{lack},
		Record: func(context.Context, probe.Plan, probe.Sink) error { return nil },
	}}
}

func newAccess(e *endpoint, t discover.Target) probe.Access {
	about := goSubject(t)
	return probe.Access{
		Probe:      name,
		Where:      e.shown,
		SwitchesOn: switches, Traces: true,
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			return recordEndpoint(ctx, e, about, plan, sink)
		},
	}
}

// missingAccess returns the access to a URL that cannot be recorded.
func missingAccess(t discover.Target, why error) probe.Access {
	where := redactURL(t.URL)
	do := givePprof
	switch {
	case errors.Is(why, errTLS) || errors.Is(why, errPlain):
		do = "" // the error already says what to do
	case t.PID != 0 && isOtherService(why):
		do = fmt.Sprintf("record the process that listens there: unstall %d", t.PID)
		if t.Runtime == "go" { // others have no net/http/pprof
			do = "give the URL of net/http/pprof, or " + do
		}
	}
	err := fmt.Errorf("%s: %w", where, why)
	if do != "" {
		err = fmt.Errorf("%w: %s", err, do)
	}
	return probe.Access{
		Probe:   name,
		Where:   where,
		Lacks:   []probe.Lack{{What: "profiles and execution traces", Why: why.Error(), Do: do}},
		Missing: err,
		Alone:   isOtherService(why),
		Record:  func(context.Context, probe.Plan, probe.Sink) error { return err },
	}
}

// isOtherService says whether an address answered as another service than net/http/pprof, so that the user did not mean it. An address
// that does not answer may still be meant, and then its process says why it does not.
func isOtherService(why error) bool {
	var status *refused
	return errors.Is(why, errOther) || errors.Is(why, errNotHTTP) || errors.Is(why, errTLS) || errors.Is(why, errPlain) || errors.As(why, &status)
}

// goSubject returns the process that the artifacts are about. It is a Go process, because it serves pprof.
func goSubject(t discover.Target) evidence.Subject {
	t.Runtime = "go"
	return t.Subject()
}
