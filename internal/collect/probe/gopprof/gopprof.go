// Package gopprof records a Go process through net/http/pprof
// (https://pkg.go.dev/net/http/pprof), as it is in Go 1.5 to 1.27.
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
// A trace costs a service some of its CPU for each event. While that is less than 2 %, or 1 % of one CPU, all of
// the recording is one trace, stored as it comes: the slow moments are not known before. Above, the trace is ended, and 1 s in
// each 7.5 is traced, at no fixed distance, as what makes it slow may come back at one. So is a
// service of before Go 1.22, whose traces take much memory to read.
//
// The package's opinion: a switch that expires by itself is the only safe one, so
// everything is asked for by seconds and in pieces; a piece that is lost costs
// seconds, not the recording. Whoever already profiles the process was there
// first: that is said, and tried again. What a recording switched on is off when
// it returns: the handlers stop when the client goes away (golang/go#13833), and
// that they did is looked up.
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

// switches are what recording switches on.
var switches = []string{"CPU profile", "execution trace (of the whole recording while it costs less than 2 % of its CPU, or 1 % of one CPU)"}

// findAccess looks for the endpoint a URL names, else for one among the sockets a Go process
// listens on: users also name the port that serves requests, or http for https. Where there should
// be an endpoint and is none, the access has a lack that says so, and recording a URL fails with
// the same line.
func findAccess(ctx context.Context, t discover.Target) []probe.Access {
	if t.URL != nil && t.URL.Scheme != "http" && t.URL.Scheme != "https" || t.Runtime == "redis" { // which takes HTTP for an attack
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
	hidden := t.Runtime == "" && slices.Contains(t.Unreadable, "exe") // may be Go
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
		SwitchesOn: switches,
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
		do = "" // it says what to do
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

// isOtherService says whether an address answered as something else than net/http/pprof, so that
// it is not what the user meant. An address that does not answer may still be it, and then its
// process says why.
func isOtherService(why error) bool {
	var status *refused
	return errors.Is(why, errOther) || errors.Is(why, errNotHTTP) || errors.Is(why, errTLS) || errors.Is(why, errPlain) || errors.As(why, &status)
}

// goSubject returns the process that the artifacts are about. It is a Go process, as it serves
// pprof.
func goSubject(t discover.Target) evidence.Subject {
	t.Runtime = "go"
	return t.Subject()
}
