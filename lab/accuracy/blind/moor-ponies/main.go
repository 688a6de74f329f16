// Command moor-ponies knows where the ponies of a moor were last seen (fasthttp). Wardens tell it under the
// lock of a square, which is held for a microsecond; who asks gets a page made of small objects, so that
// the collector runs some times a second, as it may.
package main

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

type sighting struct {
	Pony  string    `json:"pony"`
	At    time.Time `json:"at"`
	Notes []string  `json:"notes"`
}

type square struct {
	mu   sync.RWMutex
	seen []sighting
}

var (
	squares [64]square
	seed    = maphash.MakeSeed()
)

func squareOf(name []byte) *square { return &squares[maphash.Bytes(seed, name)%uint64(len(squares))] }

func main() {
	debug := fasthttpadaptor.NewFastHTTPHandler(http.DefaultServeMux)
	log.Fatal(fasthttp.ListenAndServe(os.Getenv("ADDR"), func(c *fasthttp.RequestCtx) {
		path := c.Path()
		switch {
		case bytes.HasPrefix(path, []byte("/debug/")):
			debug(c)
		case c.IsPost():
			tell(squareOf(path), string(path))
			c.SetStatusCode(fasthttp.StatusNoContent)
		default:
			s := squareOf(path)
			s.mu.RLock()
			page := append([]sighting(nil), s.seen...)
			s.mu.RUnlock()
			body, err := json.Marshal(page)
			if err != nil {
				c.Error(err.Error(), fasthttp.StatusInternalServerError)
				return
			}
			c.SetContentType("application/json")
			c.SetBody(body)
		}
	}))
}

func tell(s *square, pony string) {
	fresh := sighting{pony, time.Now(), []string{"grazing", "with foal"}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen = append(s.seen, fresh); len(s.seen) > 60 {
		s.seen = append(s.seen[:0:0], s.seen[30:]...)
	}
}
