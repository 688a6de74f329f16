package ledger

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Of so many requests at most the charges are kept, and of rows so far apart: those of a log of millions would take more memory than the log.
const (
	mostCharged   = 1 << 16
	widestCharged = 1 << 20
	chargedAtOnce = 512 // requests that one goroutine charges before it takes others
)

// charged keeps the charges of all requests, because many checks ask for them. The first one to ask has all requests charged, on all CPUs.
type charged struct {
	once  sync.Once
	first int      // row
	at    []uint32 // by row from the first on: where its charges end in parts; those of the next row follow
	parts []charge // by row, and in order of their mechanisms
}

// charge is the time of a request with one mechanism.
type charge struct {
	ns int64
	of Mechanism
}

// newCharged returns nil where there are too many requests.
func newCharged(rows []int) *charged {
	if len(rows) == 0 || len(rows) > mostCharged || slices.Max(rows)-slices.Min(rows) >= widestCharged {
		return nil
	}
	return &charged{}
}

// chargesOf returns what was kept; false where nothing was.
func (k *charged) chargesOf(l *Ledger, row int) (c Charges, ok bool) {
	if k == nil {
		return c, false
	}
	k.once.Do(func() { k.chargeAll(l) })
	i := row - k.first
	if i < 0 || i >= len(k.at) {
		return c, false
	}
	from := uint32(0)
	if i > 0 {
		from = k.at[i-1]
	}
	for _, x := range k.parts[from:k.at[i]] {
		c[x.of] = x.ns
	}
	return c, k.at[i] > from // any other row has no charges
}

// chargeAll charges all requests. The result does not depend on which CPU charges which of them.
func (k *charged) chargeAll(l *Ledger) {
	rows := slices.Sorted(slices.Values(l.Rows))
	chunks := slices.Collect(slices.Chunk(rows, chargedAtOnce))
	found := make([]chargedChunk, len(chunks))
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(len(chunks), runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(chunks)); n = next.Add(1) - 1 {
				found[n] = l.chargeChunk(chunks[n])
			}
		})
	}
	running.Wait()
	all := 0
	for i := range found {
		all += len(found[i].parts)
	}
	k.first, k.at, k.parts = rows[0], make([]uint32, rows[len(rows)-1]-rows[0]+1), make([]charge, 0, all)
	at := k.first
	for n, rows := range chunks {
		x := &found[n]
		for i, row := range rows {
			for ; at < row; at++ {
				k.at[at-k.first] = uint32(len(k.parts))
			}
			k.parts = append(k.parts, x.parts[x.startOf(i):x.ends[i]]...)
			k.at[row-k.first] = uint32(len(k.parts))
			at = row + 1
		}
		*x = chargedChunk{}
	}
}

// chargedChunk are the charges of some requests.
type chargedChunk struct {
	parts []charge
	ends  []int // of each request's
}

// startOf returns the place of the first charge of a request.
func (x *chargedChunk) startOf(i int) int {
	if i == 0 {
		return 0
	}
	return x.ends[i-1]
}

func (l *Ledger) chargeChunk(rows []int) (x chargedChunk) {
	x.ends = make([]int, len(rows))
	x.parts = make([]charge, 0, 4*len(rows))
	for i, row := range rows {
		c := l.chargeRequest(row)
		for m, ns := range c {
			if ns != 0 {
				x.parts = append(x.parts, charge{ns, Mechanism(m)})
			}
		}
		x.ends[i] = len(x.parts)
	}
	return x
}
