// Command rowing-club says which boats of a club are out, tells those who wait when one is
// back, and streams races.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

// Club has the boats.
type Club struct {
	mu   sync.Mutex
	out  map[int]time.Time
	back map[int]chan struct{} // closed when the boat is back
}

func main() {
	c := &Club{out: make(map[int]time.Time), back: make(map[int]chan struct{})}
	for n := range 40 {
		c.out[n], c.back[n] = time.Now(), make(chan struct{})
	}
	go c.row()
	r := chi.NewRouter()
	r.Get("/boat/{n}", c.show)
	r.Get("/back/{n}", c.waitBack)
	r.Get("/race/{n}", watchRace)
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	r.Mount("/debug", http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

// row brings one boat after the other back, and out again.
func (c *Club) row() {
	for n := 0; ; n = (n + 7) % 40 {
		time.Sleep(120 * time.Millisecond)
		c.mu.Lock()
		close(c.back[n])
		c.back[n], c.out[n] = make(chan struct{}), time.Now()
		c.mu.Unlock()
	}
}

func (c *Club) show(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(chi.URLParam(r, "n"))
	c.mu.Lock()
	since := c.out[n]
	c.mu.Unlock()
	fmt.Fprintf(w, "boat %d out since %s\n", n, since.Format(time.TimeOnly))
}

func (c *Club) waitBack(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(chi.URLParam(r, "n"))
	c.mu.Lock()
	back := c.back[n]
	c.mu.Unlock()
	select {
	case <-back:
		fmt.Fprintf(w, "boat %d is back\n", n)
	case <-time.After(2 * time.Second):
		w.WriteHeader(http.StatusNoContent)
	case <-r.Context().Done():
	}
}

// watchRace writes who leads, four times a second.
func watchRace(w http.ResponseWriter, r *http.Request) {
	for i := range 8 {
		fmt.Fprintf(w, "%d m: lane %d\n", i*250, (i+len(r.URL.Path))%6+1)
		http.NewResponseController(w).Flush()
		select {
		case <-time.After(250 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}
