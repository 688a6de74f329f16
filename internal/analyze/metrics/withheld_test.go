package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestWithheld has per second a pause, the process's CPU time and its threads' ready time: the host withholds only the part of a pause in which no
// thread ran and some thread was ready.
func TestWithheld(t *testing.T) {
	for name, x := range map[string]struct{ stopped, used, ready, want float64 }{
		"others had the processors":  {.4, .1, .5, .75},
		"the collector ran":          {.4, .5, .5, 0},
		"nobody was ready":           {.4, .1, 0, 0},
		"ready for less than it was": {.4, .1, .2, .5},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess("dotnet")
			p.series(p.id, evidence.SeriesProcessCPU, x.used, x.used, x.used)
			p.series(p.id, evidence.SeriesProcessRunDelay, x.ready, x.ready, x.ready)
			from := epoch + sec/5
			h := WithheldFrom(p.done(), p.id, Spans{}.Add(from, from+int64(x.stopped*float64(sec))))
			near(t, "part", h.Part(epoch, epoch+sec), x.want)
			near(t, "where nothing stopped", h.Part(epoch+sec, epoch+2*sec), 0)
		})
	}
}
