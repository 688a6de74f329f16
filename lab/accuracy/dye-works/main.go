// Command dye-works mixes dyes (chi). A recipe is looked up in no time; now and then a dyer has a shade
// matched against the whole chart, on all CPUs, and what that uses of the container's CPU time is missing
// to whoever comes in the next tenths of a second.
package main

import (
	"encoding/json"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"

	"github.com/go-chi/chi/v5"
)

type shade struct{ L, A, B float64 }

var chart = func() (all []shade) {
	for i := range 40000 {
		f := float64(i)
		all = append(all, shade{50 + 50*math.Sin(f), 80 * math.Cos(f*1.7), 80 * math.Sin(f*2.3)})
	}
	return
}()

func (s shade) distance(o shade) float64 {
	dl, da, db := s.L-o.L, s.A-o.A, s.B-o.B
	return math.Cbrt(math.Pow(math.Abs(dl), 3) + math.Pow(math.Abs(da), 3) + math.Pow(math.Abs(db), 3))
}

func match(w http.ResponseWriter, r *http.Request) {
	want := chart[number(r)%len(chart)]
	want.L += .3
	const parts = 4
	var nearest [parts]float64
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() {
			least := math.Inf(1)
			for _, s := range chart[p*len(chart)/parts : (p+1)*len(chart)/parts] {
				for lamp := range 12 { // under each lamp
					s.L += float64(lamp) * .01
					least = min(least, s.distance(want))
				}
			}
			nearest[p] = least
		})
	}
	wg.Wait()
	json.NewEncoder(w).Encode(nearest)
}

func recipe(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(chart[number(r)%len(chart)])
}

func number(r *http.Request) int {
	n, _ := strconv.Atoi(chi.URLParam(r, "n"))
	return n
}

func main() {
	r := chi.NewRouter()
	r.Get("/recipe/{n}", recipe)
	r.Get("/match/{n}", match)
	r.Mount("/debug", http.DefaultServeMux)
	if err := http.ListenAndServe(os.Getenv("ADDR"), r); err != nil {
		panic(err)
	}
}
