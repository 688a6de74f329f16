package top

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
)

var nan = math.NaN()

// Board holds the counters of one process as shown so far.
type Board struct {
	Subject Subject
	Every   time.Duration // the time between two readings

	rows   map[string]*row
	groups []string // in order of appearance
	at     time.Time
}

type row struct {
	history
	id, title, unit string
	group           string
	order           int
	rule            *Rule // nil: none
	rank            int   // of its rule
}

// Line is a counter ready to be drawn.
type Line struct {
	Title, Unit   string
	Now, Min, Max float64 // NaN unknown
	Rule          string  // how to read the counter; "" for a counter without a rule
	Alert         string  // what the rule found, "" nothing
	history       *history
}

// Group is the counters of one provider.
type Group struct {
	Title string
	Lines []Line
}

// NewBoard returns an empty board.
func NewBoard(s Subject, every time.Duration) *Board {
	return &Board{Subject: s, Every: every, rows: make(map[string]*row)}
}

// Add takes readings. A counter appears with its first reading, a total with its second.
func (b *Board) Add(readings []Reading) {
	for _, x := range readings {
		r := b.rows[x.ID]
		if r == nil {
			r = &row{id: x.ID, title: x.Title, unit: x.Unit, group: x.Group, order: len(b.rows)}
			r.rule, r.rank = b.Subject.ruleOf(x.ID)
			b.rows[x.ID] = r
			if !slices.Contains(b.groups, x.Group) {
				b.groups = append(b.groups, x.Group)
			}
		}
		r.addReading(x)
		if x.At.After(b.at) {
			b.at = x.At
		}
	}
}

// At returns the moment of the newest reading.
func (b *Board) At() time.Time { return b.at }

func (b *Board) availableCores() float64 {
	if b.Subject.Cores > 0 {
		return b.Subject.Cores
	}
	return nan
}

// Groups returns all counters, with the group of /proc last. In a group, counters with a rule come first in the
// order of the rules, then the rest in the order of their source.
func (b *Board) Groups() []Group {
	out := make([]Group, len(b.groups))
	rows := make([]*row, 0, len(b.rows))
	for _, r := range b.rows {
		rows = append(rows, r)
	}
	sorting.Short(rows, func(x, y *row) int { return cmp.Or(x.rank-y.rank, x.order-y.order) })
	titles := slices.Clone(b.groups)
	sorting.Short(titles, func(x, y string) int { return groupRank(x) - groupRank(y) })
	for i, title := range titles {
		out[i].Title = title
		for _, r := range rows {
			if r.group == title {
				out[i].Lines = append(out[i].Lines, b.newLine(r))
			}
		}
	}
	return out
}

// groupRank sorts the counters of /proc behind those of the runtime.
func groupRank(group string) int {
	if group == procGroup {
		return 1
	}
	return 0
}

func (b *Board) newLine(r *row) Line {
	l := Line{Title: r.title, Unit: r.unit, Now: r.newestValue(), Min: nan, Max: nan, history: &r.history}
	if len(r.value) > 0 {
		l.Min, l.Max = r.min, r.max
	}
	if r.rule != nil {
		l.Rule = r.rule.Text
		if r.rule.Holds != nil && len(r.value) > 0 {
			l.Alert = r.rule.Holds(View{&r.history, b})
		}
	}
	return l
}
