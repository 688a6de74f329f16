// Package perfring reads the buffers into which the kernel writes the events of perf_event_open(2).
package perfring

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ring is a buffer of perf_event_open(2): a page with its description, then data of a power of two bytes.
type Ring struct {
	FD   int
	mem  []byte
	data []byte
	room []byte // for an event that wraps around
}

// Open maps the buffer of a descriptor, with a power of two pages of data. The ring closes the descriptor.
func Open(fd, pages int) (*Ring, error) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (pages+1)*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &Ring{FD: fd, mem: mem, data: mem[page:]}, nil
}

// Close unmaps the buffer and closes its descriptor.
func (r *Ring) Close() {
	_ = unix.Munmap(r.mem)
	_ = unix.Close(r.FD)
}

// EachEvent calls do for every event, with its type and the data after its header, which is valid until do returns.
func (r *Ring) EachEvent(do func(typ uint32, body []byte)) {
	about := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.mem[0]))
	head, tail := atomic.LoadUint64(&about.Data_head), about.Data_tail
	size := uint64(len(r.data))
	for tail < head {
		h := r.bytesAt(tail, 8)
		typ, n := binary.NativeEndian.Uint32(h), uint64(binary.NativeEndian.Uint16(h[6:]))
		if n < 8 || n > head-tail || n > size {
			tail = head // the data is not what the kernel writes
			break
		}
		do(typ, r.bytesAt(tail, n)[8:])
		tail += n
	}
	atomic.StoreUint64(&about.Data_tail, tail)
}

func (r *Ring) bytesAt(pos, n uint64) []byte {
	size := uint64(len(r.data))
	from := pos % size
	if from+n <= size {
		return r.data[from : from+n]
	}
	r.room = append(append(r.room[:0], r.data[from:]...), r.data[:from+n-size]...)
	return r.room
}
