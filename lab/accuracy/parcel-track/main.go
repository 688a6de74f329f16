// Command parcel-track estimates when parcels arrive (httprouter).
package main

import (
	"fmt"
	"log"
	"math"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"

	"github.com/julienschmidt/httprouter"
)

func main() {
	router := httprouter.New()
	router.GET("/eta/:parcel", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		n, _ := strconv.Atoi(p.ByName("parcel"))
		fmt.Fprintf(w, "%.1f h\n", eta(n))
	})
	router.NotFound = http.DefaultServeMux
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
}

func eta(parcel int) float64 {
	best := math.Inf(1)
	for depot := range 120_000 {
		a, b := float64(parcel%360), float64(depot%360)
		d := math.Hypot(math.Sin(a)-math.Sin(b), math.Cos(a)*math.Cos(b))
		best = min(best, d*100+float64(depot%7))
	}
	return best
}
