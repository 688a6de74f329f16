package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/sightings"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Of lays out what happened to a subject. Ledgers are the bundle's, of any subjects; the subject's own tells which requests were slow. The
// bundle must have been unified and aligned; Of does not change it.
func Of(b *evidence.Bundle, ledgers []*ledger.Ledger, subject evidence.SubjectID) *Timeline {
	t := &Timeline{}
	if int(subject) < 0 || int(subject) >= len(b.Subjects) {
		return t
	}
	l := &layout{b: b, t: t, subject: subject}
	for _, x := range ledgers {
		if x.Subject == subject {
			l.ledger = x
		}
	}
	l.titles = b.Titles()
	t.Subject, t.ledger = l.titles[subject], l.ledger
	t.Lanes = l.laneNoun()
	l.frames.stacks = platform.ByID(b.Subjects[subject].Runtime).Stacks
	l.findSources()
	l.placeClocks()
	l.chooseRequests()
	l.addRoutes()
	l.addPoints()
	l.setShownSpan()
	l.addBands()
	l.addCharts()
	l.addRequestDetails()
	l.addProcessors()
	l.addFlames()
	l.summarizeCollector()
	l.noteOtherSubjects()
	return t
}

// layout builds a Timeline.
type layout struct {
	b       *evidence.Bundle
	t       *Timeline
	subject evidence.SubjectID
	ledger  *ledger.Ledger // nil: the subject has no requests
	titles  []string       // by subject

	sources []source
	of      []int // by artifact: its source, −1 if it has no requests of the subject

	placed []bool // by clock: its times are on the timeline
	head   evidence.ClockID

	ofRows  []bool        // by artifact: requests of it are charged
	slow    evidence.Rows // by request
	shown   shown
	frames  frames
	lengths []int64                      // of a request's states
	cycles  map[evidence.ArtifactID]bool // artifacts with intervals
}

// source is an artifact, or the pieces of one recording, with requests of the subject.
type source struct {
	name      string
	artifacts []evidence.ArtifactID
	count     int
	from, to  int64 // ns: the first beginning, the last end
	low, high int64 // ns: the least and the highest latency
	clock     evidence.ClockID
	placed    bool
}

// findSources groups the subject's requests by what they were read from and puts the source that
// heads the report first.
func (l *layout) findSources() {
	r, b := &l.b.Requests, l.b
	l.of = make([]int, len(b.Artifacts))
	for i := range l.of {
		l.of[i] = -1
	}
	bySeries := make(map[string]int)
	l.findChargedArtifacts()
	for i := range r.Len() {
		if r.Subject.At(i) != l.subject || !r.Timed(i) {
			continue
		}
		a, ok := r.Origin.At(i).Artifact()
		if !ok || int(a) >= len(b.Artifacts) || l.isDuplicateOfHead(a) {
			continue
		}
		at := l.of[a]
		if at < 0 {
			at = l.joinLoadGenerator(a)
			if at < 0 {
				at = l.sourceOf(a, bySeries)
			}
			l.of[a] = at
		}
		s := &l.sources[at]
		lat := r.Latency(i)
		began := r.End.At(i) - lat
		if s.count == 0 {
			s.from, s.to, s.low, s.high, s.clock = began, r.End.At(i), lat, lat, r.Clock.At(i)
		}
		s.count++
		s.from, s.to = min(s.from, began), max(s.to, r.End.At(i))
		s.low, s.high = min(s.low, lat), max(s.high, lat)
	}
	if l.ledger == nil || len(l.sources) == 0 {
		return
	}
	if first := l.of[l.ledger.Requests.Source]; first > 0 {
		moved := append([]source{l.sources[first]}, slices.Delete(slices.Clone(l.sources), first, first+1)...)
		for i, at := range l.of {
			switch {
			case at == first:
				l.of[i] = 0
			case at >= 0 && at < first:
				l.of[i]++
			}
		}
		l.sources = moved
	}
	for a := range l.of {
		if l.isDuplicateOfHead(evidence.ArtifactID(a)) {
			l.of[a] = l.of[l.ledger.Source]
		}
	}
}

// findChargedArtifacts finds which artifacts the charged requests are from: those of several load
// generators that ran at once.
func (l *layout) findChargedArtifacts() {
	l.ofRows = make([]bool, len(l.b.Artifacts))
	if l.ledger == nil {
		return
	}
	for _, row := range l.ledger.Rows {
		if a, ok := l.b.Requests.Origin.At(row).Artifact(); ok && int(a) < len(l.ofRows) {
			l.ofRows[a] = true
		}
	}
}

// joinLoadGenerator adds an artifact to the source of the load generators that ran at the same
// time, and returns that source; −1 if it is not one of them, or the first.
func (l *layout) joinLoadGenerator(a evidence.ArtifactID) int {
	if l.ledger == nil || !l.ofRows[a] || !sightings.ByClients(l.b, l.ledger.Rows[0]) {
		return -1
	}
	for other, at := range l.of {
		if at >= 0 && l.ofRows[other] && l.b.Artifacts[other].Series == "" {
			l.sources[at].artifacts = append(l.sources[at].artifacts, a)
			return at
		}
	}
	return -1
}

// isDuplicateOfHead says whether an artifact's requests are those of the source that heads the
// report, which saw them from further outside; they are drawn once.
func (l *layout) isDuplicateOfHead(a evidence.ArtifactID) bool {
	if l.ledger == nil || a == l.ledger.Source || l.ofRows[a] {
		return false
	}
	if l.ledger.Joined != nil && l.ledger.TracedBy(a) {
		return true
	}
	return l.ledger.Source == l.ledger.Requests.Source && slices.ContainsFunc(l.ledger.Seen, func(j sightings.Joined) bool { return slices.Contains(j.Traces, a) })
}

// sourceOf returns the source of an artifact: a new one unless it is a piece of a recording that
// has one.
func (l *layout) sourceOf(a evidence.ArtifactID, bySeries map[string]int) int {
	x := &l.b.Artifacts[a]
	if x.Series != "" {
		if at, ok := bySeries[x.Series]; ok {
			l.sources[at].artifacts = append(l.sources[at].artifacts, a)
			return at
		}
		bySeries[x.Series] = len(l.sources)
	}
	l.sources = append(l.sources, source{artifacts: []evidence.ArtifactID{a}})
	return len(l.sources) - 1
}

// nameOf names artifacts: pieces of a recording by its name and how many.
func (l *layout) nameOf(artifacts []evidence.ArtifactID) string {
	var names []string
	pieces := make(map[string]int)
	for _, a := range artifacts {
		x := &l.b.Artifacts[a]
		if x.Series == "" {
			names = append(names, x.Name)
			continue
		}
		if pieces[x.Series] == 0 {
			names = append(names, x.Name)
		}
		pieces[x.Series]++
	}
	for i, n := range names {
		for _, a := range artifacts {
			if x := &l.b.Artifacts[a]; x.Name == n && pieces[x.Series] > 1 && x.Series != "" {
				names[i] = fmt.Sprintf("%s (%d pieces)", x.Series, pieces[x.Series])
			}
		}
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	return strings.Join(names, ", ")
}

// setShownSpan sets the time that is shown: as long as requests were watched and a margin around
// it; without requests, all the time the subject was watched.
func (l *layout) setShownSpan() {
	var from, to int64
	add := func(x, y int64) {
		if from == 0 && to == 0 {
			from, to = x, y
		}
		from, to = min(from, x), max(to, y)
	}
	for i := range l.sources {
		if s := &l.sources[i]; s.placed {
			add(s.from, s.to)
		}
	}
	for _, c := range l.b.Coverage {
		if c.From == 0 || c.Until <= c.From || !l.placed[c.Clock] {
			continue
		}
		a, ok := c.Origin.Artifact()
		if len(l.sources) > 0 && (!ok || l.of[a] < 0 || c.Subject != l.subject) {
			continue
		}
		if len(l.sources) == 0 && c.Subject != l.subject {
			continue
		}
		add(c.From, c.Until)
	}
	l.t.From, l.t.To = from, to
	if len(l.sources) == 0 {
		return
	}
	// The time around it shows the state before and after.
	margin := (to - from) / 4
	if to-from < 1e9 {
		margin = 30e9 // the few requests are not what was watched
	}
	for _, c := range l.b.Coverage {
		if l.isDrawn(&c) && (c.Subject == l.subject || l.b.Subjects[c.Subject].Kind == evidence.Host) {
			add(max(c.From, l.t.From-margin), min(max(c.Until, l.t.From-margin), l.t.To+margin))
		}
	}
	l.t.From, l.t.To = min(from, l.t.From), max(to, l.t.To)
}

// isDrawn says whether a coverage is on the timeline. Memory statistics know of GC cycles long
// ago, but not when they began.
func (l *layout) isDrawn(c *evidence.Coverage) bool {
	if c.From == 0 || c.Until <= c.From || !l.placed[c.Clock] {
		return false
	}
	if c.Kind != evidence.CoverGC {
		return true
	}
	if l.cycles == nil {
		l.cycles = make(map[evidence.ArtifactID]bool)
		for _, o := range l.b.Intervals.Origin.All() {
			if a, ok := o.Artifact(); ok {
				l.cycles[a] = true
			}
		}
	}
	a, _ := c.Origin.Artifact()
	return l.cycles[a]
}

// noteOmitted records that something was recorded and is not shown.
func (l *layout) noteOmitted(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(l.t.Omitted, text) {
		l.t.Omitted = append(l.t.Omitted, text)
	}
}

// noteOtherSubjects records what of the bundle is not shown: other subjects' requests, and times
// without a time of day or outside the shown span.
func (l *layout) noteOtherSubjects() {
	b := l.b
	requests := make([]int, len(b.Subjects))
	for _, s := range b.Requests.Subject.All() {
		requests[s]++
	}
	for s, n := range requests {
		if n > 0 && evidence.SubjectID(s) != l.subject {
			l.noteOmitted("%d requests of %s: this timeline covers %s", n, l.titles[s], l.t.Subject)
		}
	}
	for i := range l.sources {
		if s := &l.sources[i]; !s.placed {
			l.noteOmitted("the %d requests of %s: their time of day is not known", s.count, s.name)
		}
	}
	apart := make(map[string]bool)
	for _, c := range b.Coverage {
		if a, ok := c.Origin.Artifact(); ok && c.Subject == l.subject && c.From != 0 && !l.placed[c.Clock] && l.of[a] < 0 {
			apart[b.Artifacts[a].Name] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(apart)) {
		l.noteOmitted("%s: its time of day is not known", n)
	}
	if from, to := l.fullSpan(); len(l.sources) > 0 && (from < l.t.From || to > l.t.To) {
		l.noteOmitted("%s without requests, before the first and after the last", formatDuration(max(0, l.t.From-from)+max(0, to-l.t.To)))
	}
}

// fullSpan returns the span of all that was drawn of the subject, shown or not.
func (l *layout) fullSpan() (from, to int64) {
	from, to = l.t.From, l.t.To
	for _, c := range l.b.Coverage {
		if c.Subject == l.subject && l.isDrawn(&c) {
			from, to = min(from, c.From), max(to, c.Until)
		}
	}
	return from, to
}

// formatDuration writes a duration (ns) with a unit.
func formatDuration(ns int64) string {
	switch s := float64(ns) / 1e9; {
	case s >= 7200:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.0f min", s/60)
	case s >= 1:
		return fmt.Sprintf("%.3g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g µs", float64(ns)/1e3)
}
