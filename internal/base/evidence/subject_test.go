package evidence

import (
	"slices"
	"testing"
)

// Titles are in order of the subjects, whoever asks first, and tell all apart.
func TestTitles(t *testing.T) {
	b := NewBundle()
	for _, s := range []Subject{{Name: "gateway"}, {Kind: Process, Runtime: "go", PID: 7}, {Name: "gone"}, {Name: "gateway"}, {Name: "gateway #2"}, {Kind: Host}} {
		p := b.Builder(b.AddArtifact(Artifact{Name: "x"}), "x")
		id := p.Subject(s)
		if s.Name != "gone" {
			p.Cover(Coverage{Subject: id, Kind: CoverRequests, From: 1, Until: 2})
		}
		p.Close()
	}
	want := []string{"gateway", "go process pid 7", "", "gateway #2", "gateway #2 #2", "host"}
	if got := b.Titles(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRows(t *testing.T) {
	s := NewRows(130)
	s.Add(0)
	s.Add(63)
	s.Add(64)
	s.Add(129)
	for i := range 130 {
		if want := i == 0 || i == 63 || i == 64 || i == 129; s.Has(i) != want {
			t.Errorf("row %d: %v", i, !want)
		}
	}
}
