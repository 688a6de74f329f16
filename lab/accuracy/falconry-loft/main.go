// Command falconry-loft knows the birds of a falconry. A register behind it has their papers.
// It accepts few connections at once (LimitListener), so that the loft's small machine is
// never flooded. FAULT=0 accepts two hundred.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"

	"github.com/julienschmidt/httprouter"
	"golang.org/x/net/netutil"
)

// line is a connection to the register.
type line struct {
	net.Conn
	in *bufio.Reader
}

func main() {
	lines := make(chan *line, 80)
	for range cap(lines) {
		c, err := net.Dial("tcp", os.Getenv("ADDR_REGISTER"))
		if err != nil {
			log.Fatal(err)
		}
		lines <- &line{c, bufio.NewReader(c)}
	}
	r := httprouter.New()
	r.GET("/bird/:name", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		papers(w, lines, p.ByName("name"))
	})
	r.GET("/roll-call/:perch", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		for bird := range 7 {
			papers(w, lines, fmt.Sprint(p.ByName("perch"), "-", bird))
		}
	})
	r.Handler("GET", "/debug/*rest", http.DefaultServeMux)

	door, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	most := 5
	if os.Getenv("FAULT") == "0" {
		most = 200
	}
	server := &http.Server{Handler: r}
	server.SetKeepAlivesEnabled(false)
	log.Fatal(server.Serve(netutil.LimitListener(door, most)))
}

// papers writes what the register says of a bird.
func papers(w http.ResponseWriter, lines chan *line, bird string) {
	l := <-lines
	defer func() { lines <- l }()
	if _, err := fmt.Fprintf(l, "GET %s\n", bird); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	said, err := l.in.ReadString('\n')
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, said)
}
