// Command harbour-berths says which ship lies at which berth (chi). Workers with a
// connection each ask the pilot station what is not known.
package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type question struct {
	berth  string
	answer chan string
}

type harbour struct {
	questions chan question

	mu   sync.Mutex
	seen map[string]time.Time
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func main() {
	h := &harbour{questions: make(chan question), seen: map[string]time.Time{}}
	for range 64 {
		conn, err := net.Dial("tcp", os.Getenv("ADDR_PILOTS"))
		if err != nil {
			log.Fatal(err)
		}
		go h.work(conn)
	}
	go h.sweep()
	r := chi.NewRouter()
	r.Get("/berth/{number}", h.berth)
	r.Get("/table", h.table)
	r.Mount("/debug/pprof", http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (h *harbour) work(conn net.Conn) {
	in := bufio.NewReader(conn)
	for q := range h.questions {
		fmt.Fprintf(conn, "GET %s\n", q.berth)
		line, err := in.ReadString('\n')
		if err != nil {
			log.Fatal(err)
		}
		q.answer <- line
	}
}

func (h *harbour) berth(w http.ResponseWriter, r *http.Request) {
	number := chi.URLParam(r, "number")
	h.mu.Lock()
	h.seen[number] = time.Now()
	h.mu.Unlock()
	q := question{number, make(chan string, 1)}
	h.questions <- q
	io.WriteString(w, <-q.answer)
}

func (h *harbour) table(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(w)
	for n := range 300 {
		fmt.Fprintf(z, "berth %d: %d m, draught %.1f m, pilot %v\n", n, 40+n%260, 3+float64(n%90)/10, n%3 == 0)
	}
	z.Close()
}

func (h *harbour) sweep() {
	for now := range time.Tick(time.Second) {
		h.mu.Lock()
		for number, at := range h.seen {
			if now.Sub(at) > time.Minute {
				delete(h.seen, number)
			}
		}
		h.mu.Unlock()
	}
}
