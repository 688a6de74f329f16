package eventpipe

import "sync"

// memory is the buffers of blocks and the chunks of waiting events that a Reader fills. A capture of a .NET process has ten streams and more: a Reader leaves its
// memory to the next one. What none takes before the second GC cycle is freed.
type memory struct {
	free   map[int][][]byte // buffers of blocks, by their size
	freed  int              // bytes of them
	chunks *chunk           // of order
	spare  int              // how many chunks
}

var memories sync.Pool

// maxLeft is how many bytes of buffers, and how many of chunks, a Reader leaves to the next one.
const maxLeft = 8 << 20

// takeMemory gives a new Reader the memory of one that has ended.
func (r *Reader) takeMemory() {
	m, ok := memories.Get().(*memory)
	if !ok {
		r.free = make(map[int][][]byte)
		return
	}
	r.free, r.freed = m.free, m.freed
	r.order.chunks, r.order.spare = m.chunks, m.spare
}

// leaveMemory is called once the last event was delivered.
func (r *Reader) leaveMemory() {
	if r.free == nil {
		return
	}
	if r.freed <= maxLeft && r.order.spare*chunkBytes <= maxLeft {
		memories.Put(&memory{free: r.free, freed: r.freed, chunks: r.order.chunks, spare: r.order.spare})
	}
	r.free, r.freed, r.slots, r.lately, r.last, r.order = nil, 0, nil, nil, nil, order{}
}
