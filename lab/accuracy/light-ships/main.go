// Command light-ships shows where light ships are. Their transponders report on the same port: a
// line that begins with a dollar. With FAULT=0 the first byte is awaited beside the listener.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strings"
	"sync"
	"time"
)

// chart has the position of each ship.
type chart struct {
	mu        sync.RWMutex
	positions map[string]string
}

func (c *chart) position(ship string) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.positions[ship]
}

// note reads a transponder's report and confirms it.
func (c *chart) note(conn *peeked) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	line, err := conn.in.ReadString('\n')
	if err != nil {
		return
	}
	ship, position, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "$")), " ")
	c.mu.Lock()
	c.positions[ship] = position
	c.mu.Unlock()
	fmt.Fprintln(conn, "NOTED")
}

// peeked is a connection whose first byte has been looked at.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }

// port passes HTTP on, and notes what transponders report.
type port struct {
	net.Listener
	chart *chart
	web   chan net.Conn
}

// sniff tells by the first byte who is there. It returns nil if it is no browser.
func (p *port) sniff(conn net.Conn) net.Conn {
	one := &peeked{Conn: conn, in: bufio.NewReader(conn)}
	conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	first, err := one.in.Peek(1)
	if err != nil {
		conn.Close()
		return nil
	}
	conn.SetReadDeadline(time.Time{})
	if first[0] == '$' {
		go p.chart.note(one)
		return nil
	}
	return one
}

// Accept returns the next connection that speaks HTTP.
func (p *port) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if web := p.sniff(conn); web != nil {
			return web, nil
		}
	}
}

// sidePort is a port that waits for the first byte of many connections at once.
type sidePort struct{ port }

func (p *sidePort) acceptAll() {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			if web := p.sniff(conn); web != nil {
				p.web <- web
			}
		}()
	}
}

func (p *sidePort) Accept() (net.Conn, error) { return <-p.web, nil }

func main() {
	c := &chart{positions: make(map[string]string)}
	for n := range 60 {
		c.positions[fmt.Sprint(n)] = fmt.Sprintf("54.%02dN 8.%02dE", n, 59-n)
	}
	listener, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /ship/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, r.PathValue("name"), c.position(r.PathValue("name")))
	})
	var server http.Server
	server.SetKeepAlivesEnabled(false)
	p := port{Listener: listener, chart: c, web: make(chan net.Conn)}
	if os.Getenv("FAULT") == "0" {
		side := &sidePort{p}
		go side.acceptAll()
		log.Fatal(server.Serve(side))
	}
	log.Fatal(server.Serve(&p))
}
