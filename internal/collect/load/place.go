package load

import "sync/atomic"

// place is what carries one request at a time: a connection of HTTP/1.1, or one of
// the streams a connection of HTTP/2 may have at once.
type place struct {
	line line

	// Guarded by engine.mu.
	at      int // position in engine.places, < 0 lost
	busy    bool
	current pending
	served  int64
	late    bool  // given up, because its time is over
	failure error // of writing

	sent   atomic.Int64 // ns; set again by a loop, which sends later than it is assigned
	stream *stream      // guarded by session.mu
}

// line is a connection. Its methods but send and serve are called with engine.mu held.
type line interface {
	lineBase() *base

	// sendRequest writes request n, which the place was assigned.
	sendRequest(at *place, n uint64)

	// readAnswers reads answers until the connection ends.
	readAnswers()

	// giveUp says whether the place can take another request although its request still runs. If not, the connection ends, or giveUp is called
	// again.
	giveUp(at *place) bool

	// hasBegun says whether any of the answer came. The reading goroutine calls it.
	hasBegun(at *place) bool

	// Close is called by the reading goroutine; others hang up.
	Close() error
	hangUp()
}

// base is the common part of connections. engine.mu guards all of it except places.
type base struct {
	places  []*place
	left    int  // places that are not lost
	open    bool // it counts as a connection
	retired bool // it is given nothing more
}

// pending is a request that is to be sent.
type pending struct {
	n        uint64
	intended int64
	lag      int64
	tries    int // on kept connections that turned out to be closed
}
