// Command hit-counter counts visits of web pages (gin). A middleware keeps latencies of all
// routes, for a dashboard, sorted, under one lock that is taken when a request is through.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/pprof"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

type dashboard struct {
	sync.Mutex
	latest []float64
	p99    float64
}

var hits [100]atomic.Int64

func main() {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	d := &dashboard{}
	for range 20_000 {
		d.latest = append(d.latest, rand.Float64())
	}
	engine.Use(gin.Recovery(), d.middleware)
	engine.GET("/hit/:page", hit)
	engine.GET("/top", top)
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/", engine)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), mux))
}

func (d *dashboard) middleware(c *gin.Context) {
	begin := time.Now()
	if os.Getenv("FAULT") != "0" {
		defer func() { d.observe(time.Since(begin).Seconds()) }()
	}
	c.Next()
}

func (d *dashboard) observe(seconds float64) {
	d.Lock()
	defer d.Unlock()
	d.latest = append(d.latest[1:], seconds+rand.Float64())
	sorted := append([]float64(nil), d.latest...)
	sort.Float64s(sorted)
	d.p99 = sorted[len(sorted)*99/100]
}

func hit(c *gin.Context) {
	n := hits[len(c.Param("page"))%len(hits)].Add(1)
	c.String(http.StatusOK, "%d", n)
}

func top(c *gin.Context) {
	var sum int64
	for i := range hits {
		sum += hits[i].Load()
	}
	c.String(http.StatusOK, fmt.Sprint(sum))
}
