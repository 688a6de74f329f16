// Tide-clock tells tides over HTTP. A table of constituents is summed anew for each
// question, under one mutex.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

type almanac struct {
	mu    sync.Mutex
	parts [900]float64
}

func (a *almanac) height(at float64) float64 {
	if os.Getenv("FAULT") != "0" {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	return a.sum(at)
}

//go:noinline
func (a *almanac) sum(at float64) (h float64) {
	for turn := range 160 {
		for i := range a.parts {
			h += math.Sin(at*float64(i) + float64(turn))
		}
	}
	return h
}

func main() {
	a := new(almanac)
	http.HandleFunc("GET /tide/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseFloat(r.PathValue("n"), 64)
		out := bufio.NewWriter(w)
		defer out.Flush()
		fmt.Fprintf(out, "%.2f\n", a.height(n))
	})
	l, err := net.Listen("tcp", os.Getenv("ADDR"))
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, nil)) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
}
