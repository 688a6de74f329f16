package databaseactivity

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format/databaselog"
)

// statement is a row of pg_stat_statements or of a digest; times are ms, −1 unknown.
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
	p.addSum(s)
}

func (p *parser) addSum(s statement) {
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

// fewPiled is how many sessions run the same statement where one alone may be a task of its own, s that each has taken so far.
const (
	fewPiled  = 3
	longPiled = 1.
)

// addPiled tells of a statement that several sessions run at the same time, each for a second and more: it takes at least as long.
func (p *parser) addPiled(b *evidence.Builder, subject evidence.SubjectID) {
	if len(p.sums) > 0 {
		return
	}
	type pile struct {
		n       int
		longest float64
		line    int64
	}
	by := make(map[string]*pile)
	var largest *pile
	statement := ""
	for i := range p.rows {
		s := &p.rows[i]
		if !s.runsStatement(p.product) || s.took < longPiled {
			continue
		}
		text := databaselog.Fingerprint(s.statement)
		x := by[text]
		if x == nil {
			x = &pile{}
			by[text] = x
		}
		x.n++
		if s.took > x.longest {
			x.longest, x.line = s.took, s.line
		}
		if largest == nil || x.n > largest.n || x.n == largest.n && x.longest > largest.longest {
			largest, statement = x, text
		}
	}
	if largest == nil || largest.n < fewPiled {
		return
	}
	b.FactAt(subject, evidence.FactStatementsSlow, "", float64(largest.n), largest.line)
	b.FactAt(subject, evidence.FactStatementMost, statement, largest.longest*1e9, largest.line)
}

// runsStatement says whether a session runs a statement of an application: none that waits for a lock, a client or its next turn, and none of replication.
func (s *session) runsStatement(product string) bool {
	text := strings.ToUpper(s.statement)
	if s.locked || text == "" || text == "NULL" || strings.HasPrefix(text, "START_REPLICATION") || strings.HasPrefix(text, "AUTOVACUUM") || strings.HasPrefix(text, "SHOW ") {
		return false
	}
	if product == "MySQL" {
		switch s.state {
		case "Sleep", "Daemon", "Binlog Dump", "Connect", "User sleep":
			return false
		}
		return true
	}
	return s.state == "active" && !strings.HasPrefix(s.waits, "Client") && !strings.HasPrefix(s.waits, "Activity") && !strings.HasPrefix(s.waits, "Timeout")
}
