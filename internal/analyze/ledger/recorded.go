package ledger

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Requests are often recorded for longer than the service is. Of those that were answered before the service's recording
// began, or sent after it ended, only the latency is known. They tell what is usual, but are not among the slow ones,
// whose time is charged.

// overTime are the kinds of coverage that tell of a whole time, not of moments in it.
var overTime = []string{
	evidence.CoverRequests, evidence.CoverStates, evidence.CoverGC, evidence.CoverCPUProfile, evidence.CoverHostCPU, evidence.CoverFaults, evidence.CoverThrottling,
	evidence.CoverSyscalls, evidence.CoverAwaits, evidence.CoverThreadPool, evidence.CoverWaits, evidence.CoverSafepoints, evidence.CoverStalls, evidence.CoverPool,
}

// recordedTime returns from when until when (ns) artifacts other than the requests' own told of the service or its host.
// It returns false where none did, where that was not the time of the requests, and where the requests' own artifact
// tells of more than requests: then all requests are judged with what is known.
func (l *Ledger) recordedTime() (from, until int64, ok bool) {
	if !l.b.Clocks[l.b.Requests.Clock.At(l.Rows[0])].Anchored() {
		return 0, 0, false
	}
	about := func(s evidence.SubjectID) bool { return s == l.Subject || l.b.Subjects[s].Kind == evidence.Host }
	rows := map[evidence.ArtifactID]bool{l.Source: true} // several clients have a file of requests each
	for _, row := range l.Rows {
		if a, known := l.b.Requests.Origin.At(row).Artifact(); known {
			rows[a] = true
		}
	}
	own := func(o evidence.Origin) bool {
		a, known := o.Artifact()
		return known && rows[a]
	}
	widen := func(c evidence.ClockID, begin, end int64) {
		k := &l.b.Clocks[c]
		if !k.Anchored() || end <= begin {
			return
		}
		begin, end = begin-k.Slack(), end+k.Slack()
		if !ok {
			from, until, ok = begin, end, true
		}
		from, until = min(from, begin), max(until, end)
	}
	for i := range l.b.Coverage {
		switch c := &l.b.Coverage[i]; {
		case !about(c.Subject):
		case own(c.Origin) && c.Kind != evidence.CoverRequests:
			return 0, 0, false // the artifact of the requests is itself the recording
		case !own(c.Origin) && slices.Contains(overTime, c.Kind):
			widen(c.Clock, c.From, c.Until)
		}
	}
	for i := range l.b.Series {
		if x := &l.b.Series[i]; about(x.Subject) && !own(x.Origin) && len(x.T) > 0 {
			widen(x.Clock, x.T[0], x.T[len(x.T)-1])
		}
	}
	if !ok {
		return 0, 0, false
	}
	n := 0
	for _, row := range l.Rows {
		if l.isUnderWay(row, from, until) {
			n++
		}
	}
	return from, until, n >= MinRequests
}

// isUnderWay reports whether a request was under way at some time of [from, until).
func (l *Ledger) isUnderWay(row int, from, until int64) bool {
	r := &l.b.Requests
	return r.End.At(row) >= from && r.End.At(row)-r.Latency(row) < until
}

// onlyRecorded removes requests from the slow ones that were not under way during the rest of the recording.
func (l *Ledger) onlyRecorded() {
	from, until, ok := l.recordedTime()
	if !ok {
		return
	}
	l.Slow = slices.DeleteFunc(l.Slow, func(row int) bool {
		if l.isUnderWay(row, from, until) {
			return false
		}
		l.Apart = append(l.Apart, row)
		l.Total -= l.b.Requests.Latency(row)
		return true
	})
	for _, row := range l.Slow { // one may have ended later
		until = max(until, l.b.Requests.End.At(row)+1)
	}
	l.chargedFrom, l.chargedTo = max(l.From, from), min(l.To, until)
}

// ChargedTime returns from when until when (ns) slow requests are charged: the time they were watched, as far as the rest of the recording tells of it.
func (l *Ledger) ChargedTime() (from, to int64) {
	if l.chargedTo > l.chargedFrom {
		return l.chargedFrom, l.chargedTo
	}
	return l.From, l.To
}
