package present

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/html"
)

// embedded matches what all pages share, and its hashes.
var embedded = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)| &#39;sha256-.*?&#39;`)

// The pages without their styles and scripts.
func TestPageGolden(t *testing.T) {
	for name, diagnosis := range diagnoses {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := (html.Options{Repeat: []string{"unstall trace.out 'access log' -o report.html"}}).Report(&b, diagnosis()); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".html", embedded.ReplaceAll(b.Bytes(), []byte("$1$2$3$4")))
		})
	}
	for name, comparison := range comparisons {
		t.Run(name, func(t *testing.T) {
			var before, after *diagnose.Diagnosis
			if name == "compare-one-pair" {
				before, after = sick(), healthy()
			}
			var b bytes.Buffer
			if err := (html.Options{}).Compare(&b, comparison(), before, after); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".html", embedded.ReplaceAll(b.Bytes(), []byte("$1$2$3$4")))
		})
	}
	t.Run("frontier", func(t *testing.T) {
		d := sick()
		d.Verdicts[0].Frontier = frontier()
		var b bytes.Buffer
		if err := html.Report(&b, d); err != nil {
			t.Fatal(err)
		}
		figure := regexp.MustCompile(`(?s)<figure class="chart".*?</figure>`).Find(b.Bytes())
		golden(t, "frontier.html", append(figure, '\n'))
	})
}

func frontier() *model.Frontier {
	f := &goheap.Frontier{Knee: 2, Why: "saves 90 % of what the collector costs", Rule: "where it bends", Margin: &goheap.Margin{Live: 40 << 20, Quarter: 150 << 20}}
	for i, x := range []struct{ rss, cores, p99 float64 }{{107 << 20, .5, 6.4}, {250 << 20, .2, 4.5}, {760 << 20, .05, 2.7}, {1500 << 20, .03, 2.5}} {
		o := goheap.Outcome{RSS: model.Estimate{Value: x.rss}, Collector: model.Estimate{Value: x.cores},
			P99: model.Estimate{Value: x.p99, Low: x.p99 * .9, High: x.p99 * 1.2}}
		if i > 0 {
			o.Setting = goheap.Setting{GOGC: -1, Limit: x.rss}
		}
		f.Points = append(f.Points, o)
	}
	f.Now = f.Points[0]
	return f.Table()
}
