// Command almanac-pages serves the pages of an almanac, which is compiled from observations every now and then.
package main

import (
	"cmp"
	"fmt"
	"log"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	days         = 366
	observations = 60_000
	freshFor     = 1500 * time.Millisecond
)

type observation struct {
	day    int
	height float64
}

// edition is an almanac as it was compiled at some time. It never changes.
type edition struct {
	pages    [days]string
	compiled time.Time
}

// shelf has the newest edition. Readers need no lock.
type shelf struct {
	newest atomic.Pointer[edition]
	seen   []observation
}

// current returns an edition that is fresh, and compiles one if there is none.
func (s *shelf) current() *edition {
	e := s.newest.Load()
	if time.Since(e.compiled) < freshFor {
		return e
	}
	e = compileEdition(s.seen)
	s.newest.Store(e)
	return e
}

// keepFresh compiles the next edition before the newest is out of date.
func (s *shelf) keepFresh() {
	for range time.Tick(freshFor / 2) {
		s.newest.Store(compileEdition(s.seen))
	}
}

// compileEdition sorts what was observed by day and height, and describes each day.
func compileEdition(seen []observation) *edition {
	sorted := slices.Clone(seen)
	slices.SortFunc(sorted, func(a, b observation) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(math.Log(a.height), math.Log(b.height)))
	})
	e := &edition{}
	for len(sorted) > 0 {
		day, n := sorted[0].day, 0
		for n < len(sorted) && sorted[n].day == day {
			n++
		}
		e.pages[day] = fmt.Sprintf("day %d: %.2f m to %.2f m, mostly %.2f m\n", day, sorted[0].height, sorted[n-1].height, sorted[n/2].height)
		sorted = sorted[n:]
	}
	e.compiled = time.Now()
	return e
}

func main() {
	s := &shelf{}
	for i := range observations {
		s.seen = append(s.seen, observation{day: i * 7919 % days, height: 2 + math.Sin(float64(i)*1.618)})
	}
	s.newest.Store(compileEdition(s.seen))
	if os.Getenv("FAULT") == "0" {
		go s.keepFresh()
	}
	http.HandleFunc("GET /page/{day}", func(w http.ResponseWriter, r *http.Request) {
		day, err := strconv.Atoi(r.PathValue("day"))
		if err != nil || day < 0 || day >= days {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, s.current().pages[day])
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
