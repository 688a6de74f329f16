package html

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// pictureView is a place that a script draws in.
type pictureView struct {
	Kind    string
	N, H    int
	Title   string
	How     string // how to read it
	Present bool
	// If not present: what is missing, and the command that records it.
	Missing, Do string
	Omitted     []string
}

// listPictures returns the pictures of a timeline, also those without data; nil for nil.
func listPictures(t *timeline.Timeline, n, h int) []pictureView {
	if t == nil {
		return nil
	}
	all := []pictureView{
		{
			Kind: "timeline", Title: "Timeline",
			How: "Each point is one request: its start time and its latency. Points above the line are slow. The rows below show what the runtime and the host did at the same time. " +
				"Drag to zoom in, double-click to zoom out; click a slow request to see what it waited for.",
			Present: len(t.Requests)+len(t.Bands)+len(t.Charts) > 0,
			Missing: "Nothing in the evidence has a time: add an access log, an execution trace or a gctrace log, or record the process",
			Do:      "unstall record PID",
		},
		{
			Kind: "request", Title: "One slow request",
			How:     "What one request did and waited for, from start to end, and what held the resource it waited for. The ledger above counts every part.",
			Present: len(t.Slow) > 0,
			Missing: "What slow requests waited for was not recorded. An execution trace of a few seconds under load shows it",
			Do:      "curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'",
		},
		{
			Kind: "processors", Title: "Processors",
			How: "What each processor (P) of the Go scheduler ran: requests, requests that help GC mark (mark assist), GC workers, and everything else. " +
				"A runnable request waits while others hold every processor.",
			Present: len(t.Processors) > 0,
			Missing: "No Go execution trace was recorded, so what the processors ran is unknown",
			Do:      "curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'",
		},
		{
			Kind: "flames", Title: "Flames",
			How:     "Time or samples by stack: wider means more; callers are above callees. Click a frame to zoom in; search shows a function's share of the total.",
			Present: len(t.Flames) > 0,
			Missing: "No profiles or stacks were recorded",
			Do:      "curl -o cpu.pb.gz 'http://HOST:PORT/debug/pprof/profile?seconds=30'",
		},
	}
	if t.Threshold == 0 { // no line parts the slow from the others
		all[0].How = strings.Replace(all[0].How, " Points above the line are slow.", " Slow ones have a colour of their own.", 1)
	}
	if len(t.Slow) == 0 {
		all[0].How = strings.Replace(all[0].How, "; click a slow request to see what it waited for", "", 1)
	}
	if len(t.Requests) == 0 {
		all[0].How = "What the runtime and the host did over time. Drag to zoom in, double-click to zoom out."
	}
	if t.Lanes == "thread" {
		all = ofThreads(all)
	}
	for i := range all {
		all[i].N, all[i].H = n, h
	}
	all[0].Omitted = t.Omitted
	return all
}

// splitPresent separates the pictures that can be drawn from those that cannot and whose absence
// is worth telling: the timeline always, the states of requests where some are slow, other
// pictures where also a runtime is known.
func splitPresent(d *diagnose.Diagnosis, all []pictureView) (drawn, absent []pictureView) {
	known := slices.ContainsFunc(d.Targets, func(t diagnose.Target) bool { return t.Runtime != "" })
	slow := d.Requests != nil && d.Requests.Slow > 0
	together := slices.ContainsFunc(d.Ledger, func(e diagnose.Entry) bool { return e.Method == "share" })
	for _, p := range all {
		if p.Kind == "request" && together {
			p.Missing = "What slow requests waited for is known for all of them together, not for each"
			if strings.HasPrefix(p.Do, "curl") {
				p.Missing += ". An execution trace of a few seconds under load shows it for each"
			} else {
				p.Do = ""
			}
		}
		switch {
		case p.Present:
			drawn = append(drawn, p)
		case p.Kind == "timeline", slow && p.Kind == "request", slow && known:
			absent = append(absent, p)
		}
	}
	return drawn, absent
}

// ofThreads returns the pictures for a process whose requests run on threads: what is missing is
// recorded in another way than for Go, and what its processors ran is unknown.
func ofThreads(all []pictureView) (out []pictureView) {
	for _, p := range all {
		switch p.Kind {
		case "timeline":
			p.Missing = "Nothing in the evidence has a time: add an access log or the collector's log, or record the process"
		case "processors":
			if !p.Present {
				continue
			}
		case "request":
			p.Missing, p.Do = "What slow requests waited for was not recorded. A recording of the requests and their threads under load shows it", "unstall record PID"
		case "flames":
			p.Missing, p.Do = "No stacks were recorded", "unstall record PID"
		}
		out = append(out, p)
	}
	return out
}
