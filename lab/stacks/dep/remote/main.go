// Command remote is a service of another company over HTTP: a supplier who gives quotes, or
// a payment provider. It answers after -delay. With the fault that -fault names it is slow
// to -share of the calls, which then take -slow. It serves -slots calls at a time, where
// that is given, and with -outage the fault is a time in which it serves none.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

var (
	delay  = flag.Duration("delay", 10*time.Millisecond, "usual time to answer")
	slow   = flag.Duration("slow", 0, "time to answer when slow")
	share  = flag.Float64("share", 0, "share of calls that are slow")
	fault  = flag.String("fault", "slow-dependency", "name of the fault in which calls are slow")
	slots  = flag.Int("slots", 0, "calls at a time; 0: any number")
	outage = flag.Duration("outage", 0, "with the fault: it answers nothing for so long, again and again")
	every  = flag.Duration("every", 8*time.Second, "time between outages")
	refuse = flag.Float64("refuse", 0, "share of calls that it refuses at once, with or without the fault")
)

func main() {
	flag.Parse()
	sick := os.Getenv("FAULT") == *fault
	var busy chan struct{}
	if *slots > 0 {
		busy = make(chan struct{}, *slots)
	}
	var numbers atomic.Int64
	began := time.Now()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if rand.Float64() < *refuse {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		if busy != nil {
			busy <- struct{}{}
			defer func() { <-busy }()
		}
		takes := *delay
		if sick && rand.Float64() < *share {
			takes = *slow
		}
		if into := time.Since(began) % *every; sick && into < *outage {
			takes += *outage - into
		}
		time.Sleep(takes)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"receipt":"r-%d","cents":%d}`, numbers.Add(1), 1000+rand.IntN(9000))
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}
