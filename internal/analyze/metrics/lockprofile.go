package metrics

import "github.com/unstall/unstall/internal/base/evidence"

// LockProfile is the time goroutines of a Go process waited in its last mutex and block profiles (net/http/pprof),
// background work included.
type LockProfile struct {
	Waited      int64 // ns since the process's start
	LongestWait int64 // ns of Waited, at the place with most
	LongestSite evidence.StackID
	Origin      evidence.Origin // of LongestWait
}

// LockProfileOf reads the last profile of each kind of a process; false without any wait.
func LockProfileOf(b *evidence.Bundle, subject evidence.SubjectID) (p LockProfile, ok bool) {
	delay := b.Names.Lookup("delay")
	if delay == 0 {
		return p, false
	}
	earlier := earlierLocks(b, subject)
	s := &b.Samples
	for i := range s.Len() {
		if s.Subject[i] != subject || s.Type[i] != delay {
			continue
		}
		if a, _ := s.Origin[i].Artifact(); earlier[a] {
			continue
		}
		p.Waited += s.Value[i]
		if s.Value[i] > p.LongestWait {
			p.LongestWait, p.LongestSite, p.Origin = s.Value[i], s.Stack[i], s.Origin[i]
		}
	}
	return p, p.Waited > 0
}

// earlierLocks returns the profiles that a later one of their kind contains. Profiles are cumulative, so adding both would
// count waits twice.
func earlierLocks(b *evidence.Bundle, subject evidence.SubjectID) map[evidence.ArtifactID]bool {
	earlier := make(map[evidence.ArtifactID]bool)
	newest := make(map[string]evidence.Fact)
	for _, f := range b.Facts {
		if f.Subject != subject || f.Key != evidence.FactProfileKind || f.Value != "mutex" && f.Value != "block" || f.Until == 0 {
			continue
		}
		old, ok := newest[f.Value]
		if !ok || f.Until >= old.Until {
			newest[f.Value] = f
		} else {
			old = f
		}
		if a, known := old.Origin.Artifact(); ok && known {
			earlier[a] = true
		}
	}
	return earlier
}
