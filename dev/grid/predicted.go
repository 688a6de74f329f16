package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/capture"
)

// forecast is the prediction for a setting.
type forecast struct {
	cycles, collector, process, peak, rss, p99 model.Estimate // 1/s, cores, cores, bytes, bytes, ms
	why                                        string         // there is no prediction
}

func noForecast(why string) forecast {
	u := model.Unknown
	return forecast{u, u, u, u, u, u, why}
}

// calibrated are the models of one capture.
type calibrated struct {
	heap      *goheap.Heap
	now       goheap.Outcome
	latencies *goheap.Latencies
	unused    string // why there are no latencies
}

// calibrateModels reads a capture as a diagnosis does and calibrates the models on the Go process
// in it.
func calibrateModels(ctx context.Context, file string) (*calibrated, error) {
	c, err := capture.Open(file)
	if err != nil {
		return nil, err
	}
	b := incident.NewBundle()
	incident.ReadCapture(ctx, c, b)
	i := incident.Of(b, incident.Options{})
	b = i.Bundle // unified and aligned; the bundle as read stays unchanged
	for _, l := range i.Ledgers() {
		if b.Subjects[l.Subject].Runtime != platform.Go.ID {
			continue
		}
		release, _ := platform.Go.AtLeast(b, l.Subject)
		one := goheap.ProcessOf(b, l.Subject, l, release)
		if one == nil {
			return nil, fmt.Errorf("%s: %w", file, goheap.ErrNoCycles)
		}
		heap := one.Heap()
		k := &calibrated{heap: heap}
		if k.now, err = heap.Predict(goheap.Scenario{Setting: heap.Setting}); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if k.latencies, err = one.Latencies(); err != nil {
			k.unused = err.Error()
		}
		return k, nil
	}
	return nil, fmt.Errorf("%s: there is no Go process with requests in it", file)
}

// forecastSetting predicts the effect of a setting with the models.
func (k *calibrated) forecastSetting(s Setting) forecast {
	then, err := k.heap.Predict(goheap.Scenario{Setting: s.modelSetting()})
	var impossible *goheap.Impossible
	if errors.As(err, &impossible) {
		return noForecast(impossible.Error())
	}
	f := forecast{cycles: then.Cycles, collector: then.Collector, process: then.Process, peak: then.Peak, rss: then.RSS, p99: model.Unknown}
	if k.latencies != nil {
		f.p99 = k.latencies.At(k.now, then)
	}
	return f
}

// modelSetting returns the setting in the form of the models.
func (s Setting) modelSetting() goheap.Setting {
	const mib = 1 << 20
	return goheap.Setting{GOGC: float64(s.GOGC), Limit: float64(s.Limit) * mib, Ballast: float64(s.Ballast) * mib}
}
