package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Generation is about a second of a trace: all that its events refer to. It does not change
// once its first event was handed out.
type Generation struct {
	Number uint64

	// Wall and Trace are one moment of the generation, by the host's clock (ns since the
	// epoch) and by the trace's. Before Go 1.25 they are unknown and Anchored is false.
	Wall, Trace int64
	Anchored    bool

	// Skipped are batches of experiments, which are in formats of their own.
	Skipped int

	table
	grows *Growing
}

// Continues says whether what was looked up in the tables of before is valid in this generation, because they are the same or grow
// together.
func (g *Generation) Continues(before *Generation) bool {
	return g == before || g.grows != nil && g.grows == before.grows
}

// Text is a string that a Frame refers to; 0 is none.
func (g *Generation) Text(i uint32) string { return g.texts[i] }

// Stack is the frames of a stack, innermost first, for Frame; 0 is none.
func (g *Generation) Stack(i uint32) []uint32 { return g.calls[g.ends[max(i, 1)-1]:g.ends[i]] }

// Frame is one of Stack.
func (g *Generation) Frame(i uint32) *Frame { return &g.frames[i] }

// Frames is one more than the highest index of a frame.
func (g *Generation) Frames() int { return len(g.frames) }

// Stacks is one more than the highest index of a stack.
func (g *Generation) Stacks() int { return len(g.ends) }

// stretch is a generation as it is read: its tables, and the batches that its events are
// decoded from.
type stretch struct {
	*Generation
	nsPerTick float64
	moment    uint64 // when the clocks were compared, in ticks
	from      uint64 // of the earliest batch, in ticks
	lanes     []*lane
	byThread  map[int64]*lane
	samples   []sample
	chunks    chunks
}

// lane is the batches of one thread, in their order.
type lane struct {
	thread  int64
	batches []batch
}

// batch is what one thread wrote at a time, without its header.
type batch struct {
	generation uint64
	thread     int64
	ticks      uint64 // the first event is so much later than this as it says
	experiment byte
	data       []byte
}

func (b *batch) beginsWith(t Type) bool {
	return b.experiment == 0 && len(b.data) > 0 && Type(b.data[0]) == t
}

// sample is one of a CPU profile that ran beside the trace.
type sample struct {
	time, thread, proc, goroutine int64
	stack                         uint64
}

func newStretch() *stretch {
	return &stretch{Generation: &Generation{table: newTable()}, byThread: make(map[int64]*lane)}
}

// addBatch sorts a batch into the generation.
func (g *stretch) addBatch(b batch, version int) error {
	if g.from == 0 || b.ticks < g.from {
		g.from = b.ticks
	}
	syncs := evSync
	if version < 25 {
		syncs = evFrequency
	}
	switch {
	case b.beginsWith(evStrings):
		return g.addTexts(b.data)
	case b.beginsWith(evStacks):
		return g.addStacks(b.data)
	case b.beginsWith(evCPUSamples):
		return g.addSamples(b.data)
	case b.beginsWith(syncs):
		return g.readSync(&b, version)
	case b.experiment != 0:
		g.Skipped++
		return nil
	}
	l := g.byThread[b.thread]
	if l == nil {
		l = &lane{thread: b.thread}
		g.byThread[b.thread] = l
		g.lanes = append(g.lanes, l)
	}
	l.batches = append(l.batches, b)
	return nil
}

// readSync reads the length of the clock's ticks and, from Go 1.25 on, when they began.
func (g *stretch) readSync(b *batch, version int) error {
	n, ticks := numbers{data: b.data}, b.ticks
	if version >= 25 {
		n.nextType()
	}
	for len(n.data) > 0 {
		switch k := n.nextType(); {
		case k == evFrequency && g.nsPerTick == 0:
			g.nsPerTick = 1.0 / (float64(n.nextNumber()) / 1e9)
		case k == evClockSnapshot && version >= 25 && !g.Anchored:
			ticks += n.nextNumber()
			n.nextNumber() // the host's monotonic clock
			sec, ns := n.nextNumber(), n.nextNumber()
			g.Anchored, g.moment, g.Wall = true, ticks, int64(sec)*1e9+int64(ns)
		default:
			return fmt.Errorf("event %d where a generation's clock is told, or told twice", k)
		}
	}
	if n.bad {
		return errors.New("what a generation's clock is, is cut short")
	}
	return nil
}

func (g *stretch) addSamples(data []byte) error {
	n := numbers{data: data[1:]}
	for len(n.data) > 0 {
		if k := n.nextType(); k != EvCPUSample {
			return fmt.Errorf("event %d among CPU samples", k)
		}
		ticks, thread, proc, goroutine, stack := n.nextNumber(), n.nextNumber(), n.nextNumber(), n.nextNumber(), n.nextNumber()
		if n.bad {
			return errors.New("a CPU sample is cut short")
		}
		s := sample{int64(ticks), int64(thread), int64(proc), int64(goroutine), stack}
		if goroutine == 0 {
			s.goroutine = None
		}
		g.samples = append(g.samples, s)
	}
	return nil
}

// completeGeneration is called once all of the generation was read: it converts times to ns, sorts
// the samples and resolves the tables.
func (g *stretch) completeGeneration(version int) error {
	switch {
	case g.nsPerTick == 0:
		return errors.New("a generation does not tell its clock's frequency")
	case version >= 25 && !g.Anchored:
		return errors.New("a generation does not tell when it began")
	}
	g.Trace = g.toNanoseconds(g.moment)
	for i := range g.samples {
		g.samples[i].time = g.toNanoseconds(uint64(g.samples[i].time))
	}
	slices.SortFunc(g.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	return g.table.completeTable()
}

// toNanoseconds converts ticks of the trace's clock to ns.
func (g *stretch) toNanoseconds(ticks uint64) int64 { return int64(float64(ticks) * g.nsPerTick) }
