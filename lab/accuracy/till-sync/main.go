// Till-sync takes the sales of shops (net/http): a few at any time, and many at once when
// the tills send what they have, which it is made for.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"
)

type sale struct {
	Shop    int `json:"shop"`
	Article int `json:"article"`
	Pieces  int `json:"pieces"`
}

type book struct {
	mu     sync.Mutex
	pieces map[int]int
	last   map[int]time.Time
}

func (b *book) take(w http.ResponseWriter, r *http.Request) {
	var s sale
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&s); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	b.pieces[s.Article] += s.Pieces
	b.last[s.Shop] = time.Now()
	b.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	b := &book{pieces: map[int]int{}, last: map[int]time.Time{}}
	http.HandleFunc("POST /sales", b.take)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
