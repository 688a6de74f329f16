// Command seat-map sells seats of a theatre (httprouter): it looks for the best free block
// of seats and takes it.
package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
)

const rows, columns = 350, 160

type house struct {
	mu   sync.Mutex
	free [rows][columns]bool
}

var (
	houses [8]house
	one    = os.Getenv("FAULT") != "0" // all performances share one plan
)

func main() {
	for h := range houses {
		for r := range rows {
			for c := range columns {
				houses[h].free[r][c] = true
			}
		}
	}
	router := httprouter.New()
	router.GET("/best/:show/:seats", best)
	router.GET("/shows", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		fmt.Fprintln(w, "Hamlet, Lear, Othello")
	})
	router.Handler("GET", "/debug/pprof/*item", http.HandlerFunc(pprof.Index))
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/", router)
	server := http.Server{Addr: os.Getenv("ADDR"), Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func best(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
	show, _ := strconv.Atoi(p.ByName("show"))
	seats, _ := strconv.Atoi(p.ByName("seats"))
	h := &houses[show%len(houses)]
	if one {
		h = &houses[0]
	}
	r, c, worth := h.reserve(max(seats, 1))
	fmt.Fprintf(w, "row %d seat %d worth %.2f\n", r, c, worth)
}

// reserve finds the block nearest to the middle of the stalls.
func (h *house) reserve(seats int) (row, column int, worth float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	worth = -1
	for r := range rows {
		for c := range columns - seats {
			w := 0.0
			for s := range seats {
				if !h.free[r][c+s] {
					w = -1
					break
				}
				dr, dc := float64(r-rows/3), float64(c+s-columns/2)
				w += 1000 / (1 + dr*dr + dc*dc/2)
				for k := range 12 { // what neighbours in front would see of it
					w -= 0.001 * float64((r+k)%7)
				}
			}
			if w > worth {
				row, column, worth = r, c, w
			}
		}
	}
	return row, column, worth
}
