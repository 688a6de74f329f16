// Command reading-rooms says which seats of reading rooms are free. Slips for books are sorted
// beside it.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	rooms = 40
	seats = 300
)

// slip asks for a book to be brought to a seat.
type slip struct {
	seat  int
	title string
}

// house is all reading rooms.
type house struct {
	taken [rooms][seats]atomic.Bool
	slips chan slip
	books [97]atomic.Int64 // brought, by shelf
	key   sync.Mutex       // of the cellar
}

// importSlips takes what readers have handed in elsewhere.
func (h *house) importSlips() {
	for range time.Tick(2 * time.Second) {
		for n := range 3000 {
			h.slips <- slip{seat: n % seats, title: "volume " + strconv.Itoa(n)}
		}
	}
}

func (h *house) sort() {
	for s := range h.slips {
		h.books[crc32.ChecksumIEEE([]byte(s.title))%97].Add(1)
	}
}

// carry brings books from the cellar, one porter at a time.
func (h *house) carry() {
	for {
		h.key.Lock()
		time.Sleep(25 * time.Millisecond)
		h.key.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

// leave frees a seat when its time is up, and plans the next time.
func (h *house) leave(room, seat int) {
	h.taken[room][seat].Store(false)
	time.AfterFunc(time.Duration(20+seat)*time.Second, func() { h.leave(room, seat) })
}

// show describes a room as seen from a seat.
func (h *house) show(room, seat int) string {
	var plan strings.Builder
	for s := range seats {
		mark := "free"
		if h.taken[room][s].Load() {
			mark = "taken"
		}
		fmt.Fprintf(&plan, "%d:%s ", s, mark)
	}
	h.taken[room][seat].Store(true)
	return plan.String()
}

// checkHealth looks at each room, without haste.
func (h *house) checkHealth(w http.ResponseWriter, r *http.Request) {
	for range rooms {
		select {
		case <-time.After(25 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprintln(w, "all rooms are open")
}

func main() {
	h := &house{slips: make(chan slip, 4096)}
	for range 4 {
		go h.sort()
	}
	for range 12 {
		go h.carry()
	}
	for n := range 2000 {
		time.AfterFunc(time.Duration(n)*10*time.Millisecond, func() { h.leave(n%rooms, n%seats) })
	}
	go h.importSlips()
	http.HandleFunc("GET /health", h.checkHealth)
	http.HandleFunc("GET /room/{room}/seat/{seat}", func(w http.ResponseWriter, r *http.Request) {
		room, err := strconv.Atoi(r.PathValue("room"))
		if err != nil || room < 0 || room >= rooms {
			http.NotFound(w, r)
			return
		}
		seat, err := strconv.Atoi(r.PathValue("seat"))
		if err != nil || seat < 0 || seat >= seats {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintln(w, h.show(room, seat))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
