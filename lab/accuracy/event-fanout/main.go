// Command event-fanout publishes events of a delivery service (chi). A request for the state
// of a parcel subscribes to its events while it runs; each event goes to all subscribers.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/pprof"
	"os"
	"sync"

	"github.com/go-chi/chi/v5"
)

type hub struct {
	mu          sync.Mutex
	subscribers map[chan string]string
	last        map[string]string
}

func main() {
	h := &hub{subscribers: map[chan string]string{}, last: map[string]string{}}
	r := chi.NewRouter()
	r.Get("/parcel/{id}", h.state)
	r.Post("/parcel/{id}/{event}", h.publish)
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (h *hub) subscribe(parcel string) chan string {
	events := make(chan string, 1)
	h.mu.Lock()
	h.subscribers[events] = parcel
	h.mu.Unlock()
	go func() { // keeps the latest, as it would be shown
		latest := map[string]string{}
		for e := range events {
			for _, language := range []string{"de", "en", "fr", "it"} {
				text, _ := json.Marshal(map[string]string{"language": language, "parcel": parcel, "event": e})
				latest[language] = string(text)
			}
		}
	}()
	return events
}

func (h *hub) state(w http.ResponseWriter, r *http.Request) {
	events := h.subscribe(chi.URLParam(r, "id"))
	h.mu.Lock()
	state := h.last[chi.URLParam(r, "id")]
	if os.Getenv("FAULT") == "0" {
		delete(h.subscribers, events)
		close(events)
	}
	h.mu.Unlock()
	fmt.Fprintln(w, "state:", state)
}

func (h *hub) publish(w http.ResponseWriter, r *http.Request) {
	id, event := chi.URLParam(r, "id"), chi.URLParam(r, "event")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[id] = event
	for events, parcel := range h.subscribers {
		if parcel == id || len(parcel) > 3 { // customers of whole routes, too
			select {
			case events <- event:
			default:
			}
		}
	}
	w.WriteHeader(http.StatusOK)
}
