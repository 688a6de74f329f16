// Command spice-caravan gives prices of spices along a caravan's road (net/http, gorilla/mux). The table of
// all prices is kept for a second and a half; then everyone who finds it stale makes it anew, at the same
// time as everybody else. With FAULT=0 one makes it (singleflight) and the others take the old one.
package main

import (
	"fmt"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"golang.org/x/sync/singleflight"
)

const (
	towns  = 160
	spices = 40
	keep   = 1500 * time.Millisecond
)

type table struct {
	made  time.Time
	price [towns][spices]float64
}

type market struct {
	now    atomic.Pointer[table]
	flight singleflight.Group
	alone  bool
}

// prices returns the table, made anew if it is stale.
func (m *market) prices() *table {
	t := m.now.Load()
	if t != nil && time.Since(t.made) < keep {
		return t
	}
	if m.alone {
		m.flight.DoChan("table", func() (any, error) { m.now.Store(makeTable()); return nil, nil })
		if t != nil {
			return t
		}
	}
	t = makeTable()
	m.now.Store(t)
	return t
}

// makeTable lets tolls and tastes settle between all towns, which takes some 50 ms.
func makeTable() *table {
	t := new(table)
	for from := range towns {
		for spice := range spices {
			for to := range towns {
				way := math.Abs(float64(from-to)) + 1
				t.price[from][spice] += math.Exp(-way/40) * math.Log1p(way*float64(spice+1))
			}
		}
	}
	t.made = time.Now()
	return t
}

func main() {
	m := &market{alone: os.Getenv("FAULT") == "0"}
	m.now.Store(makeTable())
	r := mux.NewRouter()
	r.PathPrefix("/debug/").Handler(http.DefaultServeMux)
	r.HandleFunc("/town/{town:[0-9]+}/spice/{spice:[0-9]+}", func(w http.ResponseWriter, r *http.Request) {
		var town, spice int
		fmt.Sscan(mux.Vars(r)["town"], &town)
		fmt.Sscan(mux.Vars(r)["spice"], &spice)
		fmt.Fprintf(w, "%.2f dinars\n", m.prices().price[town%towns][spice%spices])
	})
	if err := http.ListenAndServe(os.Getenv("ADDR"), r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
