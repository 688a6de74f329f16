// Command swan-census counts the swans of a river (gorilla/mux). An export sends the swans of
// a stretch to an archive, page by page. FAULT=0 copies them first and sends them without
// the lock.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"

	"github.com/gorilla/mux"
)

// Swan is a swan with its rings.
type Swan struct {
	Number int
	River  string
	Rings  int
}

// Census has all swans.
type Census struct {
	mu      sync.RWMutex
	swans   map[int]*Swan
	archive string
	copies  bool
}

func main() {
	c := &Census{swans: make(map[int]*Swan), archive: os.Getenv("ADDR_ARCHIVE"), copies: os.Getenv("FAULT") == "0"}
	for n := range 3000 {
		c.swans[n] = &Swan{n, "river-" + strconv.Itoa(n%8), 1}
	}
	r := mux.NewRouter()
	r.HandleFunc("/swan/{n}", c.showSwan).Methods("GET")
	r.HandleFunc("/ring/{n}", c.enterRing).Methods("POST")
	r.HandleFunc("/export/{river}", c.exportRiver).Methods("GET")
	r.PathPrefix("/debug/").Handler(http.DefaultServeMux)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), r))
}

func (c *Census) showSwan(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(mux.Vars(r)["n"])
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.swans[n]
	if !ok {
		http.NotFound(w, r)
		return
	}
	fmt.Fprintf(w, "swan %d, %s, %d rings\n", s.Number, s.River, s.Rings)
}

func (c *Census) enterRing(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(mux.Vars(r)["n"])
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.swans[n]; ok {
		s.Rings++
	}
	fmt.Fprintln(w, "entered")
}

func (c *Census) exportRiver(w http.ResponseWriter, r *http.Request) {
	river := mux.Vars(r)["river"]
	c.mu.RLock()
	var all []*Swan
	for _, s := range c.swans {
		if s.River == river {
			all = append(all, s)
		}
	}
	if c.copies {
		for i, s := range all {
			one := *s
			all[i] = &one
		}
		c.mu.RUnlock()
	} else {
		defer c.mu.RUnlock()
	}
	if err := c.send(all); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintf(w, "%d swans\n", len(all))
}

// send writes swans to the archive in pages of 30.
func (c *Census) send(all []*Swan) error {
	conn, err := net.Dial("tcp", c.archive)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for len(all) > 0 {
		page := all[:min(30, len(all))]
		all = all[len(page):]
		text := "PAGE"
		for _, s := range page {
			text += fmt.Sprintf(" %d:%d", s.Number, s.Rings)
		}
		if _, err := fmt.Fprintln(conn, text); err != nil {
			return err
		}
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}
