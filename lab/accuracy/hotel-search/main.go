// Command hotel-search finds hotels in an index in memory (chi).
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sort"
	"strings"

	"github.com/go-chi/chi/v5"
)

type hotel struct {
	Name  string
	City  *string
	Stars int
	Rooms []*room
}

type room struct {
	Beds  int
	Cents int
	Free  map[int]bool
}

var byCity = map[string][]*hotel{}

func main() {
	for n := range 60_000 {
		city := fmt.Sprint("city-", n%400)
		h := &hotel{Name: fmt.Sprint("Hotel ", n), City: &city, Stars: n % 6}
		for i := range 5 {
			h.Rooms = append(h.Rooms, &room{Beds: 1 + i, Cents: 4000 + n%9000, Free: map[int]bool{i: true, i + 7: true}})
		}
		byCity[city] = append(byCity[city], h)
	}
	r := chi.NewMux()
	r.Mount("/debug", http.DefaultServeMux)
	r.Route("/v2", func(r chi.Router) {
		r.Get("/search/{city}", search)
	})
	log.Fatal((&http.Server{Addr: os.Getenv("ADDR"), Handler: r}).ListenAndServe())
}

type offer struct {
	Hotel string  `json:"hotel"`
	Price float64 `json:"price"`
	Stars string  `json:"stars"`
}

func search(w http.ResponseWriter, r *http.Request) {
	var offers []*offer
	for _, h := range byCity[chi.URLParam(r, "city")] {
		for _, room := range h.Rooms {
			if room.Beds >= 2 {
				offers = append(offers, &offer{Hotel: h.Name + " " + *h.City, Price: float64(room.Cents) / 100, Stars: strings.Repeat("*", h.Stars)})
			}
		}
	}
	sort.Slice(offers, func(i, j int) bool { return offers[i].Price < offers[j].Price })
	json.NewEncoder(w).Encode(offers[:min(len(offers), 60)])
}
