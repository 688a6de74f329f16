package platform_test

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/platform"
)

// A knob is of one model, so that what is asked for says which.
func TestModelsAreComplete(t *testing.T) {
	of := make(map[string]string)
	for _, m := range platform.Models() {
		if m.ID == "" || m.About == "" || m.From == "" || m.Covers == "" || m.Default == "" || len(m.Knobs) == 0 {
			t.Errorf("%s does not say all of itself: %+v", m.ID, m)
		}
		for _, k := range m.Knobs {
			if other := of[k.Name]; other != "" {
				t.Errorf("%s is of %s and of %s", k.Name, other, m.ID)
			}
			of[k.Name] = m.ID
			if k.Parse == nil {
				continue
			}
			if _, err := k.Parse(k.Example); err != nil {
				t.Errorf("the example of %s: %v", k.Name, err)
			}
		}
	}
}

func TestParseSets(t *testing.T) {
	for _, c := range []struct{ sets, want string }{
		{"GOMEMLIMIT=800MiB", "GOMEMLIMIT=800MiB"},
		{"GOGC=100|GOGC=200|live=120MiB", "GOGC=100 live=120MiB|GOGC=200 live=120MiB"},
		{"GOGC=off GOMEMLIMIT=1GiB", "GOGC=off GOMEMLIMIT=1GiB"},
		{"GOGC=200|GOGC=off GOMEMLIMIT=1GiB", "GOGC=200|GOGC=off GOMEMLIMIT=1GiB"},
		{"alloc=800MiB/s|ballast=0", "alloc=800MiB/s ballast=0"},
	} {
		rows, err := model.ParseSets(platform.Models(), strings.Split(c.sets, "|"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.Text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.sets, got, c.want)
		}
	}
	for _, s := range []string{"", "GOGC", "memory=5", "live=off", "alloc=1MB/s", "GOMEMLIMIT=0", "await=1", "Xmn=2g GOGC=50"} {
		if rows, err := model.ParseSets(platform.Models(), []string{s}); err == nil {
			t.Errorf("%q is read as %v", s, rows)
		}
	}
	many := make([]string, 101)
	for i := range many {
		many[i] = "GOGC=100"
	}
	if _, err := model.ParseSets(platform.Models(), many); err == nil {
		t.Error("101 rows")
	}
}

func TestYoungSets(t *testing.T) {
	w, err := model.ParseSets(platform.Models(), []string{"Xmn=2g", "alloc-rate=×0.3"})
	if err != nil || len(w) != 1 || w[0].Model.ID != "jvm.young-generation" || w[0].Or("Xmn", 0) != 2<<30 || w[0].Or("alloc-rate", 0) != .3 {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := model.ParseSets(platform.Models(), []string{"NewSize=512M", "NewSize=1g"}); err != nil || len(w) != 2 || w[0].Or("Xmn", 0) != 512<<20 {
		t.Errorf("%+v, %v", w, err)
	}
	for text, want := range map[string]string{"Xmn=": "such as 512m or 2g", "Xmn=-1g": "such as", "Xmn=9999999999g": "such as", "alloc-rate=0": "factor", "alloc-rate=NaN": "factor", "rate=x": "requests per second", "rate=-2": "requests per second"} {
		if _, err := model.ParseSets(platform.Models(), []string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
