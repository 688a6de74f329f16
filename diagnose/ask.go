package diagnose

import (
	"fmt"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/cause/dotnet"
	"github.com/unstall/unstall/cause/golang"
	"github.com/unstall/unstall/model"
	"github.com/unstall/unstall/model/goheap"
	"github.com/unstall/unstall/model/threadpool"
)

// ask are models that are calibrated by the causes of their field.
var ask = map[string]func(model.Question) (*model.Answer, error){goheap.ID: askHeap, threadpool.ID: askPool}

func caseOf(q model.Question) *cause.Case {
	return &cause.Case{Bundle: q.Bundle, Subject: q.Subject, Ledger: q.Ledger}
}

func askHeap(q model.Question) (*model.Answer, error) {
	c := caseOf(q)
	h, err := golang.HeapOf(c)
	if err != nil {
		return nil, err
	}
	h.Go, h.Source = goVersion(q), golang.SourceOf(c)
	latency, why := golang.LatencyOf(c)
	a, err := h.Ask(q.Name, q.Wanted, latency)
	if a == nil {
		return nil, err
	}
	if quota, ok := golang.QuotaOf(c); ok {
		a.Note(fmt.Sprintf("a quota of %.3g CPUs is below GOMAXPROCS=%.0f: the kernel's stops under it are not modelled, and the collector uses the quota up, too", quota, h.Procs))
	}
	switch {
	case why != nil && latency == nil:
		a.Note("p99 is not predicted: " + why.Error())
	case why == nil:
		a.Note("p99 is that of the recorded requests, run once more beside the predicted cycles; now is what that gives for the cycles as they were")
	default:
		a.Note("p99 is that of the traced requests, with what the collector cost them scaled: " + why.Error())
	}
	return a, err
}

func goVersion(q model.Question) string {
	if v := q.Bundle.Subjects[q.Subject].Version; v != "" {
		return v
	}
	return atLeast(q.Bundle, q.Subject)
}

func askPool(q model.Question) (*model.Answer, error) {
	s, err := dotnet.SituationOf(caseOf(q))
	if err != nil {
		return nil, err
	}
	return s.Ask(q.Name, q.Wanted)
}
