package evidence

import "math"

// CPUsOf returns how many processors a subject may use, 0 unknown: those its runtime counts, else a container's quota, rounded up as
// runtimes do, or those of the host.
func (b *Bundle) CPUsOf(subject SubjectID) int {
	if n := b.Subjects[subject].CPUs; n > 0 {
		return n
	}
	n := 0
	for _, s := range b.Subjects {
		if s.Kind == Host {
			n = max(n, s.CPUs)
		}
	}
	if f, ok := b.Fact(subject, FactContainerCPU); ok && f.Number > 0 && (n == 0 || f.Number < float64(n)) {
		n = int(math.Ceil(f.Number))
	}
	return n
}
