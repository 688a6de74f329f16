package series

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/units"
)

// TestAll checks that names are unique, for people and for stores, and that each series has a description.
func TestAll(t *testing.T) {
	ids, metrics := make(map[string]bool), make(map[string]string)
	kinds := make(map[string]Metric)
	for _, s := range All {
		full := s.Metric.Full() + "{" + s.Metric.Labels + "}"
		switch {
		case ids[s.ID]:
			t.Errorf("%s is there twice", s.ID)
		case metrics[full] != "":
			t.Errorf("%s and %s are both %s", s.ID, metrics[full], full)
		case s.About == "" || s.Unit == "" || s.Metric.Name == "":
			t.Errorf("%s: %+v says too little", s.ID, s)
		case s.Metric.Counter && s.Unit != "1/s" && s.Unit != "%" && s.Unit != "bytes/s":
			t.Errorf("%s grows, but its unit is %s", s.ID, s.Unit)
		case strings.HasSuffix(s.Metric.Name, "_total") != (s.Metric.Counter && s.Metric.Part == "" && !strings.HasPrefix(s.Metric.Name, "node_vmstat_")):
			t.Errorf("%s: %s: counters, and no others, end in _total", s.ID, s.Metric.Name)
		}
		if k, ok := kinds[s.Metric.Name]; ok && (k.Counter != s.Metric.Counter || k.Help != s.Metric.Help) {
			t.Errorf("%s: the series of %s differ in what they are", s.ID, s.Metric.Name)
		}
		ids[s.ID], metrics[full], kinds[s.Metric.Name] = true, s.ID, s.Metric
		if units.Of(1, s.Unit) == "" {
			t.Errorf("%s: unit %s", s.ID, s.Unit)
		}
	}
	if got := Nearest("jvm/yuong-gc"); got != "jvm/young-gc" {
		t.Errorf("jvm/yuong-gc: %q is meant", got)
	}
}
