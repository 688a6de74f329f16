package evidence

import "testing"

func TestCPUsOf(t *testing.T) {
	b := NewBundle()
	b.Subjects = []Subject{{Kind: Process, CPUs: 3}, {Kind: Process}, {Kind: Host, CPUs: 8}, {Kind: Process}}
	b.Facts = []Fact{{Subject: 3, Key: FactContainerCPU, Number: 1.5}}
	for s, want := range map[SubjectID]int{0: 3, 1: 8, 3: 2} {
		if got := b.CPUsOf(s); got != want {
			t.Errorf("process %d may use %d processors, want %d", s, got, want)
		}
	}
}
