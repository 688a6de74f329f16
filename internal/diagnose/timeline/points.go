package timeline

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// addPoints lays out the points of every source. A request whose states are shown keeps a point of
// its own, so that it can be chosen.
func (l *layout) addPoints() {
	if len(l.sources) == 0 {
		return
	}
	if l.ledger != nil {
		if !l.ledger.Several { // else no line parts the slow from the others
			l.t.Threshold = l.ledger.Threshold
		}
	}
	room := splitPoints(l.sources, MaxPoints-len(l.shown.detail))
	r := &l.b.Requests
	charts := make([]*cells, len(l.sources))
	rows := make([][]int32, len(l.sources))
	crowded := 0
	for i := range l.sources {
		if s := &l.sources[i]; s.placed && s.count > room[i] {
			crowded++
		}
	}
	for i := range l.sources {
		if s := &l.sources[i]; s.placed && s.count > room[i] {
			charts[i] = newCells(s, room[i], mostCells/crowded)
		}
	}
	for i := range r.Len() {
		if r.Subject.At(i) != l.subject || !r.Timed(i) {
			continue
		}
		a, ok := r.Origin.At(i).Artifact()
		if !ok || l.of[a] < 0 || l.isDuplicateOfHead(a) {
			continue
		}
		at := l.of[a]
		if c := charts[at]; c == nil {
			if l.sources[at].placed {
				rows[at] = append(rows[at], int32(i))
			}
			continue
		}
		if l.shown.detail[int32(i)] != 0 {
			rows[at] = append(rows[at], int32(i))
			continue
		}
		lat := r.Latency(i)
		charts[at].addRequest(r, int32(i), r.End.At(i)-lat, lat, l.flagsOf(i, lat))
	}
	for i := range l.sources {
		if l.sources[i].placed {
			if l.ledger != nil && l.of[l.ledger.Source] == i {
				l.t.Charged = len(l.t.Requests)
			}
			l.t.Requests = append(l.t.Requests, l.buildPoints(&l.sources[i], rows[i], charts[i]))
		}
	}
}

// splitPoints divides the points among sources; what one does not need goes to the others.
func splitPoints(sources []source, room int) []int {
	order := make([]int, len(sources))
	for i := range order {
		order[i] = i
	}
	sorting.Short(order, func(a, b int) int { return cmp.Compare(sources[a].count, sources[b].count) })
	out := make([]int, len(sources))
	for n, i := range order {
		out[i] = min(sources[i].count, room/(len(order)-n))
		room -= out[i]
	}
	return out
}

// flagsOf returns the flags of one request.
func (l *layout) flagsOf(i int, latency int64) (f Flags) {
	if l.isSlow(i, latency) {
		f |= Slow
	}
	switch l.b.Requests.Outcome.At(i) {
	case evidence.Failed, evidence.TimedOut:
		f |= Failed
	case evidence.Unfinished:
		f |= Unfinished
	}
	return f
}

// isSlow follows the ledger's decision for the requests it charges, also for those it counts
// apart; others are slow above its threshold.
func (l *layout) isSlow(i int, latency int64) bool {
	if l.ledger == nil {
		return false
	}
	if a, ok := l.b.Requests.Origin.At(i).Artifact(); a == l.ledger.Source || ok && int(a) < len(l.ofRows) && l.ofRows[a] {
		return l.slow.Has(i)
	}
	return l.ledger.Threshold > 0 && latency > l.ledger.Threshold
}

// cells sums up requests by their beginning and latency. A cell's height is at most 1/32 of its latency. When too many are in use, they become twice
// as wide; their slowest request is never lost.
type cells struct {
	from, width int64
	lowest      int // the level of the least latency
	levels      int
	columns     int
	slowest     []int32 // request + 1, 0: empty
	number      []uint32
	flags       []Flags
	used, room  int
}

// mostCells is the initial number of cells for all sources: some 40 MB.
const mostCells = 1 << 22

func newCells(s *source, room, budget int) *cells {
	c := &cells{from: s.from, lowest: latencyLevel(s.low), room: max(room, 1)}
	c.levels = latencyLevel(s.high) - c.lowest + 1
	c.columns = max(1, min(budget/c.levels, 1<<14))
	c.width = max(1, (s.to-s.from)/int64(c.columns)+1)
	c.slowest = make([]int32, c.columns*c.levels)
	c.number = make([]uint32, len(c.slowest))
	c.flags = make([]Flags, len(c.slowest))
	return c
}

// latencyLevel returns a latency on a logarithmic scale: 32 steps to each power of two.
func latencyLevel(ns int64) int {
	v := uint64(max(ns, 0))
	if v < 64 {
		return int(v)
	}
	e := bits.Len64(v) - 6 // v>>e is 32…63
	return 32*e + int(v>>e)
}

func (c *cells) addRequest(r *evidence.Requests, row int32, at, latency int64, f Flags) {
	k := int((at-c.from)/c.width)*c.levels + latencyLevel(latency) - c.lowest
	switch old := c.slowest[k]; {
	case old == 0:
		c.used++
		c.slowest[k] = row + 1
	case latency > r.Latency(int(old-1)):
		c.slowest[k] = row + 1
	}
	c.number[k]++
	c.flags[k] |= f
}

// widenToFit makes cells wider until no more than the room are in use.
func (c *cells) widenToFit(r *evidence.Requests) {
	for c.used > c.room && c.columns > 1 {
		c.used = 0
		half := (c.columns + 1) / 2
		for x := range half {
			for y := range c.levels {
				to, a, b := x*c.levels+y, 2*x*c.levels+y, (2*x+1)*c.levels+y
				slowest, number, flags := c.slowest[a], c.number[a], c.flags[a]
				if 2*x+1 < c.columns && c.number[b] > 0 {
					if number == 0 || r.Latency(int(c.slowest[b]-1)) > r.Latency(int(slowest-1)) {
						slowest = c.slowest[b]
					}
					number += c.number[b]
					flags |= c.flags[b]
				}
				c.slowest[to], c.number[to], c.flags[to] = slowest, number, flags
				if number > 0 {
					c.used++
				}
			}
		}
		c.columns, c.width = half, c.width*2
	}
}

// buildPoints turns rows, and cells where there are any, into points.
func (l *layout) buildPoints(s *source, rows []int32, c *cells) Points {
	r := &l.b.Requests
	p := Points{Source: s.name, Count: s.count}
	type point struct {
		at     int64
		row    int32
		number uint32
		flags  Flags
	}
	all := make([]point, 0, len(rows))
	for _, row := range rows {
		lat := r.Latency(int(row))
		all = append(all, point{r.End.At(int(row)) - lat, row, 1, l.flagsOf(int(row), lat)})
	}
	if c != nil {
		c.widenToFit(r)
		p.Cell = c.width
		all = slices.Grow(all, c.used)
		for k, row := range c.slowest[:c.columns*c.levels] {
			if c.number[k] > 0 {
				row--
				all = append(all, point{r.End.At(int(row)) - r.Latency(int(row)), row, c.number[k], c.flags[k]})
			}
		}
		p.Number = make([]uint32, len(all))
	}
	slices.SortFunc(all, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.row, b.row)) })
	n := len(all)
	p.At, p.Latency, p.Route, p.Flags, p.Detail = make([]int64, n), make([]int64, n), make([]uint16, n), make([]Flags, n), make([]int32, n)
	used := make(map[evidence.NameID]int)
	for _, x := range all {
		used[r.Route.At(int(x.row))]++
	}
	routes := l.indexRoutes(&p, used)
	for i, x := range all {
		p.At[i], p.Latency[i], p.Flags[i], p.Detail[i] = x.at, r.Latency(int(x.row)), x.flags, l.shown.detail[x.row]
		if p.Number != nil {
			p.Number[i] = x.number
		}
		if r.Path(int(x.row)).Followed() {
			p.Flags[i] |= Traced
		}
		p.Route[i] = routes[r.Route.At(int(x.row))]
	}
	return p
}

// mostRoutes is how many routes points distinguish.
const mostRoutes = 255

// indexRoutes gives routes their places in the list of the points: where there are too many, those
// that lost most and those with most points get one of their own.
func (l *layout) indexRoutes(p *Points, used map[evidence.NameID]int) map[evidence.NameID]uint16 {
	lost := make(map[evidence.NameID]int64)
	for _, x := range l.t.Routes {
		lost[l.b.Names.Lookup(x.Name)] = x.Time
	}
	order := slices.SortedFunc(maps.Keys(used), func(a, b evidence.NameID) int {
		return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(used[b], used[a]), cmp.Compare(l.b.Names.Text(a), l.b.Names.Text(b)))
	})
	out := make(map[evidence.NameID]uint16, len(order))
	for i, id := range order {
		if i >= mostRoutes-1 && len(order) > mostRoutes {
			out[id] = mostRoutes - 1
			continue
		}
		out[id] = uint16(i)
		p.Routes = append(p.Routes, l.b.Names.Text(id))
	}
	if len(order) > mostRoutes {
		l.noteOmitted("the names of %d of %d routes of %s in the timeline: those that lost most, and most had, are named", len(order)-mostRoutes+1, len(order), p.Source)
		p.Routes = append(p.Routes, otherRoutes)
	}
	return out
}

const otherRoutes = "another route"
