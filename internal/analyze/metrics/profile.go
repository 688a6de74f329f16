package metrics

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/goclass"
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

// ProfileOf adds up a process's CPU profiles, or those samples of the kernel's CPU clock that name the functions of Go's runtime; false without any.
func ProfileOf(b *evidence.Bundle, subject evidence.SubjectID) (p Profile, ok bool) {
	if p, ok = profileOf(b, subject); !ok {
		p, ok = clockedProfileOf(b, subject)
	}
	return p, ok
}

// clockedProfileOf is a CPU profile by the kernel's CPU clock, at least [fewClocked] samples.
func clockedProfileOf(b *evidence.Bundle, subject evidence.SubjectID) (p Profile, ok bool) {
	on, s := b.Names.Lookup(evidence.SampleOnCPU), &b.Samples
	if on == 0 {
		return p, false
	}
	classes, counts, ofGo := make(map[evidence.StackID]string), 0, false
	for i := range s.Len() {
		if s.Subject[i] != subject || s.Type[i] != on {
			continue
		}
		class, known := classes[s.Stack[i]]
		if !known {
			frames := b.Stacks.Frames(s.Stack[i])
			var d goclass.Decision
			for k := 0; k < len(frames) && !d.Add(goclass.RuleOf(b.Names.Text(frames[k].Func))); k++ {
			}
			class = d.Class()
			classes[s.Stack[i]] = class
			ofGo = ofGo || len(frames) > 0 && strings.HasPrefix(b.Names.Text(frames[len(frames)-1].Func), goroutineEntry)
		}
		counts++
		p.add(class, s.Value[i])
		a, _ := s.Origin[i].Artifact()
		p.Origin = evidence.NewOrigin(a, 0)
	}
	for _, w := range b.Covered(subject, evidence.CoverOnCPU) {
		p.Span += float64(w.Until-w.From) / 1e9
	}
	return p, ofGo && counts >= fewClocked
}

// goroutineEntry is the outermost function of each goroutine.
const goroutineEntry = "runtime.goexit"

// fewClocked is the number of the kernel's samples from which a part of them is known within some 10 %.
const fewClocked = 100

// add counts a sample of some ns.
func (p *Profile) add(class string, ns int64) {
	p.All += ns
	if !goclass.IsGC(class) {
		return
	}
	p.GC += ns
	if class == evidence.ClassGCAssist {
		p.Assist += ns
	}
	if class == evidence.ClassGCAssist || strings.HasPrefix(class, evidence.ClassGCMark) {
		p.Marked += ns
	}
}

// profileOf adds up a process's CPU profiles.
func profileOf(b *evidence.Bundle, subject evidence.SubjectID) (p Profile, ok bool) {
	s := &b.Samples
	cpu := b.Names.Lookup("cpu")
	if cpu == 0 {
		return p, false
	}
	for i := range s.Len() {
		if s.Subject[i] != subject || s.Type[i] != cpu {
			continue
		}
		p.add(b.Names.Text(s.Class[i]), s.Value[i])
		a, _ := s.Origin[i].Artifact()
		p.Origin = evidence.NewOrigin(a, 0)
	}
	for _, w := range b.Covered(subject, evidence.CoverCPUProfile) {
		p.Span += float64(w.Until-w.From) / 1e9
	}
	return p, p.All > 0
}
