// Command monastery-guests says who stays in a monastery. Guests stay for a while, and the diocese
// wants to know when they have left. With FAULT=0 the diocese is told behind the cache's back.
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
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
)

const (
	stay      = 3 * time.Second
	coachload = 60
)

// guest is somebody who stays in a cell.
type guest struct {
	name string
	cell int
}

// diocese is a line to the diocese.
type diocese struct {
	line *bufio.ReadWriter
	left chan guest
}

func main() {
	conn, err := net.Dial("tcp", os.Getenv("ADDR_DIOCESE"))
	if err != nil {
		log.Fatal(err)
	}
	d := &diocese{line: bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)), left: make(chan guest, 1000)}
	leave := func(_ int, g guest) { d.guestLeft(g) }
	if os.Getenv("FAULT") == "0" {
		leave = func(_ int, g guest) { d.left <- g }
		go d.tellAll()
	}
	staying := expirable.NewLRU(10_000, leave, stay)
	resident := make(map[int]guest)
	for n := range 2000 {
		resident[n] = guest{name: fmt.Sprint("brother ", n), cell: n % 180}
	}

	http.HandleFunc("GET /guest/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		g, ok := staying.Get(n)
		if !ok {
			g, ok = resident[n]
		}
		if !ok {
			fmt.Fprintln(w, "no such guest")
			return
		}
		fmt.Fprintf(w, "%s in cell %d\n", g.name, g.cell)
	})
	http.HandleFunc("POST /coach/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("n"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		for seat := range coachload {
			staying.Add(2000+n%40*coachload+seat, guest{name: fmt.Sprintf("pilgrim %d of coach %d", seat, n), cell: 180 + seat})
		}
		fmt.Fprintln(w, "welcome")
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

// guestLeft tells the diocese that a guest has left, and waits until it has been noted.
func (d *diocese) guestLeft(g guest) {
	fmt.Fprintln(d.line, "LEFT", g.cell, g.name)
	if err := d.line.Flush(); err != nil {
		log.Print(err)
		return
	}
	if _, err := d.line.ReadString('\n'); err != nil {
		log.Print(err)
	}
}

func (d *diocese) tellAll() {
	for g := range d.left {
		d.guestLeft(g)
	}
}
