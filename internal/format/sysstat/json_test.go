package sysstat

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestNotation holds that JSON says what the text of the same reports does: as printed, on one line, a key a line, without its beginning.
func TestNotation(t *testing.T) {
	const printed = `{"sysstat": {
	"hosts": [
		{
			"nodename": "web1",
			"sysname": "Linux",
			"release": "6.1.0",
			"machine": "x86_64",
			"number-of-cpus": 4,
			"date": "11/23/2024",
			"statistics": [
,
				{
					"timestamp": "11/23/2024 05:30:36 AM",
					"avg-cpu":  {"user": 25.00, "nice": 0.00, "system": 12.50, "iowait": 12.50, "steal": 0.00, "idle": 50.00},
					"disk": [
						{"disk_device": "sda", "r/s": 10.00, "w/s": 20.00, "rkB/s": 40.00, "wkB/s": 80.00, "r_await": 1.50, "w_await": 2.50, "aqu-sz": 0.50, "util": 91.00},
						{"disk_device": "sdb", "r/s": 1.00, "w/s": 2.00, "rkB/s": 4.00, "wkB/s": 8.00, "r_await": 1.50, "w_await": 2.50, "aqu-sz": 0.05, "util": 9.00}
					]
				},
				{
					"timestamp": "11/23/2024 05:30:37 AM",
					"avg-cpu":  {"user": 25.00, "nice": 0.00, "system": 12.50, "iowait": 12.50, "steal": 0.00, "idle": 50.00},
					"disk": [
						{"disk_device": "sda", "r/s": 10.00, "w/s": 20.00, "rkB/s": 40.00, "wkB/s": 80.00, "r_await": 1.50, "w_await": 2.50, "aqu-sz": 0.50, "util": 93.00},
						{"disk_device": "sdb", "r/s": 1.00, "w/s": 2.00, "rkB/s": 4.00, "wkB/s": 8.00, "r_await": 1.50, "w_await": 2.50, "aqu-sz": 0.05, "util": 7.00}
					]
				}
			]
		}
	]
}}
`
	for name, text := range map[string]string{
		"printed":      printed,
		"one line":     strings.Join(strings.Fields(printed), " ") + "\n",
		"a key a line": strings.NewReplacer(", \"", ",\n\"", ": {", ": {\n", "[{", "[\n{\n").Replace(printed),
		"cut":          printed[:strings.LastIndex(printed, "]")-40],
		"its middle":   printed[strings.Index(printed, `"timestamp"`):],
	} {
		b := suite.MustRead(t, []byte(text))
		for want, v := range map[string]float64{evidence.SeriesDiskBusy + ":sda": .92, evidence.SeriesDiskBusy + ":sdb": .08, evidence.SeriesDiskReads + ":sda": 10} {
			s := b.SeriesOf(0, want)
			if s == nil {
				t.Errorf("%s: no %s", name, want)
				continue
			}
			if mean := (s.V[0] + s.V[1]) / 2; mean < v-.011 || mean > v+.011 {
				t.Errorf("%s: %s is %v, want %v on average", name, want, s.V, v)
			}
		}
	}
}

// TestNotationLater holds that a comma before the first report, which iostat -y prints, says that it is not of the time since boot.
func TestNotationLater(t *testing.T) {
	const row = `{"disk": [{"disk_device": "sdc", "r/s": 281.50, "w/s": 4.50, "aqu-sz": 11.10, "util": 79.00}]}`
	for text, kept := range map[string]bool{
		`{"sysstat": {"hosts": [{"nodename": "a", "release": "4.9.0", "date": "04/23/2019", "statistics": [,` + row + "]}]}}\n": true,
		`{"sysstat": {"hosts": [{"nodename": "a", "release": "4.9.0", "date": "04/23/2019", "statistics": [` + row + "]}]}}\n":  false,
	} {
		b := suite.MustRead(t, []byte(text))
		if s := b.SeriesOf(0, evidence.SeriesDiskBusy+":sdc"); (s != nil) != kept {
			t.Errorf("%s: %v", text, s)
		}
	}
}
