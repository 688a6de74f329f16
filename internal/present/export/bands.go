package export

import (
	"fmt"
	"path/filepath"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// lasting are the kinds of interval that have a track.
var lasting = []struct {
	kind  evidence.Kind
	title string
}{
	{evidence.StopTheWorld, "stop-the-world"},
	{evidence.GCCycle, "GC cycles"},
	{evidence.GCMark, "GC mark"},
	{evidence.Command, "slow commands"},
	{evidence.ServerStall, "server stalls"},
}

// writeIntervals writes intervals of one kind. Overlapping ones get separate tracks, as several
// sources may describe the same cycles.
func (p *viewed) writeIntervals(root uint64, rank int, title string, rows []int) {
	v := &p.s.Bundle.Intervals
	tracks := make(map[evidence.ArtifactID][]slot)
	var sources []evidence.ArtifactID
	for _, i := range rows {
		a, _ := v.Origin.At(i).Artifact()
		if tracks[a] == nil {
			sources = append(sources, a)
		}
		on := -1
		for n := range tracks[a] {
			if tracks[a][n].until <= v.Start[i] {
				on = n
				break
			}
		}
		if on < 0 {
			on = len(tracks[a])
			name := title
			if len(sources) > 1 && a != sources[0] {
				name += " in " + filepath.Base(p.s.artifactName(v.Origin.At(i)))
			}
			tracks[a] = append(tracks[a], slot{track: p.t.addTrack(track{parent: root, name: name, rank: rank})})
		}
		x := &tracks[a][on]
		x.until = v.End[i]
		name := p.s.Bundle.Names.Text(v.Cause.At(i))
		if name == "" {
			name = v.Kind[i].String()
		}
		if n, ok := v.Get(i, evidence.CycleNumber); ok {
			name = fmt.Sprintf("%s %.0f", name, n)
		}
		p.t.noteOnce("origin", p.s.Bundle.OriginText(v.Origin.At(i)))
		for k := range evidence.NumKeys {
			if n, ok := v.Get(i, k); ok {
				p.t.noteFigure(figureColumns[k], n)
			}
		}
		p.t.beginSlice(x.track, v.Start[i], name)
		p.t.endSlice(x.track, v.End[i])
	}
}

// writeThrottling writes the periods between two counter readings in which a quota throttled a process.
func (p *viewed) writeThrottling(root uint64, rank int, x *evidence.Series) {
	all := timeline.Throttles(p.s.Bundle, x)
	if len(all) == 0 {
		return
	}
	on := p.t.addTrack(track{parent: root, name: timeline.ThrottledTitle, rank: rank})
	for _, y := range all {
		p.t.beginSlice(on, y.From, y.Text)
		p.t.endSlice(on, y.To)
	}
}
