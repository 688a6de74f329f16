package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// bandKinds are the kinds of intervals that are drawn as bands.
var bandKinds = []struct {
	kind             evidence.Kind
	cover, id, title string
	text             func(l *layout, row int) string
}{
	{evidence.GCCycle, evidence.CoverGC, "gc-cycle", "GC cycles", (*layout).cycleText},
	{evidence.GCMark, evidence.CoverGC, "gc-mark", "concurrent mark", (*layout).causeText},
	{evidence.GCConcurrent, evidence.CoverGC, "gc-concurrent", "concurrent phases", (*layout).stopText},
	{evidence.StopTheWorld, evidence.CoverGC, "stop-the-world", "stop-the-world pauses", (*layout).stopText},
	{evidence.Safepoint, evidence.CoverSafepoints, "safepoint", "safepoints", (*layout).stopText},
	{evidence.AllocStall, evidence.CoverStalls, "allocation-stall", "threads waiting for memory", (*layout).causeText},
	{evidence.Command, evidence.CoverRedisSlow, "command", "slow commands", (*layout).causeText},
	{evidence.ServerStall, evidence.CoverRedisLatency, "server-stall", "the server did other work than commands", (*layout).causeText},
}

// Ids of bands that are laid out by functions of their own.
const (
	bandPoolStarving = "pool-starving"
	bandPoolAdjusted = "pool-adjusted"
	bandLockWait     = "lock-wait"
	bandThrottled    = "cpu-throttled"
)

// BandIDs returns the ids that bands can have. The page has a colour for each.
func BandIDs() []string {
	ids := []string{bandPoolStarving, bandPoolAdjusted, bandLockWait, bandThrottled}
	for _, k := range bandKinds {
		ids = append(ids, k.id)
	}
	return ids
}

// addBands lays out what the runtime and the host did for a while.
func (l *layout) addBands() {
	for _, k := range bandKinds {
		rows, artifacts, watched := l.listIntervals(k.kind, k.cover)
		bandSpans := make([]bandSpan, 0, len(rows))
		for _, i := range rows {
			from, to := l.b.Intervals.Start[i], l.b.Intervals.End[i]
			if to >= l.t.From && from <= l.t.To {
				bandSpans = append(bandSpans, bandSpan{from: from, to: to, row: i})
			}
		}
		l.addBand(k.id, k.title, l.nameOf(artifacts), bandSpans, watched, func(row int) string { return k.text(l, row) })
	}
	l.addPoolAdjustments()
	l.addLockWaits()
	l.addThrottled()
}

// bandSpan is one entry of a band: an interval, or a moment, and its row in the bundle.
type bandSpan struct {
	from, to int64
	row      int
}

// listIntervals returns the rows of a kind in order of time, the artifacts they are from, and when
// that kind was watched. Several artifacts may show the same intervals: the one read with the
// requests counts, else the one with the best clock; others add what lies where it did not watch.
func (l *layout) listIntervals(kind evidence.Kind, cover string) (rows []int, from []evidence.ArtifactID, looked spans) {
	v := &l.b.Intervals
	byArtifact := make(map[evidence.ArtifactID][]int)
	for i, k := range v.Kind {
		if k != kind || v.Subject.At(i) != l.subject || v.End[i] < v.Start[i] {
			continue
		}
		if a, ok := v.Origin.At(i).Artifact(); ok && l.placed[v.Clock.At(i)] {
			byArtifact[a] = append(byArtifact[a], i)
		}
	}
	var order []evidence.ArtifactID
	for a := range byArtifact {
		order = append(order, a)
	}
	rank := func(a evidence.ArtifactID) int {
		if l.ledger != nil && l.ledger.Traced && l.of[a] >= 0 && l.of[a] == l.of[l.ledger.StatesFrom()] {
			return 0
		}
		return 1
	}
	slack := func(a evidence.ArtifactID) int64 { return l.b.Clocks[v.Clock.At(byArtifact[a][0])].Slack() }
	slices.SortFunc(order, func(x, y evidence.ArtifactID) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(slack(x), slack(y)), cmp.Compare(x, y))
	})
	for _, a := range order {
		n := len(rows)
		for _, i := range byArtifact[a] {
			if !looked.containsTime(v.Start[i]) {
				rows = append(rows, i)
			}
		}
		if len(rows) > n {
			from = append(from, a)
		}
		looked.add(l.watchedSpans(a, cover)...)
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Or(cmp.Compare(v.Start[a], v.Start[b]), cmp.Compare(a, b)) })
	slices.Sort(from)
	var saw []span
	for _, c := range l.b.Coverage { // artifacts without intervals watched, too
		if c.Subject == l.subject && c.Kind == cover && c.From != 0 && c.Until > c.From && l.placed[c.Clock] {
			saw = append(saw, span{c.From, c.Until})
		}
	}
	looked.add(saw...)
	return rows, from, looked
}

// watchedSpans returns the spans in which an artifact watched the subject.
func (l *layout) watchedSpans(a evidence.ArtifactID, kind string) (out []span) {
	for _, c := range l.b.Coverage {
		if o, ok := c.Origin.Artifact(); ok && o == a && c.Kind == kind && c.Subject == l.subject && c.From != 0 && c.Until > c.From && l.placed[c.Clock] {
			out = append(out, span{c.From, c.Until})
		}
	}
	return out
}

type span struct{ from, to int64 }

// spans are sorted and disjoint.
type spans []span

func (s *spans) add(more ...span) {
	if len(more) == 0 {
		return
	}
	all := append(slices.Clone(*s), more...)
	sorting.Short(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := all[:1]
	for _, x := range all[1:] {
		if last := &out[len(out)-1]; x.from <= last.to {
			last.to = max(last.to, x.to)
		} else {
			out = append(out, x)
		}
	}
	*s = out
}

func (s spans) containsTime(t int64) bool {
	i, ok := slices.BinarySearchFunc(s, t, func(x span, t int64) int { return cmp.Compare(x.from, t) })
	return ok || i > 0 && t < s[i-1].to
}

// addBand adds a band of spans in order of their beginning. Where there are more than [MaxBand],
// those with the least time between them are drawn together.
func (l *layout) addBand(id, title, source string, bandSpans []bandSpan, watched spans, text func(row int) string) {
	if len(bandSpans) == 0 {
		return
	}
	b := Band{ID: id, Title: title, Source: source, Watched: l.clipToShown(watched)}
	least := mergeGap(bandSpans)
	joined := least >= 0
	for i := 0; i < len(bandSpans); {
		x := bandSpans[i]
		longest, number, busy := x, uint32(1), x.to-x.from
		i++
		for ; i < len(bandSpans) && joined && bandSpans[i].from-x.to <= least; i++ {
			if y := bandSpans[i]; y.to-y.from > longest.to-longest.from {
				longest = y
			}
			busy += max(0, bandSpans[i].to-max(x.to, bandSpans[i].from))
			x.to = max(x.to, bandSpans[i].to)
			number++
		}
		b.From, b.To = append(b.From, x.from), append(b.To, x.to)
		b.Text = append(b.Text, text(longest.row))
		if joined {
			b.Number, b.Longest, b.Busy = append(b.Number, number), append(b.Longest, longest.to-longest.from), append(b.Busy, busy)
		}
	}
	b.keepLongestTexts()
	if !slices.ContainsFunc(b.Text, func(s string) bool { return s != "" }) {
		b.Text = nil
	}
	l.t.Bands = append(l.t.Bands, b)
}

// keepLongestTexts keeps only the texts of the longest spans if there are too many.
func (b *Band) keepLongestTexts() {
	if len(b.Text) <= maxText {
		return
	}
	long := func(i int) int64 {
		if b.Longest != nil {
			return b.Longest[i]
		}
		return b.To[i] - b.From[i]
	}
	order := make([]int, len(b.Text))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(long(y), long(x)), cmp.Compare(x, y)) })
	for _, i := range order[maxText:] {
		b.Text[i] = ""
	}
}

// clipToShown returns the parts of spans that lie in the shown time.
func (l *layout) clipToShown(s spans) (out [][2]int64) {
	for _, x := range s {
		if from, to := max(x.from, l.t.From), min(x.to, l.t.To); to > from {
			out = append(out, [2]int64{from, to})
		}
	}
	return out
}

// mergeGap returns the gap (ns) up to which neighbours must be drawn together so that no more than
// [MaxBand] are left; −1 if there are no more.
func mergeGap(bandSpans []bandSpan) int64 {
	if len(bandSpans) <= MaxBand {
		return -1
	}
	gaps := make([]int64, 0, len(bandSpans)-1)
	end := bandSpans[0].to
	for _, x := range bandSpans[1:] {
		gaps = append(gaps, max(0, x.from-end))
		end = max(end, x.to)
	}
	slices.Sort(gaps)
	return gaps[len(bandSpans)-MaxBand-1]
}

func (l *layout) causeText(row int) string {
	return l.b.Names.Text(l.b.Intervals.Cause.At(row))
}

// cycleText describes a collector's cycle.
func (l *layout) cycleText(row int) string {
	v := &l.b.Intervals
	var text []string
	if n, ok := v.Get(row, evidence.CycleNumber); ok {
		text = append(text, fmt.Sprintf("cycle %.0f", n))
	}
	if forced, _ := v.Get(row, evidence.Forced); forced != 0 {
		text = append(text, "forced")
	}
	if c := l.causeText(row); c != "" {
		text = append(text, c)
	}
	for _, k := range []struct {
		key  evidence.Key
		text string
	}{{evidence.HeapBefore, "heap"}, {evidence.HeapLive, "live"}, {evidence.HeapGoal, "goal"}} {
		if x, ok := v.Get(row, k.key); ok {
			text = append(text, k.text+" "+formatBytes(x))
		}
	}
	for _, k := range []struct {
		key  evidence.Key
		text string
	}{{evidence.STWTime, "stopped"}, {evidence.AssistTime, "assists"}, {evidence.BackgroundTime, "workers"}, {evidence.IdleTime, "idle workers"}} {
		if x, ok := v.Get(row, k.key); ok && x > 0 {
			text = append(text, k.text+" "+formatDuration(int64(x)))
		}
	}
	return strings.Join(text, ", ")
}

func formatBytes(bytes float64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.3g GiB", bytes/(1<<30))
	case bytes >= 1000<<10:
		return fmt.Sprintf("%.4g MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.4g KiB", bytes/(1<<10))
}

// findSeries returns the series of a name that are on the timeline: those of the subject, else of
// the host.
func (l *layout) findSeries(name string) (out []*evidence.Series) {
	for _, host := range []bool{false, true} {
		for i := range l.b.Series {
			s := &l.b.Series[i]
			if s.Name == name && len(s.T) > 0 && (!host && s.Subject == l.subject || host && s.Subject != l.subject && l.b.Subjects[s.Subject].Kind == evidence.Host) && l.placed[s.Clock] {
				out = append(out, s)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// siblingSeries returns the series of another name from the same source.
func (l *layout) siblingSeries(s *evidence.Series, name string) *evidence.Series {
	a, ok := s.Origin.Artifact()
	if !ok {
		return nil
	}
	return l.b.SeriesFrom(a, s.Subject, name)
}

func (l *layout) originName(o evidence.Origin) string {
	a, ok := o.Artifact()
	if !ok {
		return ""
	}
	return l.nameOf(l.piecesOf(a))
}

// piecesOf returns all artifacts of the recording that an artifact is a piece of.
func (l *layout) piecesOf(a evidence.ArtifactID) []evidence.ArtifactID {
	x := &l.b.Artifacts[a]
	if x.Series == "" {
		return []evidence.ArtifactID{a}
	}
	var out []evidence.ArtifactID
	for i := range l.b.Artifacts {
		if y := &l.b.Artifacts[i]; y.Series == x.Series && slices.Equal(x.Formats, y.Formats) {
			out = append(out, evidence.ArtifactID(i))
		}
	}
	return out
}
