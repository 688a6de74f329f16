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

// csvTable writes a table, a row at a time. The first row names the columns; times
// are RFC 3339 in UTC and ns since the epoch, or only ns since the recording's own
// beginning where its clock is not known; what is not known is empty, never 0.
func csvTable(s *Source, table string) (Writer, error) {
	b := s.Bundle
	t := &rows{s: s}
	write := t.requests
	switch {
	case table == "intervals":
		write = t.intervals
		if b.Intervals.Len() == 0 {
			return nil, &Missing{"no GC cycles, pauses or other intervals", "a gctrace log (GODEBUG=gctrace=1) or an execution trace has them; unstall inspect shows what files hold"}
		}
	case table == "series":
		write = t.series
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

func (t *rows) put(cells ...string) { t.cells = append(t.cells, cells...) }

func (t *rows) end() error {
	err := t.w.Write(t.cells)
	t.cells = t.cells[:0]
	return err
}

// time puts a moment of a clock in two cells, both empty for 0.
func (t *rows) time(ns int64, c evidence.ClockID) { t.moment(ns, t.s.anchored(c)) }

func (t *rows) moment(ns int64, dated bool) {
	if ns == 0 {
		t.put("", "")
		return
	}
	day := ""
	if dated {
		day = time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	t.put(day, strconv.FormatInt(ns, 10))
}

// milliseconds gives ns without rounding.
func milliseconds(ns int64) string {
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

// requests writes a row for each request. Mechanisms' cells, in ms, sum to the
// latency; they are empty for requests that no ledger charges.
func (t *rows) requests() error {
	t.put("source", "origin", "process", "route", "began", "began_ns", "began_error_ns", "latency_ms", "outcome", "slow", "method")
	for m := range ledger.NumMechanisms {
		t.put(m.String() + "_ms")
	}
	if err := t.end(); err != nil {
		return err
	}
	for q := range t.s.Requests() {
		t.put(q.Source, q.Origin, q.Process, q.Route)
		t.moment(q.Began, q.Dated)
		slack := ""
		if q.Slack >= 0 {
			slack = strconv.FormatInt(q.Slack, 10)
		}
		t.put(slack, milliseconds(q.Latency), q.Outcome.String())
		if !q.Charged {
			t.put("", "")
			for range ledger.NumMechanisms {
				t.put("")
			}
		} else {
			t.put(strconv.FormatBool(q.Slow), q.Method)
			for _, ns := range q.Charges {
				t.put(milliseconds(ns))
			}
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// intervals writes a row for each pause, cycle, phase and state of a lane that is
// no request's. Lane is empty for what concerns all of them. Figures that no row has
// have no column.
func (t *rows) intervals() error {
	b, v := t.s.Bundle, &t.s.Bundle.Intervals
	t.put("source", "origin", "process", "kind", "cause", "lane", "start", "start_ns", "duration_ms")
	var keys []evidence.Key
	for k := range evidence.NumKeys {
		if v.Has(k) {
			keys = append(keys, k)
			t.put(figureColumn(k))
		}
	}
	if err := t.end(); err != nil {
		return err
	}
	for i := range v.Len() {
		o := v.Origin[i]
		t.put(t.s.artifact(o), b.OriginText(o), t.s.subject(v.Subject[i]), v.Kind[i].String(), b.Names.Text(v.Cause[i]), lane(v.Lane[i]))
		t.time(v.Start[i], v.Clock[i])
		t.put(milliseconds(v.End[i] - v.Start[i]))
		for _, k := range keys {
			t.put(t.figure(i, k))
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// figure is a figure of interval i as a cell, empty where it has none.
func (t *rows) figure(i int, k evidence.Key) string {
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
	return number(x)
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
}

// generationColumns are those of figures that each generation of .NET has.
var generationColumns = map[evidence.Key]string{evidence.GenBefore: "before", evidence.GenAfter: "after", evidence.GenFree: "free", evidence.GenSurvived: "survived", evidence.GenGaps: "gaps"}

// figureColumn is a figure's column with its unit, as "gen2_after_bytes".
func figureColumn(k evidence.Key) string {
	if k < evidence.GenBefore {
		return figureColumns[k]
	}
	generation := int(k-evidence.GenBefore) % evidence.Generations
	return [evidence.Generations]string{"gen0", "gen1", "gen2", "loh", "poh"}[generation] + "_" + generationColumns[k-evidence.Key(generation)] + "_bytes"
}

func lane(id evidence.LaneID) string {
	if id <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// series writes a row for each point of each figure over time; it holds until the
// next one.
func (t *rows) series() error {
	t.put("source", "process", "name", "unit", "time", "time_ns", "value")
	if err := t.end(); err != nil {
		return err
	}
	for i := range t.s.Bundle.Series {
		x := &t.s.Bundle.Series[i]
		source, process := t.s.artifact(x.Origin), t.s.subject(x.Subject)
		for n, at := range x.T {
			t.put(source, process, x.Name, x.Unit)
			t.time(at, x.Clock)
			value := ""
			if v := x.V[n]; v == v {
				value = number(v)
			}
			t.put(value)
			if err := t.end(); err != nil {
				return err
			}
		}
	}
	return nil
}
