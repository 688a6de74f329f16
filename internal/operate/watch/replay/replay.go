// Package replay evaluates rules against recordings: captures, logs and tables of figures, of seconds or of weeks. So a
// rule can be tried before it raises an alarm, and tests need no clock, because the time is that of the points.
package replay

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// Source is a subject with its series.
type Source struct {
	rule.Subject
	Series []metrics.Watchable
}

// Result is what the rules found in a recording.
type Result struct {
	From, Until int64
	Subjects    []string
	Events      []rule.Event
	Open        []rule.Event // alarms that had not ended
	Unheld      []string     // IDs of rules whose series were not recorded
	reached     map[string]extent
}

// extent is the range of the values of a series.
type extent struct{ least, most float64 }

// Sources returns the subjects of a bundle with their series. slo is the latency above which a request is slow; 0: the
// ledger decides.
func Sources(read *evidence.Bundle, slo time.Duration) []Source {
	i := incident.Of(read, incident.Options{SLO: slo})
	b := i.Bundle
	var out []Source
	for n, title := range b.Titles() {
		id := evidence.SubjectID(n)
		s := b.Subjects[n]
		if title == "" || s.Kind == evidence.Dependency || s.Kind == evidence.Process && !isWatched(b, id) {
			continue
		}
		var rows []int
		var slow func(int) bool
		if l := i.Ledger(id); l != nil {
			rows = l.Rows
			slow = func(row int) bool { return b.Requests.Latency(row) > l.Limit(row) }
		}
		of := metrics.WatchablesOf(b, id, platform.ByID(b.Subjects[id].Runtime).Watchables, rows, slow)
		if len(of) > 0 {
			out = append(out, Source{rule.Subject{Key: title, Service: cmp.Or(s.Name, title), Host: s.Kind == evidence.Host}, of})
		}
	}
	return out
}

// isWatched says whether a process was recorded itself, rather than listed because it ran on the same host.
func isWatched(b *evidence.Bundle, id evidence.SubjectID) bool {
	return b.Subjects[id].Runtime != "" || b.Requests.Subject.Has(id) || slices.ContainsFunc(b.Coverage, func(c evidence.Coverage) bool { return c.Subject == id })
}

// step is the time between two evaluations of the rules, if points come more often.
const step = int64(time.Second)

// cursor is a position in a series.
type cursor struct {
	key, id string
	t       []int64
	v       []float64
}

// Run evaluates rules over sources. usual may be nil.
func Run(ctx context.Context, rules []rule.Rule, usual *rule.Usual, sources []Source) (*Result, error) {
	e := rule.New(rules, usual)
	r := &Result{From: math.MaxInt64, Until: math.MinInt64, reached: make(map[string]extent)}
	var all []*cursor
	for _, s := range sources {
		e.Begin(s.Subject, 0)
		r.Subjects = append(r.Subjects, s.Key)
		for _, x := range s.Series {
			if len(x.T) == 0 {
				continue
			}
			of, known := r.reached[x.ID]
			if !known {
				of = extent{math.Inf(1), math.Inf(-1)}
			}
			r.reached[x.ID] = extent{min(of.least, slices.Min(x.V)), max(of.most, slices.Max(x.V))}
			all = append(all, &cursor{s.Key, x.ID, x.T, x.V})
			r.From, r.Until = min(r.From, x.T[0]), max(r.Until, x.T[len(x.T)-1])
		}
	}
	for i := range rules {
		if _, has := r.reached[rules[i].Series]; !has {
			r.Unheld = append(r.Unheld, rules[i].ID)
		}
	}
	asked := int64(math.MinInt64)
	for n := 0; len(all) > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now := int64(math.MaxInt64)
		for _, c := range all {
			now = min(now, c.t[0])
		}
		if asked != math.MinInt64 {
			now = max(now, asked+step)
		}
		ended := false
		for _, c := range all {
			for len(c.t) > 0 && c.t[0] <= now {
				e.Add(c.key, c.id, c.t[0], c.v[0])
				c.t, c.v = c.t[1:], c.v[1:]
			}
			ended = ended || len(c.t) == 0
		}
		if ended {
			all = slices.DeleteFunc(all, func(c *cursor) bool { return len(c.t) == 0 })
		}
		asked = now
		r.addEvents(e.At(now))
	}
	return r, nil
}

// addEvents stores the changes, and tracks which alarms are open.
func (r *Result) addEvents(events []rule.Event) {
	for _, ev := range events {
		r.Events = append(r.Events, ev)
		r.Open = slices.DeleteFunc(r.Open, func(o rule.Event) bool { return o.Rule == ev.Rule && o.Subject == ev.Subject })
		if ev.Fired {
			r.Open = append(r.Open, ev)
		}
	}
}

// Alarms returns the events that began an alarm.
func (r *Result) Alarms() (out []rule.Event) {
	for _, ev := range r.Events {
		if ev.Fired {
			out = append(out, ev)
		}
	}
	return out
}
