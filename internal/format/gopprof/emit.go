package gopprof

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Bounds of what is kept.
const (
	maxRows   = 1_000_000
	maxFrames = 512
)

// emitRecording writes a recording into the bundle.
func emitRecording(ctx context.Context, r *recording, b *evidence.Builder, subject evidence.SubjectID) error {
	r.dropForeignTimes(b)
	at := r.snapshotTime(b)
	from, until := emitCoverage(r, b, subject, at)
	sum := summarizeRecording(r)
	if err := emitSamples(ctx, r, b, subject, sum.classes); err != nil {
		return err
	}
	f := facts{b: b, subject: subject, from: from, until: until}
	f.addFact(evidence.FactProfileKind, r.kind, math.NaN())
	if len(r.Mapping) > 0 && r.Mapping[0].BuildID != "" {
		f.addFact("build.id", clipText(r.Mapping[0].BuildID), math.NaN())
	}
	bare := r.kind == kindHeap && len(r.Sample) == 0 && len(r.stats) > 0 // the page of expvar: figures without a profile
	if !bare {
		sum.addFacts(r, &f)
	}
	if at > 0 {
		f.from, f.until = at, at
	}
	for _, s := range r.stats {
		f.addStat(s)
	}
	r.emitMemory(b, subject, at)
	if bare {
		b.Table(r.statsTable())
		return nil
	}
	if len(r.Sample) == 0 {
		b.Warnf(0, "the %s profile has no samples%s", r.kind, why[r.kind])
	}
	for _, t := range sum.buildTables(r) {
		b.Table(t)
	}
	return nil
}

// why explains an empty profile by its kind.
var why = map[string]string{
	kindCPU:        ": the process used hardly any CPU while it was taken, or profiling was on for too short a time",
	kindMutex:      mutexOff,
	kindBlock:      ": blocking is not sampled unless the program calls runtime.SetBlockProfileRate",
	kindContention: ": locks are not sampled unless the program calls runtime.SetMutexProfileFraction or SetBlockProfileRate",
}

const mutexOff = ": contention is not sampled unless the program calls runtime.SetMutexProfileFraction"

// Plausible times of a profile: pprof is of 2005, and no profile of a service lasts longer than a year.
// Other programs write pprof files, too, with the time since their start, or
// in another unit.
const (
	earliest = 1072915200 * int64(time.Second) // 2004
	latest   = 4102444800 * int64(time.Second) // 2100
	longest  = 366 * 24 * int64(time.Hour)
)

// dropForeignTimes drops times that are no time of day and implausible durations, with a
// warning.
func (r *recording) dropForeignTimes(b *evidence.Builder) {
	if t := r.TimeNanos; t != 0 && (t < earliest || t > latest) {
		b.Warnf(0, "the profile's time (%d) is no time of day in ns: it stands alone, and cannot be laid beside other files", t)
		r.TimeNanos = 0
	}
	if d := r.DurationNanos; d < 0 || d > longest {
		b.Warnf(0, "the profile's duration (%d ns) is none: shares are known, rates are not", d)
		r.DurationNanos = 0
	}
}

// emitCoverage anchors the clock and emits the time that the profile covers.
//
// A CPU profile's TimeNanos is taken right after sampling was switched on; its
// duration ends when the writer has woken up, up to 0.1 s (0.2 s on macOS) after
// it was switched off. Other profiles carry the time of writing; those of
// ?seconds=N the end and the length of their window. A text has only the times
// of GC cycles: it covers the time from the last one on, and a heap profile
// shows that cycle. A recorded text without them has the time of its recording.
func emitCoverage(r *recording, b *evidence.Builder, subject evidence.SubjectID, at int64) (from, until int64) {
	const (
		startError  = 1e6   // from switching on to taking the time
		recordError = 100e6 // from writing a text to having stored it
	)
	clock := b.Clock()
	duration := max(0, r.DurationNanos)
	switch {
	case r.TimeNanos > 0 && r.TimeNanos < math.MaxInt64-duration && duration < r.TimeNanos:
		clock.Error = startError
		switch {
		case r.kind == kindCPU:
			from, until = r.TimeNanos, r.TimeNanos+duration
		case duration > 0:
			from, until = r.TimeNanos-duration, r.TimeNanos
		case r.kind == kindHeap || strings.HasPrefix(r.kind, kindGoroutine):
			from, until = r.TimeNanos, r.TimeNanos
		default: // since the process started, or since its rate was set
			until = r.TimeNanos
		}
	case len(r.ring.ends) > 0:
		clock.Error = startError
		from, until = r.lastGC, max(r.lastGC, at)
	case r.lines != nil && at > 0:
		clock.Error = recordError
		from, until = at, at
	case r.lines != nil && clock.Error == startError:
		// Another section of the same text has dated the clock; this one has no time.
	case r.lines != nil:
		clock.Name, clock.Error = "undated", evidence.Unanchored
	default:
		clock.Name, clock.Error = "since profile start", evidence.Unanchored
		until = duration
	}
	kind := ""
	switch r.kind {
	case kindCPU:
		kind = evidence.CoverCPUProfile
	case kindHeap, kindAllocs:
		kind = evidence.CoverHeap
	case kindGoroutine, kindGoroutineLeak:
		kind = evidence.CoverGoroutines
	case kindMutex, kindBlock, kindContention:
		kind = evidence.CoverLocks
		if len(r.Sample) == 0 {
			kind = "" // most likely it was switched off, which is no coverage
		}
	}
	if kind != "" {
		b.Cover(evidence.Coverage{Subject: subject, Kind: kind, From: from, Until: until, Origin: b.Origin(0)})
	}
	return from, until
}

// emitSamples writes one row per sample and type. It leaves out the number
// of samples of a CPU profile, which the nanoseconds already show.
func emitSamples(ctx context.Context, r *recording, b *evidence.Builder, subject evidence.SubjectID, classes []string) error {
	type column struct {
		index     int
		scale     int64
		typ, unit evidence.NameID
	}
	var columns []column
	only := cpuColumn(r.Profile)
	for i, t := range r.SampleType {
		if r.kind == kindCPU && only >= 0 && i != only {
			continue
		}
		unit, scale := baseUnit(t.Unit)
		columns = append(columns, column{i, scale, b.Name(clipText(t.Type)), b.Name(unit)})
	}
	names := make(map[*profile.Function]evidence.Frame, len(r.Function))
	rows := 0
	var frames []evidence.Frame
	for i, s := range r.Sample {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var stack evidence.StackID
		for _, c := range columns {
			if s.Value[c.index] == 0 {
				continue
			}
			if rows == maxRows {
				b.Warnf(r.positionOf(i), "the profile has more than %d values: the rest is in its totals but not in its samples", maxRows)
				return nil
			}
			if stack == 0 {
				frames = stackOf(frames[:0], s.Location, b, names)
				stack = b.Stack(frames)
			}
			row := evidence.Sample{Subject: subject, Stack: stack, Type: c.typ, Unit: c.unit, Value: multiplySaturated(s.Value[c.index], c.scale), Origin: b.Origin(r.positionOf(i))}
			if classes != nil {
				row.Class = b.Name(classes[i])
			}
			b.Sample(row)
			rows++
		}
	}
	return nil
}

// stackOf expands locations, innermost first; a location's lines begin with the
// innermost inlined function.
func stackOf(frames []evidence.Frame, locations []*profile.Location, b *evidence.Builder, names map[*profile.Function]evidence.Frame) []evidence.Frame {
	for _, l := range locations {
		if len(l.Line) == 0 {
			frames = append(frames, evidence.Frame{Func: b.Name(libraryName(l))})
		}
		for _, line := range l.Line {
			f, ok := names[line.Function]
			if !ok && line.Function != nil {
				f = evidence.Frame{Func: b.Name(clipText(line.Function.Name)), File: b.Name(clipText(line.Function.Filename))}
				names[line.Function] = f
			}
			f.Line = int32(min(max(line.Line, 0), math.MaxInt32))
			frames = append(frames, f)
			if len(frames) == maxFrames {
				return frames
			}
		}
		if len(frames) >= maxFrames {
			return frames[:maxFrames]
		}
	}
	return frames
}

// cpuColumn returns the column with the CPU time, -1 if there are only counts.
func cpuColumn(p *profile.Profile) int { return findColumn(p, "cpu") }

// baseUnit returns a unit in the form of evidence, and the factor to it.
func baseUnit(unit string) (string, int64) {
	switch unit {
	case "microseconds":
		return "nanoseconds", 1e3
	case "milliseconds":
		return "nanoseconds", 1e6
	case "seconds":
		return "nanoseconds", 1e9
	case "kilobytes":
		return "bytes", 1 << 10
	case "megabytes":
		return "bytes", 1 << 20
	}
	return clipText(unit), 1
}

// multiplySaturated multiplies without overflow.
func multiplySaturated(v, by int64) int64 {
	if by == 1 {
		return v
	}
	if f := float64(v) * float64(by); math.Abs(f) >= math.MaxInt64 {
		return int64(math.Copysign(1, f)) * math.MaxInt64
	}
	return v * by
}

// facts writes facts that hold for the profile's time.
type facts struct {
	b           *evidence.Builder
	subject     evidence.SubjectID
	from, until int64
}

func (f *facts) addFact(key, value string, number float64) { f.addFactAt(0, key, value, number) }

func (f *facts) addNumber(key string, n float64) {
	f.addFact(key, strconv.FormatFloat(n, 'f', -1, 64), n)
}

func (f *facts) addFactAt(position int64, key, value string, number float64) {
	f.b.Fact(evidence.Fact{Subject: f.subject, Key: key, Value: value, Number: number, From: f.from, Until: f.until, Origin: f.b.Origin(position)})
}

// addStat writes a value of runtime.MemStats. "Stack = inuse / sys" makes two facts.
func (f *facts) addStat(s stat) {
	if inuse, sys, ok := strings.Cut(s.value, " / "); ok {
		f.addStat(stat{s.key + "Inuse", inuse, s.line})
		f.addStat(stat{s.key + "Sys", sys, s.line})
		return
	}
	n, err := strconv.ParseFloat(s.value, 64)
	switch {
	case err == nil && !math.IsInf(n, 0) && !math.IsNaN(n):
		f.addFactAt(s.line, s.key, s.value, n)
	case s.value == "true" || s.value == "false":
		f.addFactAt(s.line, s.key, s.value, math.NaN())
	}
}
