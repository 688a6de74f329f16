package app

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// TestBandColours checks that each band of the timeline has a colour of its own in bands.js, and that colours.css has it. A band without
// one is drawn as unexplained.
func TestBandColours(t *testing.T) {
	script, err := os.ReadFile("script/bands.js")
	if err != nil {
		t.Fatal(err)
	}
	colours, err := os.ReadFile("../page/colours.css")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)const bandColours = \{.*?\};`).Find(script)
	of := make(map[string]string)
	for _, m := range regexp.MustCompile(`"([a-z-]+)": "([a-z_-]+)"`).FindAllSubmatch(list, -1) {
		of[string(m[1])] = string(m[2])
		if !regexp.MustCompile(`--` + string(m[2]) + `: `).Match(colours) {
			t.Errorf("page/colours.css has no --%s, the colour of %s", m[2], m[1])
		}
		if !slices.Contains(timeline.BandIDs(), string(m[1])) {
			t.Errorf("script/bands.js has a colour for %s, which is no band", m[1])
		}
	}
	for _, id := range timeline.BandIDs() {
		if of[id] == "" {
			t.Errorf("script/bands.js has no colour for the band %s", id)
		}
	}
}
