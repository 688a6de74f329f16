// Command night-porter is the desk of a hotel at night (net/http). Guests ask for their bill, screens in
// the corridors wait up to twenty seconds for a call (long polls), the kitchen follows orders as a stream
// of events, and a balancer asks after its health. All is as it should be.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

// bell wakes who waits on a floor.
type bell struct {
	mu     sync.Mutex
	floors map[string]chan struct{}
}

func (b *bell) of(floor string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.floors[floor]
	if c == nil {
		c = make(chan struct{})
		b.floors[floor] = c
	}
	return c
}

func (b *bell) ring(floor string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.floors[floor]; c != nil {
		close(c)
		delete(b.floors, floor)
	}
}

func main() {
	bells := &bell{floors: map[string]chan struct{}{}}
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	http.HandleFunc("GET /bill/{room}", func(w http.ResponseWriter, r *http.Request) {
		var lines []map[string]any
		for night := range 12 {
			lines = append(lines, map[string]any{"night": night, "room": r.PathValue("room"), "cents": 9900 + night*35})
		}
		json.NewEncoder(w).Encode(lines)
	})
	http.HandleFunc("GET /corridor/{floor}", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-bells.of(r.PathValue("floor")):
			fmt.Fprintln(w, "called")
		case <-time.After(20 * time.Second):
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	})
	http.HandleFunc("POST /call/{floor}", func(w http.ResponseWriter, r *http.Request) {
		bells.ring(r.PathValue("floor"))
		w.WriteHeader(http.StatusAccepted)
	})
	http.HandleFunc("GET /kitchen", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		tick := time.NewTicker(400 * time.Millisecond)
		defer tick.Stop()
		for order := range 15 {
			fmt.Fprintf(w, "id: %d\ndata: toast\n\n", order)
			if out.Flush() != nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
