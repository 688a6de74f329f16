package metrics

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Profile is what a process's CPU profiles show, in ns.
type Profile struct {
	All    int64
	GC     int64   // background and idle marking, assists, sweeping
	Assist int64   // the part of GC that the program's goroutines had to do
	Marked int64   // marking: concurrent marking and Assist
	Span   float64 // s that were profiled; 0 unknown
	Origin evidence.Origin
}

// ProfileOf adds up a process's CPU profiles; false without any.
func ProfileOf(b *evidence.Bundle, subject evidence.SubjectID) (p Profile, ok bool) {
	s := &b.Samples
	cpu := b.Names.Lookup("cpu")
	if cpu == 0 {
		return p, false
	}
	for i := range s.Len() {
		if s.Subject[i] != subject || s.Type[i] != cpu {
			continue
		}
		p.All += s.Value[i]
		a, _ := s.Origin[i].Artifact()
		p.Origin = evidence.NewOrigin(a, 0)
		if class := b.Names.Text(s.Class[i]); strings.HasPrefix(class, evidence.ClassGC) {
			p.GC += s.Value[i]
			if class == evidence.ClassGCAssist {
				p.Assist += s.Value[i]
			}
			if class == evidence.ClassGCAssist || strings.HasPrefix(class, evidence.ClassGCMark) {
				p.Marked += s.Value[i]
			}
		}
	}
	for _, w := range b.Covered(subject, evidence.CoverCPUProfile) {
		p.Span += float64(w.Until-w.From) / 1e9
	}
	return p, p.All > 0
}
