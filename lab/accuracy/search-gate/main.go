// Command search-gate guards a search engine: at most four searches at once, and who does
// not get a slot within 400 ms is sent away.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"time"
)

type gate struct {
	slots  chan int
	engine string
	idle   chan net.Conn
}

func main() {
	n := 4
	if os.Getenv("FAULT") == "0" {
		n = 60
	}
	g := &gate{slots: make(chan int, n), engine: os.Getenv("ADDR_ENGINE"), idle: make(chan net.Conn, 64)}
	for i := range n {
		g.slots <- i
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/pprof/", http.DefaultServeMux)
	mux.HandleFunc("/search", g.search)
	mux.HandleFunc("/suggest", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.FormValue("q")+"s") })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

func (g *gate) search(w http.ResponseWriter, r *http.Request) {
	select {
	case slot := <-g.slots:
		defer func() { g.slots <- slot }()
	case <-time.After(400 * time.Millisecond):
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case <-r.Context().Done():
		return
	}
	found, err := g.ask(r.FormValue("q"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, found)
}

func (g *gate) ask(q string) (string, error) {
	var conn net.Conn
	select {
	case conn = <-g.idle:
	default:
		var err error
		if conn, err = net.Dial("tcp", g.engine); err != nil {
			return "", err
		}
	}
	if _, err := fmt.Fprintf(conn, "GET %s\n", q); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", err
	}
	select {
	case g.idle <- conn:
	default:
		conn.Close()
	}
	return line, nil
}
