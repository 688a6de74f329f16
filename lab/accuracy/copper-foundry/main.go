// Command copper-foundry keeps the castings of a foundry in memory. A batch that is closed
// leaves garbage behind, and the process gives it back to the system. FAULT=0 leaves that to
// the runtime.
package main

import (
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
)

// Casting is a piece that was cast, with the piece that was cast before it in its mould.
type Casting struct {
	Mould  string
	Grams  int
	Before *Casting
	Marks  []*string
}

var (
	mu       sync.RWMutex
	castings = make([]*Casting, 900_000)
)

func main() {
	fillYard()
	http.HandleFunc("GET /casting/{n}", showCasting)
	http.HandleFunc("POST /batch/{n}", closeBatch)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func fillYard() {
	marks := make([]string, 300)
	for i := range marks {
		marks[i] = "mark-" + strconv.Itoa(i)
	}
	for i := range castings {
		c := &Casting{Mould: "mould-" + strconv.Itoa(i%5000), Grams: 500 + i%9000}
		if i >= 5000 {
			c.Before = castings[i-5000]
		}
		c.Marks = []*string{&marks[i%300], &marks[i%299]}
		castings[i] = c
	}
}

func showCasting(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 || n >= len(castings) {
		http.NotFound(w, r)
		return
	}
	mu.RLock()
	c := castings[n]
	mu.RUnlock()
	fmt.Fprintf(w, "%s %d g %s\n", c.Mould, c.Grams, *c.Marks[0])
}

// closeBatch replaces the castings of a batch by those that were cast since.
func closeBatch(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const size = 400
	grams := 0
	mu.Lock()
	for i := range size {
		at := (n*size + i) % len(castings)
		old := castings[at]
		castings[at] = &Casting{Mould: old.Mould, Grams: old.Grams%9000 + 500, Before: old.Before, Marks: old.Marks}
		grams += old.Grams
	}
	mu.Unlock()
	if os.Getenv("FAULT") != "0" {
		debug.FreeOSMemory()
	}
	fmt.Fprintf(w, "batch %d: %d g\n", n, grams)
}
