package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// gauged is what a pool's gauges tell.
type gauged struct {
	name, unit string
	readings   int
	most, size float64 // in use at most; 0 not known
	full       int     // readings with all in use
	waiting    float64 // who waited for one, in the mean
	queue      float64 // at most
	watched    bool    // who waits is told
	origin     evidence.Origin
}

// gauges are the subject's pools of connections, those that were waited for first.
func gauges(c *cause.Case) (all []gauged) {
	from, to := int64(0), int64(1<<62)
	if l := c.Ledger; l != nil && l.To > l.From {
		from, to = l.From, l.To
	}
	b := c.Bundle
	for i := range b.Series {
		s := &b.Series[i]
		name, ok := strings.CutPrefix(s.Name, evidence.SeriesClientPoolUsed+":")
		if !ok || s.Subject != c.Subject || s.Unit == "threads" {
			continue
		}
		g := gauged{name: name, unit: s.Unit, origin: s.Origin}
		size := b.SeriesOf(c.Subject, evidence.SeriesClientPoolMax+":"+name)
		if size != nil {
			g.size = slices.Max(size.V)
		}
		for k, t := range s.T {
			if t >= from && t < to || len(s.T) == 1 {
				g.readings++
				g.most = max(g.most, s.V[k])
				if g.size > 0 && s.V[k] >= g.size {
					g.full++
				}
			}
		}
		if waits := b.SeriesOf(c.Subject, evidence.SeriesClientPoolWaits+":"+name); waits != nil {
			n := 0
			for k, t := range waits.T {
				if t >= from && t < to || len(waits.T) == 1 {
					n++
					g.waiting += waits.V[k]
					g.queue = max(g.queue, waits.V[k])
				}
			}
			if g.watched = n > 0; g.watched {
				g.waiting /= float64(n)
			}
		}
		if g.readings > 0 {
			all = append(all, g)
		}
	}
	slices.SortStableFunc(all, func(x, y gauged) int { return int(max(-1, min(1, y.waiting-x.waiting))) })
	return all
}

// sum says what a pool's use was: "at most 7 of 10 connections in use, nobody waited".
func (g *gauged) sum() string {
	text := fmt.Sprintf("at most %.0f", g.most)
	if g.size > 0 {
		text += fmt.Sprintf(" of %.0f", g.size)
	}
	text += " " + g.unit + " in use"
	switch {
	case !g.watched:
	case g.queue == 0:
		text += ", nobody waited"
	default:
		text += fmt.Sprintf(", %s waited in the mean", cause.Digits(2, g.waiting))
	}
	if g.readings == 1 {
		return text + " at one reading"
	}
	return text + fmt.Sprintf(" (%d readings)", g.readings)
}

func (g *gauged) figures(c *cause.Case, v *cause.Verdict) {
	v.Evidence = append(v.Evidence, c.Figure("in use at most, of the pool "+g.name, g.most, "count", g.origin))
	if g.size > 0 {
		v.Evidence = append(v.Evidence, c.Figure("its size", g.size, "count", g.origin),
			c.Figure("readings with all of them in use", float64(g.full)/float64(g.readings), "1", g.origin))
	}
	if g.watched {
		v.Evidence = append(v.Evidence, c.Figure("waited for one (mean)", g.waiting, "count", g.origin))
	}
}

// readPool is what shows whether requests waited for a connection.
var readPool = cause.Need{What: "the pool's gauges of the same seconds, as a CSV time,active,max,waiting or by the metrics of its library", Command: "unstall FILE... gauges.csv"}

// judgeGauges judges a pool by its gauges, where the service's threads were not looked at.
// Who waits for a connection is part of a request: of so many that wait in the mean, as
// many seconds a second are lost.
func judgeGauges(c *cause.Case, all []gauged) cause.Verdict {
	v := cause.Verdict{State: cause.RuledOut}
	for i := range all {
		all[i].figures(c, &v)
	}
	g := &all[0]
	v.Summary = g.sum()
	l := c.Ledger
	if l == nil || !c.Slow() || l.To <= l.From {
		if g.waiting > 0 {
			v.State, v.Needs = cause.Inconclusive, []cause.Need{{What: "requests, to say what it costs them: an access log of the same time"}}
		}
		return v
	}
	waited := min(g.waiting*float64(l.To-l.From), float64(l.Total))
	switch {
	case g.watched && waited >= cause.Material*float64(l.Total):
		v.State = cause.Supported
		v.Title = fmt.Sprintf("Requests queue for a pool: %s, all %.0f in use.", g.name, g.size)
		if g.size == 0 {
			v.Title = fmt.Sprintf("Requests queue for a pool: %s.", g.name)
		}
		v.Saves = c.Bound(waited, 0, waited)
		v.Evidence = append(v.Evidence, c.Figure("that is, of the slow time, at most", waited/float64(l.Total), "1", g.origin))
		v.Fix = append(v.Fix, enlargePool(g.name))
	case !g.watched && g.full > 0:
		v.State = cause.Inconclusive
		v.Summary += fmt.Sprintf(", all of them in %d; who waited was not recorded", g.full)
		v.Needs = []cause.Need{{What: "how many wait for a connection (hikaricp_connections_pending, waiting), beside how many are in use"}}
	case !g.watched && g.size == 0:
		v.State, v.Needs = cause.Inconclusive, []cause.Need{{What: "the pool's size, or how many wait for a connection"}}
	}
	return v
}

func enlargePool(name string) cause.Fix {
	return cause.Fix{Text: "enlarge the pool if the dependency bears it (needed at once = requests per second × time one is held), or hold each for less time", Code: name}
}

// judgeTaken judges by spans of the taking of connections.
func judgeTaken(c *cause.Case, s *spanned) cause.Verdict {
	per, _, share := excess(c, s.rows, s.slow, func(row int) int64 { return waits(c, row, evidence.PoolWait) })
	v := cause.Verdict{State: cause.RuledOut, Summary: fmt.Sprintf("%s of %s waiting for a connection", millis(s.pooled), millis(s.took))}
	v.Evidence = append(v.Evidence, c.Figure(fmt.Sprintf("a slow request waits for a connection (mean of %d)", len(s.slow)), s.pooled/1e6, "ms", s.origin))
	if share < cause.Material || !c.Slow() {
		return v
	}
	v.State = cause.Supported
	by := make(map[evidence.NameID]int64)
	for _, row := range s.slow {
		for x := range c.Bundle.Requests.Path(row).All {
			if x.Kind == evidence.PoolWait {
				by[x.Cause] += x.Dur
			}
		}
	}
	name := c.Bundle.Names.Text(most(by))
	v.Title = fmt.Sprintf("Requests queue for a pool: %s.", name)
	v.Fix = append(v.Fix, enlargePool(name))
	if !s.own {
		v.Saves = c.Bound(share*float64(c.Ledger.Total), 0, float64(c.Ledger.Total))
		return v
	}
	v.Saves = c.Save(per, -1, -1)
	v.Prediction = append(v.Prediction, c.PredictP99(func(row int) int64 { ch := c.Ledger.Of(row); return ch[ledger.Pool] }))
	return v
}
