// Command bee-hives keeps what hives weigh (gorilla/mux), and surveys them by region.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sort"
	"strconv"
	"sync"

	"github.com/gorilla/mux"
)

type apiary struct {
	mu    sync.RWMutex
	hives map[int]hive
}

type hive struct {
	region string
	kilos  float64
}

func main() {
	a := &apiary{hives: map[int]hive{}}
	for n := range 300_000 {
		a.hives[n] = hive{fmt.Sprintf("region %02d", n%40), float64(20 + n%37)}
	}
	r := mux.NewRouter()
	r.HandleFunc("/hive/{id:[0-9]+}", a.weight).Methods("GET")
	r.HandleFunc("/hive/{id:[0-9]+}/{kilos:[0-9]+}", a.weigh).Methods("PUT")
	r.HandleFunc("/survey", a.survey)
	r.PathPrefix("/debug/pprof/").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (a *apiary) weight(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(mux.Vars(r)["id"])
	a.mu.RLock()
	h, ok := a.hives[id]
	a.mu.RUnlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	fmt.Fprintf(w, "%s: %.1f kg\n", h.region, h.kilos)
}

func (a *apiary) weigh(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(mux.Vars(r)["id"])
	kilos, _ := strconv.ParseFloat(mux.Vars(r)["kilos"], 64)
	a.mu.Lock()
	h := a.hives[id]
	h.kilos = kilos
	a.hives[id] = h
	a.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (a *apiary) survey(w http.ResponseWriter, _ *http.Request) {
	kilos := map[string]float64{}
	if os.Getenv("FAULT") == "0" {
		for from := 0; from < 300_000; from += 1000 {
			a.mu.RLock()
			for id := from; id < from+1000; id++ {
				kilos[a.hives[id].region] += a.hives[id].kilos
			}
			a.mu.RUnlock()
		}
	} else {
		a.mu.RLock()
		for id := range len(a.hives) {
			kilos[a.hives[id].region] += a.hives[id].kilos
		}
		a.mu.RUnlock()
	}
	var regions []string
	for name := range kilos {
		regions = append(regions, name)
	}
	sort.Strings(regions)
	for _, name := range regions {
		fmt.Fprintf(w, "%s %.0f\n", name, kilos[name])
	}
}
