// Kiln-timer tells when kilns are done (net/http, no pprof). A worker for each of 30 kilns sleeps
// between two looks at it, one writes down all of them every two seconds, and requests are quick.
package main

import (
	"encoding/json"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

type kilns struct {
	mu   sync.RWMutex
	heat map[string]int
}

func (k *kilns) fire(name string) {
	for {
		time.Sleep(150*time.Millisecond + rand.N(100*time.Millisecond))
		k.mu.Lock()
		k.heat[name] = (k.heat[name] + 7) % 1300
		k.mu.Unlock()
	}
}

func (k *kilns) keep() {
	for range time.Tick(2 * time.Second) {
		k.mu.RLock()
		text, err := json.Marshal(k.heat)
		k.mu.RUnlock()
		if err == nil {
			err = os.WriteFile("kilns.json", text, 0o644)
		}
		if err != nil {
			log.Print(err)
		}
	}
}

func main() {
	k := &kilns{heat: make(map[string]int)}
	for n := range 30 {
		go k.fire(string(rune('A' + n)))
	}
	go k.keep()
	http.HandleFunc("GET /kiln/{name}", func(w http.ResponseWriter, r *http.Request) {
		k.mu.RLock()
		heat := k.heat[r.PathValue("name")]
		k.mu.RUnlock()
		json.NewEncoder(w).Encode(map[string]int{"degrees": heat})
	})
	go func() { log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil)) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}
