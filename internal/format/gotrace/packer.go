package gotrace

import (
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
)

// packer packs results: requests, and what the processors did. Packing is a sixth of the work of interpreting, and interpreting does not
// read packed results. So if one goroutine decodes beside the one that interprets, a third one packs. Results stay in order.
type packer struct {
	b    *evidence.Builder
	rows *rows      // being filled
	full chan *rows // nil: rows are written by the goroutine that fills them
	free chan *rows // closed when writing has ended
	err  error      // why, read once free is closed
}

// rows are what is written at one time.
type rows struct {
	spans    []laneSpan
	requests []evidence.Request
	paths    evidence.Path // of the requests
}

// laneSpan is what a processor did for a time.
type laneSpan struct {
	on       *evidence.LaneLog
	from, to int64
	lane     evidence.LaneID
	serves   evidence.LaneID
	name     evidence.NameID
	work     evidence.Work
}

// Rows are written when one of these is reached: so many that waking another goroutine costs little, and so
// few that they stay in a core's second cache, or in its first where the same goroutine goes on with them.
const (
	spansHere      = 128
	requestsHere   = 16
	spansBeside    = 4 << 10
	requestsBeside = 512
	pathsAtMost    = 128 << 10
	rowsBeside     = 3
)

func newRows(spans, requests int) *rows {
	return &rows{spans: make([]laneSpan, 0, spans), requests: make([]evidence.Request, 0, requests)}
}

// startBeside has another goroutine write from now on, until finish.
func (o *packer) startBeside() {
	o.flush()
	o.full, o.free = make(chan *rows, rowsBeside), make(chan *rows, rowsBeside)
	for range rowsBeside {
		o.free <- newRows(spansBeside, requestsBeside)
	}
	o.rows = <-o.free
	go func() {
		defer close(o.free)
		o.err = catchPanic(func() error {
			for r := range o.full {
				o.writeRows(r)
				o.free <- r
			}
			return nil
		})
	}()
}

// finish writes all pending rows and ends the goroutine that writes. Later rows are written by the caller's goroutine.
func (o *packer) finish() error {
	if o.full == nil {
		o.flush()
		return nil
	}
	o.full <- o.rows
	close(o.full)
	for range o.free { // until the other one has ended
	}
	o.full, o.rows = nil, newRows(spansHere, requestsHere)
	return o.err
}

// errNotWritten ends interpretation where the packer broke off.
var errNotWritten = errors.New("what was read cannot be kept")

// flush returns when all results so far are written.
func (o *packer) flush() {
	if o.full == nil {
		o.writeRows(o.rows)
		return
	}
	o.full <- o.rows
	var all [rowsBeside]*rows
	for i := range all {
		all[i] = o.takeRows()
	}
	o.rows = all[0]
	for _, r := range all[1:] {
		o.free <- r
	}
}

// handOver goes on with empty rows; if there are none yet, it waits for the packer.
func (o *packer) handOver() {
	if o.full == nil {
		o.writeRows(o.rows)
		return
	}
	o.full <- o.rows
	o.rows = o.takeRows()
}

func (o *packer) takeRows() *rows {
	r, ok := <-o.free
	if !ok {
		o.rows = newRows(spansHere, requestsHere)
		panic(errNotWritten)
	}
	return r
}

func (o *packer) writeRows(r *rows) {
	var s evidence.ProcessorSpan
	for i := range r.spans {
		x := &r.spans[i]
		s.From, s.To, s.Work, s.Lane, s.Name, s.Serves = x.from, x.to, x.work, x.lane, x.name, x.serves
		x.on.Add(&s)
	}
	for i := range r.requests {
		o.b.Request(r.requests[i])
	}
	clear(r.requests)
	r.spans, r.requests, r.paths = r.spans[:0], r.requests[:0], r.paths[:0]
}

// addSpan returns the next span, to be filled in.
func (o *packer) addSpan() *laneSpan {
	r := o.rows
	if len(r.spans) == cap(r.spans) {
		o.handOver()
		r = o.rows
	}
	r.spans = r.spans[:len(r.spans)+1]
	return &r.spans[len(r.spans)-1]
}

// addRequest notes a request; its path may be used again at once.
func (o *packer) addRequest(q *evidence.Request) {
	r := o.rows
	if len(r.requests) == cap(r.requests) || len(r.paths)+len(q.Path) > pathsAtMost {
		o.handOver()
		r = o.rows
	}
	at := len(r.paths)
	r.paths = append(r.paths, q.Path...)
	r.requests = append(r.requests, *q)
	r.requests[len(r.requests)-1].Path = r.paths[at:]
}
