package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
)

// describeRequests fills in the figures of the requests and the entries of the ledger.
func (r *run) describeRequests() {
	ledgers := r.incident.Counted()
	if len(ledgers) == 0 {
		return
	}
	r.d.RankedBy = "request_time"
	// The report begins with the figures of one service; slow time is that of all services.
	top := mainLedger(ledgers)
	q := top.Requests
	out := &Requests{
		Source:          r.b.Artifacts[q.Source].Name,
		LedgerSource:    r.b.Artifacts[top.Source].Name,
		SlowThresholdMs: stats.FiniteOrNil(float64(top.Threshold) / 1e6),
		SlowRule:        top.Rule,
		P50Ms:           msOrNil(q.P50),
		P99Ms:           msOrNil(q.P99),
		P999Ms:          msOrNil(q.P999),
	}
	if top.Several {
		out.SlowThresholdMs = nil
	}
	if q.Rate > 0 {
		out.Rate = stats.FiniteOrNil(q.Rate)
	}
	timedOut := 0
	var files []string
	for _, l := range ledgers {
		for _, a := range l.Requests.Files {
			if name := r.b.Artifacts[a].Name; !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
		out.Count += l.Requests.Count
		out.Unfinished += l.Requests.Unfinished
		out.Failed += l.Requests.Failed
		timedOut += l.Requests.TimedOut
		out.Slow += len(l.Slow)
		out.LedgerCount += len(l.Rows)
		out.SlowLong += l.Long
		n, felt := countSlowOutsideTrace(r.b, l)
		out.Outside, r.outside = out.Outside+n, r.outside+felt
		traced, alike := l.TracedSlow()
		out.Traced, out.Alike = out.Traced+traced, out.Alike+alike
		out.SlowTotalMs += float64(l.Total) / 1e6
		out.Held += len(l.Held)
		out.Apart += len(l.Apart)
		out.HeldMs += float64(l.HeldTime) / 1e6
		for _, e := range l.Entries {
			r.d.Ledger = append(r.d.Ledger, r.newEntry(l, e))
		}
	}
	if len(files) > 1 {
		out.Files = files
	}
	sorting.Short(r.d.Ledger, func(a, b Entry) int { return cmp.Compare(b.SlowMs, a.SlowMs) })
	if out.Outside > 0 {
		r.b.Warnf(evidence.NewOrigin(top.Source, 0), "%s of %s happened outside the traced time, so the causes found may not explain them: record again while it is slow, or for longer", units.Plural(out.Outside, "slow request"), r.b.Artifacts[q.Source].Name)
	}
	if failed := out.Failed - timedOut; 10*failed > out.Count { // timed-out requests are slow already
		r.b.Warnf(evidence.NewOrigin(q.Source, 0), "%s of the requests failed: failing may make them slow, or fast", units.Percent(float64(failed)/float64(out.Count)))
	}
	r.addFailedStatus(out, q.Source)
	out.SilentS = silentFor(r.b, top, out.FailedStatus != 0)
	for _, l := range ledgers {
		out.Joined = append(out.Joined, r.joinedOf(l)...)
	}
	out.Onset = findOnset(r.b, top)
	r.d.Requests = out
}

// addFailedStatus adds the status that most of the failed requests were answered with, where their source tells it of half of them.
func (r *run) addFailedStatus(out *Requests, source evidence.ArtifactID) {
	for _, f := range r.b.Facts {
		if a, ok := f.Origin.Artifact(); !ok || a != source || f.Key != evidence.FactFailedStatus || 2*f.Number < float64(out.Failed) {
			continue
		}
		if status, err := strconv.Atoi(f.Value); err == nil {
			out.FailedStatus, out.FailedWith = status, min(int(f.Number), out.Failed)
		}
	}
}

// A service is silent at the end if it answers none of several requests for some seconds, and for a part of the time that no pause explains.
const (
	silentRequests = 20
	silentFrom     = 5e9 // ns
	silentShare    = .2
)

// silentFor returns the time (s) at the end of a ledger's requests in which none was answered; 0 if that is short, or if hardly any waited then.
// Failed requests count as answered if their statuses are known.
func silentFor(b *evidence.Bundle, l *ledger.Ledger, statuses bool) float64 {
	x, last, until, waiting := &b.Requests, l.From, l.To, 0
	answered := func(o evidence.Outcome) bool { return o == evidence.OK || statuses && o == evidence.Failed }
	for _, row := range l.Rows {
		if answered(x.Outcome.At(row)) {
			last = max(last, x.End.At(row))
		}
		until = max(until, x.End.At(row))
	}
	for _, row := range l.Rows {
		if !answered(x.Outcome.At(row)) && x.End.At(row) > last {
			waiting++
		}
	}
	silent := until - last
	if waiting < silentRequests || silent < silentFrom || float64(silent) < silentShare*float64(until-l.From) {
		return 0
	}
	return float64(silent) / 1e9
}

// leastApart is the least difference of clocks that is reported, ns.
const leastApart = 20e6

// joinedOf returns how many requests of a ledger were found in several sources.
func (r *run) joinedOf(l *ledger.Ledger) (out []Joined) {
	for _, j := range l.Seen {
		if len(j.Traces) == 0 {
			continue
		}
		x := Joined{Subject: r.name[l.Subject], Source: r.b.Artifacts[j.Traces[0]].Name, From: j.Inner.String(), Count: j.Traced, Found: j.Matched,
			In: r.b.Artifacts[j.Rows].Name, InFrom: j.Side.String(), Among: j.All, ByID: j.Keyed}
		if j.Behind >= leastApart || j.Behind <= -leastApart {
			x.Behind = stats.FiniteOrNil(float64(j.Behind) / 1e6)
		}
		out = append(out, x)
	}
	return out
}

func msOrNil(ns int64) *float64 {
	if ns == 0 {
		return nil
	}
	return stats.FiniteOrNil(float64(ns) / 1e6)
}

func (r *run) newEntry(l *ledger.Ledger, e ledger.Entry) Entry {
	detail, wait := r.b.Names.Text(e.Detail), r.b.Names.Wait(e.Detail)
	out := Entry{Subject: r.name[l.Subject], Mechanism: e.Mechanism.String(), Title: l.TitleAt(e.Mechanism, platform.ByID(r.b.Subjects[l.Subject].Runtime).Lane, wait), Detail: detail,
		SlowMs: float64(e.Ns) / 1e6, Method: e.Method}
	if e.Interval != nil {
		out.Low, out.High = stats.FiniteOrNil(e.Interval.Low/1e6), stats.FiniteOrNil(e.Interval.High/1e6)
		out.Basis = &e.Basis
	}
	return out
}

// describeEvidence fills in what the evidence covers: time, load, targets, sources, what was not
// seen, and warnings.
func (r *run) describeEvidence() {
	d := r.d
	if from, until := r.b.Window(); until > 0 {
		d.Window.Start, d.Window.End = utcTime(from), utcTime(until)
		d.Window.Duration = stats.FiniteOrNil(float64(until-from) / 1e9)
	} else {
		var longest int64
		for _, c := range r.b.Coverage {
			longest = max(longest, c.Until-c.From)
		}
		if longest > 0 {
			d.Window.Duration = stats.FiniteOrNil(float64(longest) / 1e9)
		}
	}
	d.Loads = []Load{}
	for _, l := range r.b.Loads {
		d.Loads = append(d.Loads, r.newLoad(l))
	}
	d.Targets = []Target{}
	for i, s := range r.b.Subjects {
		name, ok := r.name[evidence.SubjectID(i)]
		if !ok {
			continue
		}
		t := Target{ID: name, Kind: s.Kind.String(), Name: s.Name, Runtime: s.Runtime, Version: s.Version, Container: s.Container}
		if s.PID != 0 {
			t.PID = &s.PID
		}
		if s.CPUs != 0 {
			t.CPUs = &s.CPUs
		}
		if t.Version == "" {
			t.Version = atLeast(r.b, evidence.SubjectID(i))
		}
		if f, ok := r.b.Fact(evidence.SubjectID(i), evidence.FactContainerLimit); ok {
			limit := int64(f.Number)
			t.MemLimit = &limit
		}
		t.In = findContainer(r.b, evidence.SubjectID(i))
		d.Targets = append(d.Targets, t)
	}
	d.Coverage = []Coverage{}
	for _, c := range r.b.Coverage {
		out := Coverage{Subject: r.name[c.Subject], Kind: c.Kind, Seconds: float64(c.Until-c.From) / 1e9, Lost: c.Lost}
		if c.From == 0 || c.Until <= c.From { // its beginning, or its end, is not known
			out.Seconds = 0
		}
		if r.b.Clocks[c.Clock].Anchored() {
			if c.From != 0 {
				out.From = utcTime(c.From)
			}
			if c.Until != 0 {
				out.Until = utcTime(c.Until)
			}
		}
		d.Coverage = append(d.Coverage, out)
	}
	d.Sources = []Source{}
	for _, a := range r.b.Artifacts {
		s := Source{Name: a.Name, Series: a.Series, Formats: a.Formats, Envelopes: a.Envelopes, Cut: a.Tail}
		if s.Envelopes == nil {
			s.Envelopes = []string{}
		}
		d.Sources = append(d.Sources, s)
	}
	d.NotSeen = []NotSeen{}
	for _, u := range r.b.Unseen {
		d.NotSeen = append(d.NotSeen, NotSeen(u))
	}
	d.Warnings = []Warning{}
	for _, w := range r.b.Warnings {
		if r.isCovered(&w) {
			continue
		}
		d.Warnings = append(d.Warnings, Warning{Text: w.Text, Count: w.Count, Origin: r.b.OriginText(w.Origin)})
	}
}

// findContainer returns what the container engine told of a subject's container; nil if it told
// nothing.
func findContainer(b *evidence.Bundle, of evidence.SubjectID) *Container {
	c, told := Container{}, false
	for _, f := range b.Facts {
		if f.Subject != of {
			continue
		}
		into := map[string]*string{evidence.FactContainerEngine: &c.Engine, evidence.FactContainerName: &c.Name, evidence.FactContainerImage: &c.Image,
			evidence.FactPod: &c.Pod, evidence.FactNamespace: &c.Namespace, evidence.FactNode: &c.Node}[f.Key]
		if into != nil {
			*into, told = f.Value, true
		}
		if label, ok := strings.CutPrefix(f.Key, evidence.FactContainerLabel); ok {
			if c.Labels == nil {
				c.Labels = map[string]string{}
			}
			c.Labels[label] = f.Value
		}
	}
	if !told {
		return nil
	}
	return &c
}

// isCovered says whether what a warning calls missing is in another artifact: requests of any source, or dumps that show states.
func (r *run) isCovered(w *evidence.Warning) bool {
	own, _ := w.Origin.Artifact()
	if w.Unless == evidence.CoverRequests && len(r.incident.Counted()) > 0 {
		return true
	}
	return w.Unless != "" && slices.ContainsFunc(r.b.Coverage, func(c evidence.Coverage) bool {
		a, ok := c.Origin.Artifact()
		return ok && a != own && c.Kind == w.Unless && !slices.ContainsFunc(r.b.Facts, func(f evidence.Fact) bool {
			of, known := f.Origin.Artifact()
			return known && of == a && f.Key == evidence.FactStateless
		})
	})
}

func (r *run) newLoad(l evidence.LoadResult) Load {
	out := Load{Tool: l.Tool, Mode: l.Mode, LatencyFrom: "intended", MaxMs: msOrNil(l.Max), Sent: max(l.Sent, l.Completed), Failed: l.Errors}
	if l.Tool == "unstall" {
		out.Failed += l.Timeouts // other generators count them as errors
	}
	out.TimedOut = min(l.Timeouts, out.Failed)
	if a, ok := l.Origin.Artifact(); ok {
		out.Source = r.b.Artifacts[a].Name
	}
	if l.FromSend {
		out.LatencyFrom = "send"
	}
	if l.Rate > 0 {
		out.Rate = stats.FiniteOrNil(l.Rate)
	}
	for _, q := range l.Quantiles {
		switch q.Q {
		case .5:
			out.P50Ms = msOrNil(q.Ns)
		case .99:
			out.P99Ms = msOrNil(q.Ns)
		case .95:
			out.P95Ms = msOrNil(q.Ns)
		}
	}
	if out.P99Ms != nil {
		out.P95Ms = nil
	}
	return out
}

func utcTime(ns int64) *time.Time {
	t := time.Unix(0, ns).UTC()
	return &t
}

// atLeast returns the oldest release that the evidence leaves possible, in words; "" if unknown.
func atLeast(b *evidence.Bundle, id evidence.SubjectID) string {
	if r := oldestRelease(b, id); r != "" {
		return r + " or later"
	}
	return ""
}

// oldestRelease returns the oldest release that the evidence leaves possible; "" if unknown.
func oldestRelease(b *evidence.Bundle, id evidence.SubjectID) (release string) {
	if of := platform.ByID(b.Subjects[id].Runtime); of.AtLeast != nil {
		release, _ = of.AtLeast(b, id)
	}
	return release
}
