package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// crossCheck holds sources against each other before anything is concluded from
// them, and names what does not fit.
func crossCheck(b *evidence.Bundle) {
	warnDisjointArtifacts(b)
	for s := range b.Subjects {
		cycleCounts(b, evidence.SubjectID(s))
		collectorTime(b, evidence.SubjectID(s))
	}
}

type window struct {
	metrics.Window
	artifact evidence.ArtifactID
}

// artifactWindows returns the anchored time span of every artifact; the pieces of one recording
// share one span.
func artifactWindows(b *evidence.Bundle) []window {
	var out []window
	for _, c := range b.Coverage {
		a, ok := c.Origin.Artifact()
		if !ok || c.From == 0 || c.Until == 0 || !b.Clocks[c.Clock].Anchored() {
			continue
		}
		slack := b.Clocks[c.Clock].Slack()
		w := window{metrics.Window{From: c.From - slack, Until: c.Until + slack}, a}
		found := false
		for i := range out {
			if out[i].artifact == a || b.Artifacts[a].Series != "" && b.Artifacts[a].Series == b.Artifacts[out[i].artifact].Series {
				out[i].From, out[i].Until = min(out[i].From, w.From), max(out[i].Until, w.Until)
				found = true
			}
		}
		if !found {
			out = append(out, w)
		}
	}
	return out
}

// near is how far apart artifacts may be and still be taken for one recording:
// a profile first, then a trace.
const near = time.Minute

// warnDisjointArtifacts warns of artifacts whose time spans lie too far apart to be of one
// recording.
func warnDisjointArtifacts(b *evidence.Bundle) {
	ws := artifactWindows(b)
	for i, x := range ws {
		for _, y := range ws[:i] {
			if x.From < y.Until+int64(near) && y.From < x.Until+int64(near) {
				continue
			}
			b.Warnf(evidence.NewOrigin(x.artifact, 0), "%s (%s) and %s (%s) do not overlap in time: neither can explain the other",
				b.Artifacts[y.artifact].Name, formatWindow(y.Window), b.Artifacts[x.artifact].Name, formatWindow(x.Window))
		}
	}
}

// formatCoveredTime writes the time span of all evidence.
func formatCoveredTime(i *incident.Incident) string {
	if w := i.Whole; !i.Dated {
		return fmt.Sprintf("%s to %s after the start of a log without dates", time.Duration(w.From).Round(time.Second), time.Duration(w.Until).Round(time.Second))
	}
	return formatWindow(i.Whole) + " UTC"
}

func formatWindow(w metrics.Window) string {
	from, until := time.Unix(0, w.From).UTC(), time.Unix(0, w.Until).UTC()
	layout := "15:04:05"
	if from.Truncate(24*time.Hour) != until.Truncate(24*time.Hour) {
		layout = "2006-01-02 15:04:05"
	}
	return from.Format("2006-01-02 15:04:05") + "–" + until.Format(layout)
}

// cycleCounts compares the collector's cycles as two artifacts saw them over the
// time both watched.
func cycleCounts(b *evidence.Bundle, s evidence.SubjectID) {
	cover := b.Covered(s, evidence.CoverGC)
	for i, x := range cover {
		for _, y := range cover[:i] {
			from, until := max(x.From, y.From), min(x.Until, y.Until)
			if until <= from {
				continue
			}
			n, m := cyclesWithin(b, s, x.Origin, from, until), cyclesWithin(b, s, y.Origin, from, until)
			if d := n - m; d > 2+m/20 || -d > 2+m/20 {
				xa, _ := x.Origin.Artifact()
				ya, _ := y.Origin.Artifact()
				b.Warnf(x.Origin, "for the same time %s shows %d GC cycles and %s %d: they cover different processes, or one lost events", b.Artifacts[xa].Name, n, b.Artifacts[ya].Name, m)
			}
		}
	}
}

func cyclesWithin(b *evidence.Bundle, s evidence.SubjectID, origin evidence.Origin, from, until int64) (n int) {
	want, _ := origin.Artifact()
	v := &b.Intervals
	for i, k := range v.Kind {
		if k != evidence.GCCycle || v.Subject.At(i) != s || v.Start[i] < from || v.Start[i] >= until {
			continue
		}
		if a, _ := v.Origin.At(i).Artifact(); a == want {
			n++
		}
	}
	return n
}

// collectorTime compares the collector's time on processors, as the runtime
// counts it, with its CPU time in a profile. On a host that does not run the
// threads the first is a multiple of the second (golang/go#19497).
func collectorTime(b *evidence.Bundle, s evidence.SubjectID) {
	p, ok := metrics.ProfileOf(b, s)
	if !ok || p.Span == 0 {
		return
	}
	var from, until int64
	for _, c := range b.Covered(s, evidence.CoverCPUProfile) {
		if from == 0 || c.From < from {
			from = c.From
		}
		until = max(until, c.Until)
	}
	byProfile := float64(p.Marked) / 1e9 / p.Span
	for _, g := range b.Covered(s, evidence.CoverGC) {
		a, _ := g.Origin.Artifact()
		if g.Until <= from || g.From >= until {
			continue // of another time
		}
		var onP float64
		v := &b.Intervals
		var first, last int64
		for i, k := range v.Kind {
			if o, _ := v.Origin.At(i).Artifact(); k != evidence.GCCycle || v.Subject.At(i) != s || o != a || v.Start[i] < from || v.Start[i] >= until {
				continue
			}
			if first == 0 {
				first = v.Start[i]
			}
			last = v.End[i]
			for _, key := range []evidence.Key{evidence.AssistTime, evidence.BackgroundTime, evidence.IdleTime} {
				x, _ := v.Get(i, key)
				onP += x
			}
		}
		if last-first < (until-from)/2 || byProfile < .01 {
			continue
		}
		if ratio := onP / float64(last-first) / byProfile; ratio > 2 {
			b.Warnf(g.Origin, "%s shows %.1f × as much GC CPU time as the profile: part of that time the host did not run the process's threads", b.Artifacts[a].Name, ratio)
		}
	}
}

// countSlowOutsideTrace counts the requests (n) outside the traced time that were slow, in the
// artifact that saw most requests; slow is above the ledger's threshold and above three times the
// median of that artifact. Of these, felt took long enough to be noticed. Both are 0 where enough
// slow requests lie within the traced time.
func countSlowOutsideTrace(b *evidence.Bundle, l *ledger.Ledger) (n, felt int) {
	if l.Source == l.Requests.Source || !l.Traced {
		return 0, 0
	}
	asked := l.Rule == ledger.RuleSLO || l.Rule == ledger.RuleBaseline
	slow := max(l.Threshold, 3*l.Requests.P50)
	r := &b.Requests
	within := 0
	for i := range r.Len() {
		if a, _ := r.Origin.At(i).Artifact(); a != l.Requests.Source || r.Subject.At(i) != l.Subject || r.Latency(i) <= slow {
			continue
		}
		if r.End.At(i) >= l.From && r.End.At(i)-r.Latency(i) <= l.To {
			within++
			continue
		}
		n++
		if asked || r.Latency(i) >= check.Noticeable.Int64() {
			felt++
		}
	}
	if n < ledger.MinRequests || n < 10*within {
		return 0, 0
	}
	return n, felt
}

// compareP99 warns where two artifacts disagree on the p99 over the time both saw. A log counts
// from where the handler began, a trace from when the request could be read: only the trace
// includes the wait for a processor between the two.
func compareP99(b *evidence.Bundle, l *ledger.Ledger) {
	if l.Source == l.Requests.Source || len(l.Rows) < 100 {
		return
	}
	r := &b.Requests
	var other, own []int64
	gaveUp := 0
	for i := range r.Len() {
		if a, _ := r.Origin.At(i).Artifact(); a == l.Requests.Source && r.Subject.At(i) == l.Subject && r.End.At(i) >= l.From && r.End.At(i) <= l.To {
			other = append(other, r.Latency(i))
			if r.Outcome.At(i) == evidence.TimedOut {
				gaveUp++
			}
		}
	}
	if len(other) < 100 || 100*gaveUp >= len(other) { // the service goes on with what its client has given up
		return
	}
	for _, row := range l.Rows {
		own = append(own, r.Latency(row))
	}
	slices.Sort(other)
	slices.Sort(own)
	x, y := stats.Quantile(other, .99), stats.Quantile(own, .99)
	if y > x+x/2 && y-x > int64(time.Millisecond) {
		b.Warnf(evidence.NewOrigin(l.Requests.Source, 0), "for the same time the p99 is %s in %s and %s in %s: the first does not include the wait of requests before their handler starts",
			units.Time(float64(x)), b.Artifacts[l.Requests.Source].Name, units.Time(float64(y)), b.Artifacts[l.Source].Name)
	}
}
