package databaseactivity

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format/databaselog"
)

// statement is a row of pg_stat_statements; times are ms, −1 unknown.
type statement struct {
	text               string
	calls, total, mean float64
	line               int64
}

// addStatement adds a row of pg_stat_statements.
func (p *parser) addStatement(row map[string]string, line int64) {
	of := func(names ...string) float64 {
		for _, n := range names {
			if v, err := strconv.ParseFloat(row[n], 64); err == nil && v >= 0 && v < 1e15 {
				return v
			}
		}
		return -1
	}
	s := statement{databaselog.Fingerprint(row["query"]), of("calls"), of("total_exec_time", "total_time"), of("mean_exec_time", "mean_time"), line}
	if s.mean < 0 && s.total >= 0 && s.calls > 0 {
		s.mean = s.total / s.calls
	}
	if len(p.sums) == mostRows {
		p.dropped++
	} else if s.calls > 0 && s.mean >= 0 {
		p.sums = append(p.sums, s)
	}
}

// addSums shows statements by what they took in all, and the slowest of those that came more than once as a fact: its mean time.
func (p *parser) addSums(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.sums) == 0 {
		return
	}
	sorting.Short(p.sums, func(x, y statement) int { return cmp.Compare(y.mean*y.calls, x.mean*x.calls) })
	t := evidence.Table{Title: "statements of " + p.product, Columns: []string{"", "calls", "mean ms", "all s"}}
	var slow *statement
	for i := range p.sums {
		s := &p.sums[i]
		if s.calls > 1 && (slow == nil || s.mean > slow.mean) {
			slow = s
		}
		if i < 20 {
			t.Rows = append(t.Rows, []string{s.text, fmt.Sprintf("%.0f", s.calls), fmt.Sprintf("%.4g", s.mean), fmt.Sprintf("%.4g", s.mean*s.calls/1e3)})
		}
	}
	b.Table(t)
	if slow == nil {
		return
	}
	b.FactAt(subject, evidence.FactStatementsSlow, "", slow.calls, slow.line)
	b.FactAt(subject, evidence.FactStatementMost, slow.text, slow.mean*1e6, slow.line)
}
