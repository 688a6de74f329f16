package gopprof

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// countUnit is the time (ns) that [timeOf] returns for a count of 1.
const countUnit = samplePeriodMs * 1e6

// isOfGoroutines says whether the listing counts goroutines: it says so, or its total is a count and most of them are parked, which uses no CPU.
func (p *listing) isOfGoroutines() bool {
	if p.kind != "" || !p.bare {
		return p.kind == kindGoroutine
	}
	for _, x := range p.rows {
		if x.name == "runtime.gopark" && x.flat > p.total/2 {
			return true
		}
	}
	return false
}

// emitGoroutines emits the goroutines of a listing: those of -traces with their stacks, those of -top without them.
func (p *listing) emitGoroutines(ctx context.Context, b *evidence.Builder) error {
	r := &recording{Profile: &profile.Profile{SampleType: []*profile.ValueType{{Type: kindGoroutine, Unit: "count"}}}, kind: kindGoroutine, lines: []int64{}}
	known := int64(0)
	add := func(n, line int64, stack ...string) {
		if n <= 0 {
			return
		}
		known += n
		s := &profile.Sample{Value: []int64{n}}
		for _, name := range stack {
			f := &profile.Function{Name: name}
			r.Function = append(r.Function, f)
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: f}}})
		}
		r.Sample, r.lines = append(r.Sample, s), append(r.lines, line)
	}
	for _, t := range p.traces {
		add(t.ns/countUnit, t.line, t.stack...)
	}
	if len(p.traces) == 0 {
		for _, x := range p.rows {
			add(x.flat/countUnit, x.line, x.name)
		}
	}
	add(p.total/countUnit-known, 1)
	if len(p.rows) > 0 && len(p.traces) == 0 {
		b.Warnf(p.rows[0].line, "a listing has no stacks: how many goroutines are in each function is known, and which of them are the same ones is not")
	}
	if err := emitRecording(ctx, r, b, b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})); err != nil {
		return err
	}
	rows := slices.Clone(p.rows)
	slices.SortStableFunc(rows, func(x, y listed) int { return cmp.Compare(y.cum, x.cum) })
	t := evidence.Table{Title: "goroutines by function, with those in what it calls", Columns: []string{"", "goroutines"}}
	for _, x := range rows[:min(len(rows), topFunctions)] {
		t.Rows = append(t.Rows, []string{x.name, strconv.FormatInt(x.cum/countUnit, 10)})
	}
	if len(rows) > 0 {
		b.Table(t)
	}
	return nil
}
