package exchanges

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Signs of a pool of worker threads: one thread reads all requests of a port, others serve and answer them, each of them one after the other. A
// request that such a thread answers was not begun before the thread had answered the one before.
const (
	workerAnswers = 20 // requests that a worker answers, at least
	mostWorkers   = 256
	byWorkers     = .95 // part of a port's answers that are by workers, at least
	allBusy       = .9  // part of the requests that wait for a worker during which there are as many others as workers
)

// findWorkers finds, for ports that one thread reads and others answer, until when each request waited for one of these.
func (p *parser) findWorkers() {
	ports := make(map[int64][]int)
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 && x.goroutines[0] == 0 && !x.isStreamed() {
			ports[x.port] = append(ports[x.port], i)
		}
	}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		p.findWorkersOf(port, ports[port])
	}
}

// findWorkersOf is [parser.findWorkers] for the requests of a port.
func (p *parser) findWorkersOf(port int64, rows []int) {
	readers, answers := make(map[int64]bool), make(map[int64]int)
	for _, i := range rows {
		readers[p.requests[i].thread] = true
		answers[p.requests[i].other]++
	}
	workers, answered := 0, 0
	for thread, n := range answers {
		if n >= workerAnswers && !readers[thread] {
			workers++
			answered += n
		}
	}
	if len(readers) != 1 || workers < 2 || workers > mostWorkers || float64(answered) < byWorkers*float64(len(rows)) {
		return
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(p.requests[a].first, p.requests[b].first) })
	type served struct{ alone, gaps []int64 }
	routes := make(map[evidence.NameID]*served)
	until := make(map[int]int64)
	last := make(map[int64]int64) // by worker: when it answered last
	for _, i := range rows {
		x := &p.requests[i]
		of := routes[x.what]
		if of == nil {
			of = &served{}
			routes[x.what] = of
		}
		before := last[x.other]
		last[x.other] = x.first
		if before > x.begun {
			until[i] = before
			of.gaps = append(of.gaps, x.first-before)
		} else if before > 0 {
			of.alone = append(of.alone, x.first-x.begun)
		}
	}
	alike, compared := 0, 0
	for _, of := range routes {
		if len(of.alone) < turnAlone || len(of.gaps) < turnAlone {
			continue
		}
		compared += len(of.gaps)
		if isAsLong(of.gaps, of.alone) {
			alike += len(of.gaps)
		}
	}
	if compared < turnBehind || 2*alike < compared || !p.areAllBusy(rows, until, workers) {
		return
	}
	w := evidence.Wait{Kind: evidence.PoolThread, Of: fmt.Sprintf("the %d that answer at %s", workers, p.listenerText(port)), Places: workers}
	name := p.b.TellWait(w.String(), w)
	for i, to := range until {
		p.requests[i].turn, p.requests[i].worker = to, name
	}
}

// isAsLong reports whether a server needs about as long from one answer to the next (gaps) as for a request that does not wait (alone).
func isAsLong(gaps, alone []int64) bool {
	served, gap := stats.QuantileOf(alone, .5), stats.QuantileOf(gaps, .5)
	return float64(stats.QuantileOf(gaps, .1)) >= turnEven*float64(stats.QuantileOf(alone, .1)) &&
		float64(gap) <= turnLonger*float64(served) && float64(gap) >= turnShorter*float64(served)
}

// areAllBusy reports whether there are at least as many other requests as workers when a request comes that waits for one.
func (p *parser) areAllBusy(rows []int, until map[int]int64, workers int) bool {
	begun, ended := make([]int64, 0, len(rows)), make([]int64, 0, len(rows))
	for _, i := range rows {
		begun, ended = append(begun, p.requests[i].begun), append(ended, p.requests[i].first)
	}
	slices.Sort(begun)
	slices.Sort(ended)
	full := 0
	for i := range until {
		at := p.requests[i].begun
		came, _ := slices.BinarySearch(begun, at)
		gone, _ := slices.BinarySearch(ended, at+1)
		if came-gone >= workers {
			full++
		}
	}
	return float64(full) >= allBusy*float64(len(until))
}
