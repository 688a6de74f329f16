package databaseactivity

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/databaselog"
)

// recent is how long before the list a deadlock may be to matter.
const recent = time.Hour

// addTables shows the sessions by their activity, and InnoDB's figures.
func (p *parser) addTables(b *evidence.Builder) {
	if p.granted > 0 {
		b.Table(evidence.Table{Title: "locks of " + p.product, Columns: []string{"", "locks"}, Rows: [][]string{{"granted", strconv.FormatInt(p.granted, 10)}, {"waited for", strconv.Itoa(len(p.rows))}}})
	}
	if len(p.rows) > 0 {
		type group struct {
			what, statement string
			n               int
			most            float64
		}
		by := make(map[string]*group)
		var all []*group
		for _, s := range p.rows {
			what := s.state
			if s.waits != "" {
				what = strings.TrimSpace(what + ", waits for " + s.waits)
			}
			what = clipText(what)
			g := by[what]
			if g == nil {
				if len(all) == 1000 {
					continue
				}
				g = &group{what: what, most: -1}
				by[what] = g
				all = append(all, g)
			}
			g.n++
			if s.took > g.most {
				g.most, g.statement = s.took, databaselog.Fingerprint(s.statement)
			}
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].n > all[j].n })
		t := evidence.Table{Title: "sessions of " + p.product, Columns: []string{"", "sessions", "longest s", "statement of it"}}
		for _, g := range all[:min(len(all), 20)] {
			most := ""
			if g.most >= 0 {
				most = fmt.Sprintf("%.4g", g.most)
			}
			t.Rows = append(t.Rows, []string{g.what, strconv.Itoa(g.n), most, g.statement})
		}
		b.Table(t)
	}
	if p.innodb {
		most := func(all []float64) (v float64) {
			for _, x := range all {
				v = max(v, x)
			}
			return v
		}
		semaphores := slices.Collect(maps.Values(p.semaphores))
		b.Table(evidence.Table{Title: "InnoDB", Columns: []string{"", "value"}, Rows: [][]string{
			{"transactions that wait for a lock", strconv.Itoa(len(p.waits))}, {"longest of these s", fmt.Sprintf("%.4g", most(p.waits))},
			{"threads that wait for a semaphore", strconv.Itoa(len(semaphores))}, {"longest of these s", fmt.Sprintf("%.4g", most(semaphores))},
			{"oldest transaction that is to be kept s", fmt.Sprintf("%.4g", p.committing)}, {"syncs of the redo log that are not done", fmt.Sprintf("%.0f", p.flushing)},
			{"oldest transaction s", fmt.Sprintf("%.4g", p.oldest)}, {"history list length", fmt.Sprintf("%.0f", p.history)}}})
		if len(p.figures) > 0 {
			t := evidence.Table{Title: "InnoDB, its buffer pool and statements", Columns: []string{"", "value"}}
			for _, f := range p.figures {
				t.Rows = append(t.Rows, []string{f[0], f[1]})
			}
			b.Table(t)
		}
	}
	if p.dropped > 0 {
		b.Warnf(0, "sessions beyond the first %d: %d", mostRows, p.dropped)
	}
}

func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), 120)], "") }
