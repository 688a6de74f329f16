// Command fx-rates converts currencies (gorilla/mux). A feed brings new rates three times a
// second, and all cross rates are computed anew.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/mux"
)

const currencies = 900 // with funds and metals

type table struct {
	sync.RWMutex
	cross [][]float64
}

func main() {
	t := &table{cross: crossed(1)}
	go t.feed()
	r := mux.NewRouter()
	r.HandleFunc("/convert/{from:[0-9]+}/{to:[0-9]+}", t.convert).Methods("GET")
	r.PathPrefix("/debug/").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (t *table) feed() {
	for tick := range time.Tick(330 * time.Millisecond) {
		if os.Getenv("FAULT") == "0" {
			next := crossed(float64(tick.Second()))
			t.Lock()
			t.cross = next
			t.Unlock()
			continue
		}
		t.publish(float64(tick.Second()))
	}
}

func (t *table) publish(seed float64) {
	t.Lock()
	defer t.Unlock()
	t.cross = crossed(seed)
}

func crossed(seed float64) [][]float64 {
	out := make([][]float64, currencies)
	for i := range out {
		out[i] = make([]float64, currencies)
		for j := range out[i] {
			v := seed
			for k := range 8 {
				v += math.Log1p(float64(i*k+1)) / math.Sqrt(float64(j+k+1))
			}
			out[i][j] = v
		}
	}
	return out
}

func (t *table) rate(from, to int) float64 {
	t.RLock()
	defer t.RUnlock()
	return t.cross[from%currencies][to%currencies]
}

func (t *table) convert(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(mux.Vars(r)["from"])
	to, _ := strconv.Atoi(mux.Vars(r)["to"])
	json.NewEncoder(w).Encode(map[string]string{"rate": fmt.Sprintf("%.5f", t.rate(from, to))})
}
