package diagnose

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/golang"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/predict"
)

// predictHeap asks the model of Go's pacer.
func predictHeap(r *run, c *cause.Case, wanted []predict.Wanted) (*predict.Prediction, error) {
	h, err := golang.HeapOf(c)
	if err != nil {
		return nil, err
	}
	latency, why := golang.LatencyOf(c)
	p, err := h.Ask(r.name[c.Subject], wanted, latency)
	if p == nil {
		return nil, err
	}
	p.Calibration.Go = r.goVersion(c.Subject)
	p.Calibration.Source = golang.SourceOf(c)
	if quota, ok := golang.QuotaOf(c); ok {
		p.Notes = append(p.Notes, fmt.Sprintf("a quota of %.3g CPUs is below GOMAXPROCS=%.0f: the kernel's stops under it are not modelled, and the collector uses the quota up, too", quota, p.Calibration.Processors))
	}
	switch {
	case why != nil && latency == nil:
		p.Notes = append(p.Notes, "p99 is not predicted: "+why.Error())
	case why == nil:
		p.Notes = append(p.Notes, "p99 is that of the recorded requests, run once more beside the predicted cycles; now is what that gives for the cycles as they were")
	default:
		p.Notes = append(p.Notes, "p99 is that of the traced requests, with what the collector cost them scaled: "+why.Error())
	}
	return p, err
}

func (r *run) goVersion(id evidence.SubjectID) string {
	if v := r.b.Subjects[id].Version; v != "" {
		return v
	}
	if release, ok := r.b.VersionAtLeast(id); ok {
		return release + " or later"
	}
	return ""
}
