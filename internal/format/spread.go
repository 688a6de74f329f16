package format

import (
	"bytes"
	"runtime"
	"sync"
)

// Spread calls take for each line of the artifact, in order, with the result of look for it, until take returns
// false or the artifact ends; it returns what [Artifact.Lines] does. If CPUs are free, several workers look at
// later lines in parallel: each gets a look of its own from worker, which does not know earlier lines.
// A seen is reused for other lines; its references to a line's text are valid until take returns.
func Spread[T any](a *Artifact, worker func() (look func(Line, *T)), take func(Line, *T) bool) error {
	if workers := runtime.GOMAXPROCS(0); workers > 1 {
		return spreadLines(a, workers, worker, take)
	}
	look, seen := worker(), new(T)
	return a.Lines(func(l Line) bool {
		look(l, seen)
		return take(l, seen)
	})
}

// A batch is that many lines or bytes, about a millisecond of a worker's time. The first ones are small, as most files are.
const (
	firstBytes = 16 << 10
	batchBytes = 256 << 10
	batchLines = 4096
)

// batch is lines that one worker looks at.
type batch[T any] struct {
	text  []byte // what the lines are of
	lines []Line
	first int64 // number of the first line, of text that is yet to be split; else 0
	long  bool  // that text is one line, and cut
	seen  []T
	done  chan any // what a worker panicked with, nil
}

func (b *batch[T]) addLine(l Line) bool {
	if len(b.lines) > 0 && (len(b.lines) == batchLines || len(b.text)+len(l.Text)+len(l.From) > cap(b.text)) {
		return false
	}
	keep := func(s []byte) []byte {
		if s == nil {
			return nil
		}
		from := len(b.text)
		b.text = append(b.text, s...)
		return b.text[from:len(b.text):len(b.text)]
	}
	l.Text, l.From = keep(l.Text), keep(l.From)
	b.lines = append(b.lines, l)
	return true
}

// splitLines splits the text into lines.
func (b *batch[T]) splitLines() {
	for rest, number := b.text, b.first; len(rest) > 0; number++ {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		b.lines = append(b.lines, Line{Text: withoutEnd(rest[:end:end]), Number: number, Long: b.long})
		rest = rest[end:]
	}
}

func (b *batch[T]) examineLines(look func(Line, *T)) {
	defer func() { b.done <- recover() }()
	if b.first > 0 {
		b.splitLines()
	}
	if n := len(b.lines); n > len(b.seen) {
		b.seen = append(b.seen, make([]T, n-len(b.seen))...)
	}
	for i := range b.lines {
		look(b.lines[i], &b.seen[i])
	}
}

// spreadLines reads an artifact in parallel: one goroutine reads, workers split text into lines
// and examine them, and the caller takes them in order. The reading goroutine itself splits lines
// in an envelope, since one may go on in others.
func spreadLines[T any](a *Artifact, workers int, worker func() func(Line, *T), take func(Line, *T) bool) error {
	var ended error // of the one that splits, once order is closed
	ahead := 2 * workers
	order, work := make(chan *batch[T], ahead), make(chan *batch[T], ahead)
	spare := make(chan *batch[T], ahead+workers+2)
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer running.Wait()
	defer close(stop)

	running.Go(func() {
		defer close(order)
		defer close(work)
		size := firstBytes
		fresh := func() *batch[T] {
			select {
			case b := <-spare:
				if cap(b.text) >= size {
					b.text, b.lines, b.first, b.long = b.text[:0], b.lines[:0], 0, false
					return b
				}
			default:
			}
			return &batch[T]{text: make([]byte, 0, size), done: make(chan any, 1)}
		}
		send := func(b *batch[T]) bool {
			select {
			case order <- b: // there is as much room for work
				work <- b
				size = batchBytes
				return true
			case <-stop:
				return false
			}
		}
		if _, ended = a.readHead(); ended == nil && a.envelope == nil && a.lines == nil {
			ended = a.eachPiece(func(p *pieces) bool {
				b := fresh()
				b.text, b.first, b.long = p.next(b.text)
				return len(b.text) == 0 || send(b)
			})
			return
		}
		b := fresh()
		ended = a.Lines(func(l Line) bool {
			if b.addLine(l) {
				return true
			}
			if !send(b) {
				return false
			}
			b = fresh()
			return b.addLine(l)
		})
		if len(b.lines) > 0 {
			send(b)
		}
	})
	for range workers {
		running.Go(func() {
			var look func(Line, *T)
			for b := range work {
				if look == nil {
					look = worker()
				}
				b.examineLines(look)
			}
		})
	}
	for b := range order {
		if panicked := <-b.done; panicked != nil {
			panic(panicked)
		}
		for i := range b.lines {
			if !take(b.lines[i], &b.seen[i]) {
				return nil
			}
		}
		select {
		case spare <- b:
		default:
		}
	}
	return ended
}
