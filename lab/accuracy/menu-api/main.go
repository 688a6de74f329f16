// Command menu-api says what a canteen offers (chi).
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type dish struct {
	Name  string `json:"name"`
	Kcal  uint32 `json:"kcal"`
	Vegan bool   `json:"vegan"`
}

func main() {
	r := chi.NewRouter()
	r.Use(middleware.Recoverer, middleware.Timeout(10*time.Second))
	r.Get("/menu/{day}", menu)
	r.Mount("/debug/pprof/", http.HandlerFunc(pprof.Index))
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func menu(w http.ResponseWriter, r *http.Request) {
	var dishes []dish
	for n := range 8000 {
		h := fnv.New32()
		fmt.Fprint(h, chi.URLParam(r, "day"), n)
		dishes = append(dishes, dish{fmt.Sprint("dish ", n), h.Sum32() % 1200, n%3 == 0})
	}
	json.NewEncoder(w).Encode(dishes)
}
