package kernelstacks

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// totals are the times of threads in each mechanism.
type totals struct {
	of      map[evidence.NameID]total
	threads map[threadIn]int64 // ns
	all     int64
	more    int64 // ns of threads beyond the separate ones
}

type total struct {
	count, ns int64
	first     int // which mechanism it was to be met first: the numbers of names depend on what else was read
}

type threadIn struct {
	mechanism evidence.NameID
	tid       int64
}

func (t *totals) add(mechanism evidence.NameID, tid, count, ns int64) {
	if t.of == nil {
		t.of, t.threads = make(map[evidence.NameID]total), make(map[threadIn]int64)
	}
	x, met := t.of[mechanism]
	if !met && mechanism != 0 { // the program's own code stands before others
		x.first = len(t.of) + 1
	}
	x.count, x.ns = x.count+count, x.ns+ns
	t.of[mechanism] = x
	t.all += ns
	k := threadIn{mechanism, tid}
	if _, known := t.threads[k]; known || len(t.threads) < mostThreads {
		t.threads[k] += ns
	} else {
		t.more += ns
	}
}

// mostShown bounds rows of a table.
const mostShown = 12

// buildTables returns the tables of inspect: time by mechanism, and for each the thread with most of
// it.
func (t *totals) buildTables(p *parser) []evidence.Table {
	if t.all == 0 {
		return nil
	}
	title, counted := "threads ran in", "samples"
	if p.waiting {
		title, counted = "threads waited for", "waits"
	}
	type busiest struct {
		tid, ns int64
		threads int
	}
	most := make(map[evidence.NameID]busiest)
	for k, ns := range t.threads {
		m := most[k.mechanism]
		if m.threads++; ns > m.ns || ns == m.ns && k.tid < m.tid {
			m.tid, m.ns = k.tid, ns
		}
		most[k.mechanism] = m
	}
	var order []evidence.NameID
	for m := range t.of {
		order = append(order, m)
	}
	slices.SortFunc(order, func(a, b evidence.NameID) int {
		return cmp.Or(cmp.Compare(t.of[b].ns, t.of[a].ns), cmp.Compare(t.of[a].first, t.of[b].first))
	})
	x := evidence.Table{Title: title, Columns: []string{"mechanism", "time", "share", counted, "threads", "most of it"}}
	for _, m := range order[:min(len(order), mostShown)] {
		name := p.b.Text(m)
		if m == 0 {
			name = "the program's own code"
		}
		who := fmt.Sprint(most[m].tid)
		if n := p.threads[most[m].tid]; n != "" {
			who += " " + n
		}
		x.Rows = append(x.Rows, []string{name, time.Duration(t.of[m].ns).Round(time.Microsecond).String(), fmt.Sprintf("%.1f %%", 100*float64(t.of[m].ns)/float64(t.all)),
			fmt.Sprint(t.of[m].count), fmt.Sprint(most[m].threads), fmt.Sprintf("%s (%.0f %%)", who, 100*float64(most[m].ns)/float64(max(1, t.of[m].ns)))})
	}
	return []evidence.Table{x}
}
