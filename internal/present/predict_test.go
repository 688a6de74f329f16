package present

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/model/threadpool"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/present/text"
)

// heap is a service of 41 MiB live under much garbage.
func heap(container float64) *goheap.Heap {
	const mib = 1 << 20
	h := &goheap.Heap{Setting: goheap.Default, Told: true, Minor: 26, Exact: true, Procs: 2, Span: 10, Paced: 8.4, Marking: .4, Alloc: 497 * mib,
		RSS: 142 * mib, Process: 1.17, P99: 35.3, Most: container * mib, Who: "container"}
	for i := range 80 {
		w := 1 + .1*float64(i%5-2)/2
		h.Cycles = append(h.Cycles, goheap.Cycle{Mark: .048 * w, Assist: .0273 * w, Background: .0257 * w, Idle: .0072 * w,
			Before: 100 * mib, After: (100 + 17.4*w) * mib, Marked: (41 + 17.4*w) * mib, Goal: 118 * mib, Alloc: 497 * mib * w})
	}
	return h
}

// starved is a pool of blocked threads.
var starved = threadpool.Situation{
	Case: threadpool.Case{Version: "8.0.1", Cores: 2, Pattern: threadpool.TaskWait, Connections: 24, CPU: .0012},
	Measured: threadpool.Measured{Threads: model.Exactly(11), Rate: model.Exactly(3.4), Latency: model.Exactly(2810),
		P99: model.Unknown},
	Waits: "9 of 11 pool threads blocked in CartController.Get on .Result", Seconds: 15,
}

// young is a JVM near the knee: eden of 576 MiB full every half second.
func young() (s younggen.Situation, err error) {
	const mib = 1 << 20
	var p []younggen.Pause
	for i := range 120 {
		copied := float64(20+i%9) * mib
		p = append(p, younggen.Pause{At: .45 * float64(i), Took: .01 + copied/mib*.0018, Allocated: 576 * mib, Survived: copied, Capacity: 640 * mib})
	}
	if s.Generation, err = younggen.Fit(p); err != nil {
		return s, err
	}
	s.Collector, s.Size, s.Heap, s.OldLive = "ParNew+CMS", 704*mib, 1536*mib, 300*mib
	s.Source, s.Version, s.Rate = "gc.log", "11.0.13", 60
	s.Knee = &younggen.Knee{Processors: 2, Work: .025, Stopped: .0019, Spread: .04}
	return s, nil
}

var asked = map[string]func() (*model.Answer, error){
	"predict-young": func() (*model.Answer, error) {
		s, err := young()
		if err != nil {
			return nil, err
		}
		wanted, err := model.ParseSets(platform.Models(), []string{"Xmn=1400m Xmx=2g rate=50", "Xmn=1400m rate=120", "alloc-rate=×0.3 rate=80"})
		if err != nil {
			return nil, err
		}
		return s.Ask("evil|\x1b[31mname", wanted)
	},
	"predict-frontier": func() (*model.Answer, error) {
		return heap(8192).Ask("gateway pid 4711", nil, func(_, then goheap.Outcome) model.Estimate {
			return model.Exactly(2 + 4*then.Cycles.Value)
		})
	},
	"predict-settings": func() (*model.Answer, error) {
		wanted, err := model.ParseSets(platform.Models(), []string{"GOMEMLIMIT=800MiB", "live=80MiB", "GOGC=off GOMEMLIMIT=74MiB alloc=600MiB/s"})
		if err != nil {
			return nil, err
		}
		p, err := heap(300).Ask("evil|\x1b[31mname", wanted, nil)
		if p != nil {
			p.Note("p99 is not predicted: there are no requests")
		}
		return p, err
	},
	"predict-pool": func() (*model.Answer, error) {
		wanted, err := model.ParseSets(platform.Models(), []string{"service-time=200ms", "connections=24"})
		if err != nil {
			return nil, err
		}
		return starved.Ask("evil|\x1b[31mname", wanted)
	},
	"predict-pool-max": func() (*model.Answer, error) {
		wanted, err := model.ParseSets(platform.Models(), []string{"max-threads=12", "service-time=200ms"})
		if err != nil {
			return nil, err
		}
		return starved.Ask("shop pid 4711", wanted)
	},
	"predict-no-room": func() (*model.Answer, error) { return heap(150).Ask("gateway", nil, nil) },
}

func TestPredictGolden(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8") // text is plain ASCII where the terminal has no other
	color := map[string]string{".txt": "never", ".json": "", ".md": "", ".html": ""}
	for name, make := range asked {
		for extension, c := range color {
			t.Run(name+extension, func(t *testing.T) {
				p, err := make()
				if err != nil {
					t.Fatal(err)
				}
				form, err := Choose("", "x"+extension, Look{Color: c})
				if err != nil {
					t.Fatal(err)
				}
				var b bytes.Buffer
				if err := form.Predict(&b, p); err != nil {
					t.Fatal(err)
				}
				golden(t, name+extension, embedded.ReplaceAll(b.Bytes(), []byte("$1$2$3$4")))
				if extension != ".json" && extension != ".html" && strings.ContainsAny(b.String(), "\x1b\t\r") {
					t.Errorf("control characters in %q", b.String())
				}
				for line := range strings.Lines(b.String()) {
					if extension == ".txt" && len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
						t.Errorf("wider than 80 columns: %q", line)
					}
				}
			})
		}
		p, err := make()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := (text.Options{Width: 60, ASCII: true}).Predict(&b, p); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r > 127 {
				t.Errorf("%s: %q in ASCII", name, r)
			}
		}
	}
}

// The JSON form reads back as the same figures.
func TestPredictJSON(t *testing.T) {
	p, err := asked["predict-frontier"]()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Forms[1].Predict(&b, p); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   string
		Frontier struct {
			Points []struct {
				Cycles model.Estimate `json:"gc_cycles_per_s"`
				P99    model.Estimate `json:"p99_ms"`
			}
			Knee int
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	f := p.Own.(*goheap.Prediction).Frontier
	if got.Schema != model.Schema || got.Frontier.Knee != f.Knee || len(got.Frontier.Points) != len(f.Points) {
		t.Errorf("%+v", got)
	}
	for i, o := range f.Points {
		if d := cmp.Diff(o.Cycles, got.Frontier.Points[i].Cycles, cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })); d != "" {
			t.Error(d)
		}
	}
}
