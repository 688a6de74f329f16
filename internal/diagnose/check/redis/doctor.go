package redis

import (
	"slices"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// doctorEvidence returns what the server's own doctors say about some topics, and where they are
// wrong.
func (s *server) doctorEvidence(c *check.Case, about ...string) (all []check.Evidence) {
	for _, a := range s.DoctorSays() {
		if !slices.Contains(about, a.About) {
			continue
		}
		text := a.Doctor + " would say: "
		if a.Said {
			text = a.Doctor + " says: "
		}
		text += a.Says
		if a.But != "" {
			text += "; " + a.But
		}
		all = append(all, c.Seen(text, a.Origin))
	}
	return all
}
