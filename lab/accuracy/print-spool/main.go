// Command print-spool prints delivery notes on the printers of a warehouse. A job takes a
// free printer, sends the note and waits until it is printed.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
)

type printer struct {
	conn net.Conn
	in   *bufio.Reader
}

type spool struct {
	mu       sync.Mutex
	returned *sync.Cond
	idle     []*printer
}

func main() {
	s := &spool{}
	s.returned = sync.NewCond(&s.mu)
	printers := 2
	if os.Getenv("FAULT") == "0" {
		printers = 12
	}
	for range printers {
		conn, err := net.Dial("tcp", os.Getenv("ADDR_PRINTERS"))
		if err != nil {
			log.Fatal(err)
		}
		s.idle = append(s.idle, &printer{conn, bufio.NewReader(conn)})
	}
	http.HandleFunc("GET /note/{number}", s.note)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func (s *spool) take() *printer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.idle) == 0 {
		s.returned.Wait()
	}
	p := s.idle[len(s.idle)-1]
	s.idle = s.idle[:len(s.idle)-1]
	return p
}

func (s *spool) put(p *printer) {
	s.mu.Lock()
	s.idle = append(s.idle, p)
	s.mu.Unlock()
	s.returned.Signal()
}

func (s *spool) note(w http.ResponseWriter, r *http.Request) {
	p := s.take()
	defer s.put(p)
	fmt.Fprintf(p.conn, "PRINT note %s\n", r.PathValue("number"))
	done, err := p.in.ReadString('\n')
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, done)
}
