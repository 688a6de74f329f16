package diagnose

import (
	"cmp"
	"context"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Busiest is the route that most time of all requests went into, and what that time was: where all requests of a route take
// as long, none is slow beside the others, and this is where time can be saved.
type Busiest struct {
	Route   string    `json:"route"`
	Subject string    `json:"subject"`
	Share   *float64  `json:"share"` // of the time of all requests of the process
	P50Ms   *float64  `json:"p50_ms"`
	Parts   []Portion `json:"parts"`          // the largest first, those of a tenth or more
	Code    string    `json:"code,omitempty"` // where most of the work is done that is the largest part; left out where that is no work, or where it is not known

	// IfTooLong is what is found where requests of this route are too long; left out where nothing is that takes most of their time.
	IfTooLong *IfTooLong `json:"if_too_long,omitempty"`
}

// IfTooLong is the first cause of a second diagnosis, whose objective is half of the p50 of the busiest route.
type IfTooLong struct {
	AboveMs *float64 `json:"above_ms"` // the objective
	Cause   string   `json:"cause"`
	Subject string   `json:"subject"`
	Title   string   `json:"title"`
	Share   *float64 `json:"share"` // of the time of requests above it
}

// Portion is a part of the time of a route's requests.
type Portion struct {
	Mechanism string   `json:"mechanism"`
	Title     string   `json:"title"`
	Detail    string   `json:"detail"`
	Share     *float64 `json:"share"` // of the route's time
}

const (
	mostWalked   = 2000 // requests of a route that tell what its time is: more change the shares by less than 2 %
	leastPortion = .1   // of a route's time, from which a part of it is told
	mostPortions = 3
	mostlyThere  = .5 // of the work, from which the code is told; of the slow time, from which a cause is told if that is too long
)

// supposeTooLong diagnoses again as if the busiest route's requests were too long, if half of them take long enough to be noticed: where each takes as long,
// none is slow beside the others, and yet something may take most of their time.
func supposeTooLong(ctx context.Context, read *evidence.Bundle, opt Options, d *Diagnosis) error {
	b := d.Busiest
	if b == nil || b.P50Ms == nil || *b.P50Ms < check.Noticeable.Value/1e6 || opt.SLO > 0 || d.Requests == nil || d.Requests.SlowRule != ledger.RuleFloor {
		return nil
	}
	above := *b.P50Ms / 2
	opt.SLO = time.Duration(above * 1e6)
	then, err := diagnoseWindow(ctx, read, opt)
	if err != nil || then.Outcome != Found {
		return err
	}
	first := &then.Verdicts[0]
	if share := then.Share(first); share != nil && *share >= mostlyThere {
		b.IfTooLong = &IfTooLong{AboveMs: stats.FiniteOrNil(above), Cause: first.Cause, Subject: first.Subject, Title: first.Title, Share: share}
	}
	return nil
}

// findBusiest returns the busiest route; nil where requests have no routes, or most of its time was not observed.
func (r *run) findBusiest() *Busiest {
	counted := r.incident.Counted()
	if len(counted) == 0 {
		return nil
	}
	l, q := counted[0], &r.b.Requests
	var all, most int64
	var top evidence.NameID
	took := l.LatenciesByRoute()
	for route, ns := range took {
		var sum int64
		for _, v := range ns {
			sum += v
		}
		if all += sum; sum > most || sum == most && route < top {
			most, top = sum, route
		}
	}
	if all == 0 || r.b.Names.Text(top) == "" {
		return nil
	}
	var rows []int
	for _, row := range l.KnownRows() {
		if q.Route.At(row) == top {
			rows = append(rows, row)
		}
	}
	type part struct {
		m      ledger.Mechanism
		detail evidence.NameID
	}
	sums, walked := make(map[part]int64), int64(0)
	every := max(1, len(rows)/mostWalked)
	for i := 0; i < len(rows); i += every {
		l.Walk(rows[i], func(_ int64, s evidence.Segment, c *ledger.Charges) {
			for m, ns := range c {
				if ns == 0 {
					continue
				}
				k := part{m: ledger.Mechanism(m)}
				if k.m.Named() {
					k.detail = s.Cause
				}
				sums[k] += ns
				walked += ns
			}
		})
	}
	if walked == 0 || 2*sums[part{m: ledger.Unobserved}] >= walked {
		return nil
	}
	out := &Busiest{Route: r.b.Names.Text(top), Subject: r.name[l.Subject], Share: stats.FiniteOrNil(float64(most) / float64(all)),
		P50Ms: msOrNil(stats.QuantileOf(took[top], .5)), Parts: []Portion{}}
	order := make([]part, 0, len(sums))
	for k, ns := range sums {
		if float64(ns) >= leastPortion*float64(walked) {
			order = append(order, k)
		}
	}
	sorting.Short(order, func(a, b part) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a.m, b.m), cmp.Compare(a.detail, b.detail))
	})
	for _, k := range order[:min(mostPortions, len(order))] {
		e := r.newEntry(l, ledger.Entry{Mechanism: k.m, Detail: k.detail, Ns: sums[k]})
		out.Parts = append(out.Parts, Portion{Mechanism: e.Mechanism, Title: e.Title, Detail: e.Detail, Share: stats.FiniteOrNil(float64(sums[k]) / float64(walked))})
	}
	if len(order) > 0 && order[0].m == ledger.Own {
		c := &check.Case{Bundle: r.b, Subject: l.Subject, Ledger: l, Looks: r.incident.Threads}
		if where := c.WorkedIn(rows); len(where) > 0 && where[0].Share >= mostlyThere {
			out.Code = where[0].Name()
		}
	}
	return out
}
