package databaselog

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// What EXPLAIN ANALYZE prints of the steps of a plan, PostgreSQL 8 to 18 and MySQL 8.0.18 to 9:
//
//	Nested Loop  (cost=0.43..1893311.20 rows=512 width=40) (actual time=14.022..34190.114 rows=4178 loops=1)
//	  ->  Seq Scan on items i  (cost=0.00..5120.00 rows=164700 width=32) (actual time=0.004..16.112 rows=164705 loops=1040)
//	Execution Time: 34190.882 ms
//
// Times are ms of one loop, of all steps below included. A plan is one statement, run once: it shows where its time went.
// https://www.postgresql.org/docs/current/using-explain.html#USING-EXPLAIN-ANALYZE
var planTime = []byte("(actual time=")

// planEnds begin the line with a statement's time.
var planEnds = [][]byte{[]byte("Execution Time: "), []byte("Execution time: "), []byte("Total runtime: ")}

const (
	mostSteps = 2000
	mostPlans = 1000
	slowPlan  = 1e9 // ns from which a plan counts among slow statements
)

// step is a step of a plan.
type step struct {
	name       string
	depth      int // column
	ns         float64
	below      float64 // of its steps below, ns
	rows, runs float64
	workers    float64 // that share its runs
	line       int64
}

// plan is a plan that is being read.
type plan struct {
	steps []step
	above []int // steps that the last one is below, outermost first
	mysql bool
}

// parseStep reads a step.
func parseStep(l []byte) (s step, arrow, ok bool) {
	before, rest, ok := bytes.Cut(l, planTime)
	_, took, ok2 := bytes.Cut(rest, []byte(".."))
	_, runs, ok3 := bytes.Cut(rest, []byte(" loops="))
	_, rows, _ := bytes.Cut(rest, []byte(" rows="))
	if !ok || !ok2 || !ok3 {
		return s, false, false
	}
	ms, ok := parseNumber(took, 1e6)
	s.runs, ok2 = parseNumber(runs, 1)
	s.rows, _ = parseNumber(rows, 1)
	s.ns = ms * s.runs
	name := strings.TrimLeft(string(before), " |\"'\t")
	s.depth = len(before) - len(name)
	if name, arrow = strings.CutPrefix(name, "->"); arrow {
		name = strings.TrimLeft(name, " ")
	}
	name, _, _ = strings.Cut(name, "(cost=")
	if i := strings.Index(name, ": "); i >= 0 { // MySQL shows conditions with literals
		name = name[:i]
	}
	if name, _, _ = strings.Cut(name, " ("); len(name) > mostMongoName {
		name = name[:mostMongoName]
	}
	s.name = strings.ToValidUTF8(strings.TrimSpace(name), "?")
	return s, arrow, ok && ok2 && s.name != ""
}

// parsePlanLine reads a line of a plan; ok says whether it is one.
func (p *parser) parsePlanLine(l []byte) (ok bool) {
	if bytes.Contains(l, planTime) {
		s, arrow, ok := parseStep(l)
		if !ok {
			return false
		}
		if n := len(p.plan.steps); n > 0 && s.depth <= p.plan.steps[0].depth || n == mostSteps {
			p.endPlan(0)
		}
		x := &p.plan
		x.mysql = x.mysql || len(x.steps) == 0 && arrow
		s.line, s.workers = p.line, 1
		for len(x.above) > 0 && x.steps[x.above[len(x.above)-1]].depth >= s.depth {
			x.above = x.above[:len(x.above)-1]
		}
		if len(x.above) > 0 {
			parent := &x.steps[x.above[len(x.above)-1]]
			if s.workers = parent.workers; strings.HasPrefix(parent.name, "Gather") && s.runs > 1 {
				s.workers = s.runs
			}
			s.ns /= s.workers
			parent.below += s.ns
		}
		x.above = append(x.above, len(x.steps))
		x.steps = append(x.steps, s)
		return true
	}
	if len(p.plan.steps) == 0 {
		return false
	}
	text := bytes.TrimLeft(l, " |\"")
	for _, end := range planEnds {
		if rest, found := bytes.CutPrefix(text, end); found {
			ns, _ := parseNumber(rest, 1e6)
			p.endPlan(ns)
			return true
		}
	}
	return false
}

// endPlan ends a plan, whose statement took ns, 0 if that is not told.
func (p *parser) endPlan(ns float64) {
	x := p.plan
	if p.plan = (plan{}); len(x.steps) == 0 {
		return
	}
	if ns = cmp.Or(ns, x.steps[0].ns); p.plans < mostPlans {
		p.plans++
	}
	if p.name == "" {
		if p.name = "PostgreSQL"; x.mysql {
			p.name = "MySQL"
		}
	}
	own := func(s *step) float64 { return max(0, s.ns-s.below) }
	sorting.Short(x.steps, func(a, b step) int { return cmp.Compare(own(&b), own(&a)) })
	top := &x.steps[0]
	if ns > slowPlan && !p.explained {
		p.addRun("EXPLAIN ANALYZE of a statement, most of it in "+top.name, ns, 0, top.rows*top.runs, top.line)
	}
	if p.explained = false; ns <= p.planMost {
		return
	}
	p.planMost = ns
	p.planTable = evidence.Table{Title: "steps of the longest plan", Columns: []string{"", "own ms", "runs", "rows of a run"}}
	for i := range x.steps[:min(len(x.steps), mostShown)] {
		s := &x.steps[i]
		p.planTable.Rows = append(p.planTable.Rows, []string{s.name, formatFigure(own(s) / 1e6), formatFigure(s.runs), formatFigure(s.rows)})
	}
	p.planTable.Rows = append(p.planTable.Rows, []string{"the statement", formatFigure(ns / 1e6), "", ""})
}
