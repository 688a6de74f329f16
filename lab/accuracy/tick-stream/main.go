// Tick-stream sends prices as server-sent events (gin), ten a second for as long as the
// page is open, and answers the last price to those who only ask once.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

type market struct {
	mu    sync.RWMutex
	price map[string]float64
}

func (m *market) run() {
	for range time.Tick(20 * time.Millisecond) {
		m.mu.Lock()
		for symbol := range m.price {
			m.price[symbol] *= 1 + (rand.Float64()-.5)/1000
		}
		m.mu.Unlock()
	}
}

func (m *market) last(symbol string) (float64, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, ok := m.price[symbol]
	return p, ok
}

func main() {
	m := &market{price: map[string]float64{}}
	for i := range 200 {
		m.price[fmt.Sprintf("S%03d", i)] = 10 + float64(i)
	}
	go m.run()
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/price/:symbol", func(c *gin.Context) {
		p, ok := m.last(c.Param("symbol"))
		if !ok {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, gin.H{"symbol": c.Param("symbol"), "price": p})
	})
	r.GET("/ticks/:symbol", func(c *gin.Context) {
		left, err := strconv.Atoi(c.DefaultQuery("n", "1000000"))
		if err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		c.Stream(func(io.Writer) bool {
			select {
			case <-tick.C:
				p, _ := m.last(c.Param("symbol"))
				c.SSEvent("price", p)
				left--
				return left > 0
			case <-c.Request.Context().Done():
				return false
			}
		})
	})
	log.Fatal(r.Run(os.Getenv("ADDR")))
}
