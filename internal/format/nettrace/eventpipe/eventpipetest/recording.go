package eventpipetest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
)

const (
	runtimeProvider = "Microsoft-Windows-DotNETRuntime"
	rundownProvider = "Microsoft-Windows-DotNETRuntimeRundown"
	samplerProvider = "Microsoft-DotNETCore-SampleProfiler"
)

// Recording returns a stream of at least size bytes as a runtime of .NET 8 would write one
// of a busy service: 20 threads sampled every ms, each time with a suspension;
// allocation ticks, contention and collections between; stacks of 10 to 50 frames of
// which 200 recur; a batch every 100 ms, threads one after the other, a sequence
// point every 10 batches; at the end the names of 4000 methods. Equal sizes give
// equal streams. 3/4 of its bytes are samples, as in recorded streams.
func Recording(size int) []byte {
	var w bytes.Buffer
	_ = WriteRecording(&w, int64(size)) // a Buffer takes everything
	return w.Bytes()
}

// WriteRecording writes the stream that Recording returns, and keeps no more of it than a batch.
func WriteRecording(to io.Writer, size int64) error {
	return (&recording{workers: 20, distinct: 200, apart: 9_000}).writeStream(to, size)
}

// Crowd returns such a stream with 300 threads and 3,000 stacks, of which each thread has different ones.
func Crowd(size int) []byte {
	var w bytes.Buffer
	_ = (&recording{workers: 300, distinct: 3000, apart: 600}).writeStream(&w, int64(size)) // a Buffer takes everything
	return w.Bytes()
}

func (g *recording) writeStream(to io.Writer, size int64) error {
	w := New(Stream{})
	g.Writer, g.random, g.sequence, g.ticks = w, rand.New(rand.NewPCG(1, 8)), map[uint64]uint32{}, 1e9
	g.writeTypes()
	for i := range g.distinct {
		stack := make([]uint64, 10+g.random.IntN(41))
		for f := range stack {
			stack[f] = g.methodAddress((int(i)*7+f*f)%methods) + 0x20
		}
		g.stacks = append(g.stacks, stack)
	}
	written := int64(0)
	for batch := 0; written+int64(w.buf.Len()) < size-methods*250; batch++ {
		if batch%10 == 0 {
			w.Stacks(1, g.stacks...)
		}
		g.writeBatch()
		if batch%10 == 9 {
			w.SequencePoint(g.ticks, 0, g.listReached()...)
		}
		n, err := to.Write(w.buf.Next(w.buf.Len() &^ 3)) // blocks are aligned to 4 bytes of the stream
		if written += int64(n); err != nil {
			return err
		}
	}
	g.writeRundown()
	_, err := to.Write(w.End())
	return err
}

const (
	methods = 4000
	sampler = 900 // the thread that takes samples
)

type recording struct {
	workers  uint64
	distinct uint64 // stacks
	apart    uint64 // ns from the sample of one thread to that of the next
	*Writer
	random   *rand.Rand
	stacks   [][]uint64
	sequence map[uint64]uint32
	ticks    uint64
	gcs      uint32
}

func (g *recording) methodAddress(i int) uint64 { return 0x7f0000000000 + uint64(i)*0x400 }

const (
	sample = 1 + iota
	suspendBegin
	suspendEnd
	restartBegin
	restartEnd
	tick
	lockStart
	lockStop
	gcStart
	gcStop
	methodEnd
	moduleEnd
)

func (g *recording) writeTypes() {
	type t = Type
	types := []t{{Provider: samplerProvider}}
	for _, id := range []int32{9, 8, 7, 3, 10, 81, 91, 1, 2} {
		types = append(types, t{Provider: runtimeProvider, ID: id, Version: map[int32]int32{9: 1, 8: 1, 7: 1, 3: 1, 10: 4, 81: 1, 91: 1, 1: 2, 2: 1}[id], Level: 4, Keywords: 1})
	}
	types = append(types, t{Provider: rundownProvider, ID: 144, Version: 1, Level: 4}, t{Provider: rundownProvider, ID: 152, Version: 2, Level: 4})
	for i := range types {
		types[i].Number = uint32(i + 1)
	}
	g.Metadata(types...)
}

// writeBatch writes 100 ms: the sampler's events, then each worker's, each in blocks of
// their own, so that a reader has to sort them.
func (g *recording) writeBatch() {
	const period = 1_000_000 // ns
	began := g.ticks
	var events []Event
	add := func(thread, about, ticks uint64, kind, stack uint32, payload ...any) {
		g.sequence[thread]++
		events = append(events, Event{Type: kind, Sequence: g.sequence[thread], Capture: thread, Thread: about, Ticks: ticks,
			Processor: uint32(thread % 2), Stack: stack, Sorted: len(events) == 0, Payload: Payload(payload...)})
	}
	for ms := range uint64(100) {
		at := began + ms*period
		add(sampler, sampler, at, suspendBegin, 0, uint32(0), uint32(0xffffffff), uint16(0))
		add(sampler, sampler, at+40_000, suspendEnd, 0, uint16(0))
		for worker := range g.workers {
			add(sampler, 1000+worker, at+41_000+worker*g.apart, sample, uint32(1+(worker*13+ms/40*17+began/1e9)%g.distinct), uint32(2))
		}
		add(sampler, sampler, at+230_000, restartBegin, 0, uint16(0))
		add(sampler, sampler, at+235_000, restartEnd, 0, uint16(0))
	}
	g.Events(events...)
	for worker := range g.workers {
		events = nil
		at := began + worker*1000
		for at < began+100*period {
			at += 5_000_000 + g.random.Uint64N(15_000_000)
			thread := 1000 + worker
			switch g.random.IntN(4) {
			case 0:
				add(thread, thread, at, lockStart, uint32(1+g.random.IntN(int(g.distinct))), byte(0), uint16(0), uint64(0x77), uint64(0x99), uint64(1000+(worker+1)%g.workers))
				add(thread, thread, at+300_000, lockStop, 0, byte(0), uint16(0), 300_000.)
			default:
				add(thread, thread, at, tick, uint32(1+g.random.IntN(int(g.distinct))), uint32(106_000), uint32(0), uint16(0), uint64(106_000), uint64(0x7f1234),
					"System.Collections.Generic.Dictionary`2[System.String,Shop.Basket]", uint32(0), g.random.Uint64(), uint64(96))
			}
		}
		if worker == 7 {
			g.gcs++
			add(1007, 1007, at, gcStart, 0, g.gcs, g.gcs%3, uint32(0), uint32(0), uint16(0), uint64(0))
			add(1007, 1007, at+2_000_000, gcStop, 0, g.gcs, g.gcs%3, uint16(0))
		}
		g.Events(events...)
	}
	g.ticks = began + 125*period
}

func (g *recording) listReached() (list []Reached) {
	for worker := range g.workers {
		list = append(list, Reached{1000 + worker, g.sequence[1000+worker]})
	}
	return append(list, Reached{sampler, g.sequence[sampler]})
}

// writeRundown writes the methods: addresses, sizes and names.
func (g *recording) writeRundown() {
	const thread, module = 1, 0x7eff00
	var events []Event
	add := func(kind uint32, payload []byte) {
		g.sequence[thread]++
		g.ticks += 20_000
		events = append(events, Event{Type: kind, Sequence: g.sequence[thread], Thread: thread, Ticks: g.ticks, Sorted: len(events) == 0, Payload: payload})
		if len(events) == 400 {
			g.Events(events...)
			events = nil
		}
	}
	add(moduleEnd, Payload(uint64(module), uint64(1), uint32(0), uint32(0), "/app/Shop.dll", "", uint16(0), make([]byte, 16), uint32(1), "/app/Shop.pdb", make([]byte, 16), uint32(0), ""))
	for i := range methods {
		add(methodEnd, Payload(uint64(i), uint64(module), g.methodAddress(i), uint32(0x400), uint32(0x06000001+i), uint32(1),
			fmt.Sprintf("Shop.Checkout.Handler%d", i/20), fmt.Sprintf("Step%dAsync", i%20),
			"instance class [System.Runtime]System.Threading.Tasks.Task (class Shop.Basket,int32)", uint16(0), uint64(0)))
	}
	g.Events(events...)
}
