// Photo-catalog searches titles of photos (gorilla/mux). All day long a goroutine goes
// through the catalog to make its index anew, in small steps with rests between them.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
)

type photo struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
}

var words = strings.Fields("harbour evening bridge market snow old station river garden workers window children storm winter wedding street tram roof")

type catalog struct {
	photos []photo
	index  atomic.Pointer[map[string][]int]
}

func (c *catalog) build(step int, rest time.Duration) {
	index := map[string][]int{}
	for i, p := range c.photos {
		for _, w := range strings.Fields(p.Title) {
			h := fnv.New64a()
			for range 40 { // of all its forms
				h.Write([]byte(w))
			}
			if h.Sum64() != 0 && len(index[w]) < 50_000 {
				index[w] = append(index[w], i)
			}
		}
		if rest > 0 && i%step == step-1 {
			time.Sleep(rest)
		}
	}
	c.index.Store(&index)
}

func (c *catalog) search(w http.ResponseWriter, r *http.Request) {
	var found []photo
	index := *c.index.Load()
	for _, i := range index[mux.Vars(r)["word"]] {
		if found = append(found, c.photos[i]); len(found) == 30 {
			break
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(found)
}

func main() {
	c := &catalog{}
	for i := range 60_000 {
		c.photos = append(c.photos, photo{i, fmt.Sprintf("%s %s %s", words[i%len(words)], words[(i/7)%len(words)], words[(i/31)%len(words)])})
	}
	c.build(0, 0)
	go func() {
		for {
			c.build(200, 2*time.Millisecond)
		}
	}()
	r := mux.NewRouter()
	r.HandleFunc("/search/{word}", c.search).Methods(http.MethodGet)
	r.PathPrefix("/debug/pprof/").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}
