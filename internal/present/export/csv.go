package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

var csvTables = []string{"requests", "intervals", "series"}

// csvTable returns the writer of a table, which writes a row at a time. The first row names the
// columns. Times are RFC 3339 in UTC and ns since the epoch, or only ns since the recording's own
// beginning where its clock is not known. What is not known is empty, never 0.
func csvTable(s *Source, table string) (Writer, error) {
	b := s.Bundle
	t := &rows{s: s}
	write := t.writeRequests
	switch {
	case table == "intervals":
		write = t.writeIntervals
		if b.Intervals.Len() == 0 {
			return nil, &Missing{"no GC cycles, pauses or other intervals", "a gctrace log (GODEBUG=gctrace=1) or an execution trace has them; unstall inspect shows what files hold"}
		}
	case table == "series":
		write = t.writeSeries
		if len(b.Series) == 0 {
			return nil, &Missing{"no figures over time", "unstall record TARGET records those of the process, its container and the host"}
		}
	case b.Requests.Len() == 0:
		return nil, missingRequests
	}
	return func(w io.Writer) error {
		t.w = csv.NewWriter(w)
		if err := write(); err != nil {
			return err
		}
		t.w.Flush()
		return t.w.Error()
	}, nil
}

var missingRequests = &Missing{"no requests", "give an access log, a load generator's rows or an execution trace: unstall record TARGET, or curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'"}

// rows writes rows of cells.
type rows struct {
	s     *Source
	w     *csv.Writer
	cells []string
}

func (t *rows) addCells(cells ...string) { t.cells = append(t.cells, cells...) }

func (t *rows) writeRow() error {
	err := t.w.Write(t.cells)
	t.cells = t.cells[:0]
	return err
}

// addClockTime adds a moment of a clock as two cells, both empty for 0.
func (t *rows) addClockTime(ns int64, c evidence.ClockID) { t.addTime(ns, t.s.isAnchored(c)) }

func (t *rows) addTime(ns int64, dated bool) {
	if ns == 0 {
		t.addCells("", "")
		return
	}
	day := ""
	if dated {
		day = time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	t.addCells(day, strconv.FormatInt(ns, 10))
}

// formatMilliseconds returns ns in milliseconds, without rounding.
func formatMilliseconds(ns int64) string {
	if ns == 0 {
		return "0"
	}
	var cell [24]byte
	out := strconv.AppendInt(cell[:0], ns/1e6, 10)
	part := ns % 1e6
	if part < 0 {
		part = -part
		if ns > -1e6 {
			out = append(out[:0], "-0"...)
		}
	}
	if part > 0 {
		out = append(out, '.')
		for digit := int64(1e5); part > 0; digit /= 10 {
			out = append(out, byte('0'+part/digit))
			part %= digit
		}
	}
	return string(out)
}

// writeRequests writes a row for each request of each source. Mechanisms' cells, in ms, sum to the latency; they
// are empty for requests that no ledger charges, and so are the same requests as other sources saw them: those are not counted.
func (t *rows) writeRequests() error {
	t.addCells("source", "origin", "process", "route", "began", "began_ns", "began_error_ns", "latency_ms", "outcome", "slow", "method")
	for m := range ledger.NumMechanisms {
		t.addCells(m.String() + "_ms")
	}
	t.addCells("counted")
	if err := t.writeRow(); err != nil {
		return err
	}
	for q := range t.s.Requests() {
		t.addCells(q.Source, q.Origin, q.Process, q.Route)
		t.addTime(q.Began, q.Dated)
		slack := ""
		if q.Slack >= 0 {
			slack = strconv.FormatInt(q.Slack, 10)
		}
		t.addCells(slack, formatMilliseconds(q.Latency), q.Outcome.String())
		if !q.Charged {
			t.addCells("", "")
			for range ledger.NumMechanisms {
				t.addCells("")
			}
		} else {
			t.addCells(strconv.FormatBool(q.Slow), q.Method)
			for _, ns := range q.Charges {
				t.addCells(formatMilliseconds(ns))
			}
		}
		t.addCells(strconv.FormatBool(q.Charged))
		if err := t.writeRow(); err != nil {
			return err
		}
	}
	return nil
}

// writeIntervals writes a row for each pause, cycle, phase and lane state that belongs to no
// request. The lane is empty for intervals of all lanes. A figure that no row has gets no column.
func (t *rows) writeIntervals() error {
	b, v := t.s.Bundle, &t.s.Bundle.Intervals
	t.addCells("source", "origin", "process", "kind", "cause", "lane", "start", "start_ns", "duration_ms")
	var keys []evidence.Key
	for k := range evidence.NumKeys {
		if v.Has(k) {
			keys = append(keys, k)
			t.addCells(figureColumn(k))
		}
	}
	if err := t.writeRow(); err != nil {
		return err
	}
	for i := range v.Len() {
		o := v.Origin.At(i)
		t.addCells(t.s.artifactName(o), b.OriginText(o), t.s.subjectTitle(v.Subject.At(i)), v.Kind[i].String(), b.Names.Text(v.Cause.At(i)), formatLane(v.Lane.At(i)))
		t.addClockTime(v.Start[i], v.Clock.At(i))
		t.addCells(formatMilliseconds(v.End[i] - v.Start[i]))
		for _, k := range keys {
			t.addCells(t.figureCell(i, k))
		}
		if err := t.writeRow(); err != nil {
			return err
		}
	}
	return nil
}

// figureCell returns a figure of interval i as a cell, empty where it has none.
func (t *rows) figureCell(i int, k evidence.Key) string {
	v := &t.s.Bundle.Intervals
	x, ok := v.Get(i, k)
	switch {
	case !ok:
		return ""
	case k == evidence.Trigger, k == evidence.Failure, k == evidence.ClientAddress:
		return t.s.Bundle.Names.Text(v.NameOf(i, k))
	case k == evidence.PauseOf:
		return evidence.Pause(x).String()
	}
	return formatNumber(x)
}

// figureColumns are the figures of intervals with their units.
var figureColumns = [evidence.NumKeys]string{
	evidence.HeapBefore:     "heap_before_bytes",
	evidence.HeapAfter:      "heap_after_bytes",
	evidence.HeapLive:       "heap_live_bytes",
	evidence.HeapGoal:       "heap_goal_bytes",
	evidence.StackScan:      "stack_scan_bytes",
	evidence.GlobalScan:     "global_scan_bytes",
	evidence.AssistTime:     "assist_ns",
	evidence.BackgroundTime: "background_ns",
	evidence.IdleTime:       "idle_ns",
	evidence.STWTime:        "stop_the_world_ns",
	evidence.MarkTime:       "mark_ns",
	evidence.CPUFraction:    "cpu_fraction",
	evidence.Forced:         "forced",
	evidence.Processors:     "processors",
	evidence.CycleNumber:    "cycle",
	evidence.Generation:     "generation",
	evidence.PoolThreads:    "pool_threads",

	evidence.Trigger:           "trigger",
	evidence.Failure:           "failure",
	evidence.PauseOf:           "pause_of",
	evidence.HeapCapacity:      "heap_capacity_bytes",
	evidence.YoungBefore:       "young_before_bytes",
	evidence.YoungAfter:        "young_after_bytes",
	evidence.YoungCapacity:     "young_capacity_bytes",
	evidence.OldBefore:         "old_before_bytes",
	evidence.OldAfter:          "old_after_bytes",
	evidence.OldCapacity:       "old_capacity_bytes",
	evidence.MetaBefore:        "metaspace_before_bytes",
	evidence.MetaAfter:         "metaspace_after_bytes",
	evidence.MetaCapacity:      "permgen_capacity_bytes",
	evidence.HumongousBefore:   "humongous_regions_before",
	evidence.HumongousAfter:    "humongous_regions_after",
	evidence.SurvivorTotal:     "survivors_bytes",
	evidence.TenuringThreshold: "tenuring_threshold",
	evidence.UserCPU:           "user_cpu_ns",
	evidence.SystemCPU:         "system_cpu_ns",
	evidence.RealTime:          "real_ns",
	evidence.ToSafepoint:       "to_safepoint_ns",
	evidence.RegionSize:        "region_bytes",
	evidence.YoungTime:         "young_ns",

	evidence.Resuming:         "resuming_ns",
	evidence.CollectionKind:   "collection_kind",
	evidence.PauseTime:        "paused_ns",
	evidence.PromotedBytes:    "promoted_bytes",
	evidence.FreeBytes:        "free_bytes",
	evidence.PinnedObjects:    "pinned_objects",
	evidence.HandleCount:      "handles",
	evidence.FinalizableBytes: "finalizable_bytes",
	evidence.CondemnReasons:   "condemn_reasons",
	evidence.Compacting:       "compacting",
	evidence.MemoryLoad:       "memory_load_percent",
	evidence.HeapCount:        "heaps",
	evidence.GenBudget:        "gen0_budget_bytes",
	evidence.MarkedStacks:     "marked_stacks_bytes",
	evidence.MarkedFinalizer:  "marked_finalizers_bytes",
	evidence.MarkedHandles:    "marked_handles_bytes",
	evidence.MarkedOlder:      "marked_older_bytes",
	evidence.MarkedOther:      "marked_others_bytes",
	evidence.Arguments:        "arguments",
	evidence.ArgumentBytes:    "argument_bytes",
	evidence.ClientAddress:    "client",
	evidence.Repeated:         "repeated",
}

// generationColumns name the columns of figures that exist for each .NET generation.
var generationColumns = map[evidence.Key]string{evidence.GenBefore: "before", evidence.GenAfter: "after", evidence.GenFree: "free", evidence.GenSurvived: "survived", evidence.GenGaps: "gaps"}

// figureColumn returns the name of a figure's column with its unit, such as "gen2_after_bytes".
func figureColumn(k evidence.Key) string {
	if k < evidence.GenBefore {
		return figureColumns[k]
	}
	generation := int(k-evidence.GenBefore) % evidence.Generations
	return [evidence.Generations]string{"gen0", "gen1", "gen2", "loh", "poh"}[generation] + "_" + generationColumns[k-evidence.Key(generation)] + "_bytes"
}

func formatLane(id evidence.LaneID) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// writeSeries writes a row for each point of each figure over time; a value holds until the next
// one.
func (t *rows) writeSeries() error {
	t.addCells("source", "process", "name", "unit", "time", "time_ns", "value")
	if err := t.writeRow(); err != nil {
		return err
	}
	for i := range t.s.Bundle.Series {
		x := &t.s.Bundle.Series[i]
		source, process := t.s.artifactName(x.Origin), t.s.subjectTitle(x.Subject)
		for n, at := range x.T {
			t.addCells(source, process, x.Name, x.Unit)
			t.addClockTime(at, x.Clock)
			value := ""
			if v := x.V[n]; v == v {
				value = formatNumber(v)
			}
			t.addCells(value)
			if err := t.writeRow(); err != nil {
				return err
			}
		}
	}
	return nil
}
