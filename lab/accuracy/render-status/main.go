// Command render-status starts films being rendered (gin) and answers when one is ready. It
// looks every 100 ms whether it is, though a film takes only some milliseconds.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

type films struct {
	mu    sync.Mutex
	ready map[string]bool
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	f := &films{ready: map[string]bool{}}
	every := 100 * time.Millisecond
	if os.Getenv("FAULT") == "0" {
		every = time.Millisecond
	}
	engine := gin.New()
	engine.Use(gin.Recovery())
	engine.GET("/film/:id", func(c *gin.Context) {
		id := c.Param("id") + time.Now().String()
		go f.render(id)
		if err := f.await(c.Request.Context(), id, every); err != nil {
			c.Status(http.StatusGatewayTimeout)
			return
		}
		c.String(http.StatusOK, "ready")
	})
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(debug, nil)
	log.Fatal(engine.Run(os.Getenv("ADDR")))
}

func (f *films) render(id string) {
	sum := 0
	for n := range 200_000 {
		sum += n * len(id)
	}
	f.mu.Lock()
	f.ready[id] = sum > 0
	f.mu.Unlock()
}

func (f *films) await(ctx context.Context, id string, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		f.mu.Lock()
		done := f.ready[id]
		delete(f.ready, id)
		f.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
