package threads

import "github.com/unstall/unstall/evidence"

// Bursts are the moments at which somebody looked at a process's threads, by time: of
// each the last look at every thread.
func (t *Threads) Bursts(s evidence.SubjectID) (out [][]Look) {
	for looks := t.looks[s]; len(looks) > 0; {
		n := burst(looks)
		out = append(out, latest(looks[:n]))
		looks = looks[n:]
	}
	return out
}
