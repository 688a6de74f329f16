package sentence

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/figure"
	"github.com/unstall/unstall/predict"
)

// young says what a prediction of a young generation rests on.
func young(y *predict.Young) []string {
	c := y.Calibration
	items := []string{}
	if y.Version != "" {
		items = append(items, "JVM "+y.Version)
	}
	if c.Collector != "" {
		items = append(items, c.Collector)
	}
	items = append(items, fmt.Sprintf("%d young collections in %s", c.Count, figure.Time(c.Seconds*1e9)))
	if c.Size > 0 {
		items = append(items, "young generation "+figure.Size(c.Size))
	}
	if c.Heap > 0 {
		items = append(items, "heap "+figure.Size(c.Heap))
	}
	items = append(items, figure.Of(c.Alloc, "bytes/s")+" allocated", figure.Size(c.Eden)+" from one to the next")
	pause := "a pause is " + figure.Ms(1e3*c.Base)
	if c.PerByte > 0 {
		pause += fmt.Sprintf(" and %s for each MiB copied", figure.Ms(1e3*c.PerByte*(1<<20)))
	}
	items = append(items, pause+fmt.Sprintf(", half of them within %.0f %%", math.Ceil(100*c.Rest)))
	if y.Source != "" {
		items = append(items, "from "+y.Source)
	}
	return items
}

// YoungEffects are the figures of a changed young generation beside those measured.
func YoungEffects(y *predict.Young, then *predict.YoungOutcome) []Effect {
	now := &y.Measured
	var known []Effect
	for _, e := range []Effect{
		{"young collections", now.Rate, then.Rate, "1/min"},
		{"from one to the next", inMs(now.Interval), inMs(then.Interval), "ms"},
		{"mean pause", now.Pause, then.Pause, "ms"},
		{"time stopped", ofHundred(now.Stopped), ofHundred(then.Stopped), "%"},
		{"promoted", now.Promotion, then.Promotion, "bytes/s"},
		{"knee", now.Knee, then.Knee, "1/s"},
	} {
		if e.Then.Known() {
			known = append(known, e)
		}
	}
	return known
}

func inMs(s predict.Estimate) predict.Estimate {
	return predict.Estimate{Value: 1e3 * s.Value, Low: 1e3 * s.Low, High: 1e3 * s.High}
}
