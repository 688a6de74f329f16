// Command price-index finds cheap offers (gorilla/mux). Every four seconds it computes its
// index anew, on all CPUs, and goes on serving from the old one meanwhile.
package main

import (
	"encoding/json"
	"log"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
)

type entry struct {
	Article int     `json:"article"`
	Score   float64 `json:"score"`
}

var index atomic.Pointer[[]entry]

func main() {
	first := rebuild(1, 1)
	index.Store(&first)
	if os.Getenv("FAULT") != "0" {
		go keepFresh()
	}
	r := mux.NewRouter()
	r.HandleFunc("/cheap/{from:[0-9]+}", cheap)
	r.PathPrefix("/debug/pprof").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func keepFresh() {
	for now := range time.Tick(4 * time.Second) {
		var group sync.WaitGroup
		for part := range 8 * runtime.GOMAXPROCS(0) {
			group.Go(func() {
				next := rebuild(now.Second()+part, 80)
				index.Store(&next)
			})
		}
		group.Wait()
	}
}

func rebuild(seed, rounds int) []entry {
	all := make([]entry, 0, 20_000)
	for n := range 20_000 {
		score := 0.0
		for k := range 30 * rounds {
			score += math.Sqrt(float64(seed+n*k)) * 0.01
		}
		all = append(all, entry{n, score})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Score < all[j].Score })
	return all
}

func cheap(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(mux.Vars(r)["from"])
	all := *index.Load()
	json.NewEncoder(w).Encode(all[from%len(all):][:min(20, len(all)-from%len(all))])
}
