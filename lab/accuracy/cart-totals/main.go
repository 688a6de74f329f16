// Command cart-totals keeps the shopping carts of a shop in memory and adds them up.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type item struct {
	SKU   string
	Name  *string
	Cents int
	Count int
	Tags  map[string]string
}

type cart struct {
	Owner string
	Items []*item
}

type store struct {
	mu    sync.RWMutex
	carts map[int]*cart
}

func main() {
	s := &store{carts: map[int]*cart{}}
	for id := range 30_000 {
		c := &cart{Owner: fmt.Sprint("customer-", id)}
		for n := range 6 {
			name := fmt.Sprintf("article %d of %d", n, id)
			c.Items = append(c.Items, &item{SKU: strconv.Itoa(id*10 + n), Name: &name, Cents: n * 199, Count: 1 + n%3,
				Tags: map[string]string{"color": "red", "size": strconv.Itoa(n)}})
		}
		s.carts[id] = c
	}
	http.HandleFunc("GET /cart/{id}", s.show)
	http.HandleFunc("GET /total/{id}", s.total)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), logged(recovered(http.DefaultServeMux))))
}

func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		next.ServeHTTP(w, r)
		if d := time.Since(begin); d > time.Second {
			log.Println("slow:", r.URL.Path, d)
		}
	})
}

func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "sorry", http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func (s *store) find(r *http.Request) *cart {
	id, _ := strconv.Atoi(r.PathValue("id"))
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.carts[id%30_000]
}

func (s *store) show(w http.ResponseWriter, r *http.Request) {
	c := s.find(r)
	var lines []string
	for _, it := range c.Items {
		for n := range 120 {
			lines = append(lines, fmt.Sprintf("%s × %d: %d.%02d", *it.Name, it.Count, it.Cents/100, (it.Cents+n)%100))
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"owner": c.Owner, "text": strings.Join(lines, "\n")})
}

func (s *store) total(w http.ResponseWriter, r *http.Request) {
	c := s.find(r)
	prices := make([]map[string]int, 0, 400)
	for n := range 400 {
		it := c.Items[n%len(c.Items)]
		prices = append(prices, map[string]int{it.SKU: it.Cents * it.Count})
	}
	sum := 0
	for _, p := range prices {
		for _, cents := range p {
			sum += cents
		}
	}
	fmt.Fprintln(w, sum)
}
